//! Settings of the agent, as the model's requests show them.

use cloister_protocol::{AgentSettings, Command, Event, FailureCode, Input, Json, Outcome};
use serde_json::json;

use crate::rig::{agent, start_as, thread_of, Rig, PIXEL};
use crate::{outcome, say, tools};

#[tokio::test]
async fn an_answer_that_follows_a_schema() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([say(r#"{"a":1}"#), say("Prose.")]);
    let schema = json!({ "type": "object", "properties": { "a": { "type": "number" } }, "required": ["a"],
        "additionalProperties": false });
    let bound = AgentSettings {
        output_schema: Json::parse(schema.to_string(), 64),
        ..agent()
    };
    let thread = thread_of(&link.run(start_as(bound, "t1", None, "go")).await);
    let events = link
        .run(start_as(agent(), "t2", Some(&thread), "more"))
        .await;
    assert_eq!(thread_of(&events), thread, "it belongs to the turn alone");
    let requests = rig.model.requests();
    let format = &requests[0]["text"]["format"];
    assert_eq!(
        (&format["type"], &format["schema"]),
        (&json!("json_schema"), &schema)
    );
    assert_eq!(format["strict"], true);
    assert!(requests[1]["text"]["format"].is_null());
}

#[tokio::test]
async fn a_conversation_has_no_tools_of_a_sandbox() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let command = crate::model::Step::Shell("touch it".into());
    rig.model
        .script([vec![command], say("Just words."), say("And now a command.")]);
    let events = link
        .run(start_as(AgentSettings::default(), "t1", None, "go"))
        .await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    assert!(!rig.file("it").exists());
    let request = &rig.model.requests()[0];
    assert_eq!(tools(request), ["update_plan", "request_user_input"]);
    let input = request["input"].to_string();
    assert!(
        input.contains("You are an assistant.") && !input.contains("<cwd>"),
        "{input}"
    );

    // A sandbox may come later.
    let thread = thread_of(&events);
    link.run(start_as(agent(), "t2", Some(&thread), "more"))
        .await;
    let request = rig.model.requests().pop().unwrap();
    assert_eq!(tools(&request).len(), 5);
}

#[tokio::test]
async fn images() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([say("Seen.")]);
    let events = link
        .run(Command::StartTurn {
            turn_id: "t1".into(),
            thread: None,
            agent: Box::new(agent()),
            input: vec![Input::Text("look".into()), Input::Image(PIXEL.into())],
        })
        .await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    let request = rig.model.requests().pop().unwrap();
    let content = &request["input"].as_array().unwrap().last().unwrap()["content"];
    assert_eq!(
        *content,
        json!([
            { "type": "input_text", "text": "look" },
            { "type": "input_image", "image_url": PIXEL, "detail": "high" },
        ])
    );
}

/// Instructions belong to the thread. A thread that is open gets new ones, and so does one that is resumed.
#[tokio::test]
async fn instructions_may_change_between_turns() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let told = |text: &str| AgentSettings {
        instructions: Some(text.into()),
        ..agent()
    };
    rig.model.script([say("One."), say("Two."), say("Three.")]);
    let mut thread = thread_of(
        &link
            .run(start_as(told("Be brief."), "t1", None, "first"))
            .await,
    );
    for (n, text) in ["Be polite.", "Be precise."].into_iter().enumerate() {
        let start = start_as(told(text), &format!("n{n}"), Some(&thread), "next");
        let events = link.run(start).await;
        assert_eq!(outcome(&events), &Outcome::Completed);
        thread = thread_of(&events);
        let input = rig.model.requests().pop().unwrap()["input"].to_string();
        assert!(
            input.contains(text) && input.contains("first") && input.contains("One."),
            "{input}"
        );
        for old in ["Be brief.", "Be polite."]
            .into_iter()
            .filter(|old| *old != text)
        {
            assert!(!input.contains(old), "{old}");
        }
        rig.restart().await;
        link = rig.attach(1, 0).await;
    }
}

/// D10: Codex keeps no history of a thread that never ran a turn; a lost history is told as such.
#[tokio::test]
async fn d10_a_thread_without_a_history_is_not_found() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    link.event().await;
    let start = start_as(
        agent(),
        "t1",
        Some("019adf00-0000-7000-8000-000000000000"),
        "go",
    );
    link.send(&start).await;
    let code = FailureCode::ResourceNotFound;
    let (turn_id, outcome) = ("t1".into(), Outcome::Failed { code });
    assert_eq!(link.event().await, Event::TurnEnded { turn_id, outcome });
}
