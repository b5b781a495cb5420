//! Functions of the client.

use std::time::Duration;

use cloister_protocol::{
    AgentSettings, Command, Event, FailureCode, Function, Input, Json, Outcome,
};
use serde_json::{json, Value};

use crate::model::Step;
use crate::rig::{agent, start_as, thread_of, Link, Rig, PIXEL};
use crate::{outcome, say, tools};

fn function(name: &str) -> Function {
    let parameters = json!({ "type": "object", "properties": { "x": { "type": "number" } } });
    Function {
        name: name.into(),
        description: format!("Does {name}."),
        parameters: Json::parse(parameters.to_string(), 64).unwrap(),
        deferred: false,
        asynchronous: false,
    }
}

fn with(functions: Vec<Function>) -> AgentSettings {
    AgentSettings {
        functions,
        ..agent()
    }
}

fn call(name: &'static str) -> Step {
    Step::Call(None, name, json!({ "x": 1 }))
}

/// The next call: its id, and the name of the function.
async fn next_call(link: &mut Link) -> (String, String) {
    let events = link.until(|e| matches!(e, Event::ToolCall { .. })).await;
    match events.last() {
        Some(Event::ToolCall {
            call_id,
            name,
            arguments,
            ..
        }) => {
            assert_eq!(arguments.as_str(), r#"{"x":1}"#);
            (call_id.clone(), name.clone())
        }
        other => panic!("{other:?}"),
    }
}

fn result(call_id: &str, text: &str) -> Command {
    Command::ToolResult {
        turn_id: "t1".into(),
        call_id: call_id.into(),
        success: true,
        output: vec![Input::Text(text.into())],
    }
}

/// Outputs that the last request to the model has, by the model's own ids of the calls.
fn outputs(rig: &Rig) -> Vec<Value> {
    let request = rig.model.requests().pop().unwrap();
    let input = request["input"].as_array().unwrap().iter();
    let output = |i: &Value| (i["type"] == "function_call_output").then(|| i["output"].clone());
    input.filter_map(output).collect()
}

#[tokio::test]
async fn several_calls_at_once_are_answered_in_any_order() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([
        vec![call("add"), call("mul"), call("nothing")],
        say("Done."),
    ]);
    let agent = with(vec![function("add"), function("mul")]);
    link.send(&start_as(agent, "t1", None, "go")).await;
    let (add, name) = next_call(&mut link).await;
    assert_eq!(name, "add");
    let (mul, name) = next_call(&mut link).await;
    assert_eq!(name, "mul");
    assert_ne!(add, mul);

    link.send(&result("call_unknown", "?")).await;
    link.send(&Command::ToolResult {
        turn_id: "t1".into(),
        call_id: mul.clone(),
        success: false,
        output: vec![Input::Text("no product".into())],
    })
    .await;
    link.send(&result(&mul, "again")).await;
    let mut sum = result(&add, "a sum");
    if let Command::ToolResult { output, .. } = &mut sum {
        output.push(Input::Image(PIXEL.into()));
    }
    link.send(&sum).await;
    let events = link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    assert!(!events
        .iter()
        .any(|e| matches!(e, Event::ItemStarted { item, .. } if item.id.starts_with("call"))));
    assert_eq!(tools(&rig.model.requests()[0])[5..], ["add", "mul"]);
    let image = json!({ "type": "input_image", "image_url": PIXEL, "detail": "high" });
    assert_eq!(
        outputs(&rig),
        [
            json!([{ "type": "input_text", "text": "a sum" }, image]),
            json!("no product"),
            json!("unsupported call: nothing"),
        ]
    );
}

#[tokio::test]
async fn an_asynchronous_call_does_not_hold_the_turn() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([vec![call("later")], say("Went on.")]);
    let later = Function {
        asynchronous: true,
        ..function("later")
    };
    let events = link
        .run(start_as(with(vec![later]), "t1", None, "go"))
        .await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    let calls = events
        .iter()
        .filter(|e| matches!(e, Event::ToolCall { .. }));
    assert_eq!(calls.count(), 1);
    assert!(outputs(&rig)[0].as_str().unwrap().contains("accepted"));
}

/// Codex leaves a deferred function out of the request, and finds it when the model searches.
#[tokio::test]
async fn a_deferred_function_is_found_by_a_search() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let search = json!({ "type": "tool_search_call", "id": "ts", "call_id": "cs", "execution": "client",
        "status": "completed", "arguments": { "query": "late" } });
    let late = Step::Call(Some("client_functions"), "late", json!({ "x": 1 }));
    rig.model
        .script([vec![Step::Item(search)], vec![late], say("Found.")]);
    let deferred = Function {
        deferred: true,
        ..function("late")
    };
    let agent = with(vec![function("early"), deferred]);
    link.send(&start_as(agent, "t1", None, "go")).await;
    let (call_id, name) = next_call(&mut link).await;
    assert_eq!(name, "late");
    link.send(&result(&call_id, "at last")).await;
    let events = link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    let requests = rig.model.requests();
    assert_eq!(tools(&requests[0])[5..], ["early", "tool_search"]);
    let found = requests[1]["input"].to_string();
    assert!(found.contains("tool_search_output") && found.contains("Does late."));
    assert_eq!(outputs(&rig), [json!("at last")]);
}

#[tokio::test]
async fn an_interrupt_drops_open_calls_and_a_late_result_is_ignored() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([vec![call("add")]]);
    let agent = with(vec![function("add")]);
    link.send(&start_as(agent.clone(), "t1", None, "go")).await;
    let (first, _) = next_call(&mut link).await;
    let turn_id = "t1".to_owned();
    link.send(&Command::Interrupt { turn_id }).await;
    let events = link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    assert_eq!(outcome(&events), &Outcome::Interrupted);
    link.send(&result(&first, "too late")).await;

    // The model names its call as before; we do not.
    rig.model.script([
        vec![Step::Item(
            json!({ "type": "function_call", "id": "fc", "call_id": "call_1_0",
        "name": "add", "arguments": "{\"x\":1}", "status": "completed" }),
        )],
        say("Done."),
    ]);
    let thread = thread_of(&link.replay);
    link.send(&start_as(agent, "t2", Some(&thread), "more"))
        .await;
    let (second, _) = next_call(&mut link).await;
    assert_ne!(first, second);
    link.send(&Command::ToolResult {
        turn_id: "t2".into(),
        call_id: second,
        success: true,
        output: vec![Input::Text("in time".into())],
    })
    .await;
    let events = link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    let all = outputs(&rig);
    assert_eq!(all.last(), Some(&json!("in time")));
    assert!(!format!("{all:?}").contains("too late"));
}

#[tokio::test]
async fn functions_that_codex_cannot_take_fail_the_turn() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let twice = vec![function("a"), function("a")];
    for (n, functions) in [twice, vec![function("a b")], vec![function("exec_command")]]
        .into_iter()
        .enumerate()
    {
        let start = start_as(with(functions), &format!("t{n}"), None, "go");
        let events = tokio::time::timeout(Duration::from_secs(10), link.run(start));
        let code = FailureCode::InvalidRequest;
        assert_eq!(outcome(&events.await.unwrap()), &Outcome::Failed { code });
    }
    assert!(rig.model.requests().is_empty());
}

/// Other functions in a later turn, in the same process and after a restart: the model still knows what was said.
#[tokio::test]
async fn functions_may_change_between_turns() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([vec![call("add")], say("First.")]);
    link.send(&start_as(with(vec![function("add")]), "t1", None, "one"))
        .await;
    let (call_id, _) = next_call(&mut link).await;
    link.send(&result(&call_id, "a sum")).await;
    link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    let first = thread_of(&link.replay);

    rig.model.script([say("Second.")]);
    let mul = with(vec![function("mul")]);
    let events = link
        .run(start_as(mul.clone(), "t2", Some(&first), "two"))
        .await;
    let second = thread_of(&events);
    assert_ne!(first, second, "Codex begins anew");
    let request = rig.model.requests().pop().unwrap();
    assert_eq!(tools(&request)[5..], ["mul"]);
    let texts: Vec<_> = request["input"].as_array().unwrap()[2..]
        .iter()
        .map(|i| match i["type"].as_str().unwrap() {
            "message" => i["content"][0]["text"].clone(),
            "function_call" => i["name"].clone(),
            _ => i["output"].clone(),
        })
        .collect();
    assert_eq!(texts, ["one", "add", "a sum", "First.", "two"]);

    rig.restart().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([say("Third."), say("Fourth.")]);
    let events = link.run(start_as(mul, "t3", Some(&second), "three")).await;
    assert_eq!(thread_of(&events), second, "nothing has changed");
    assert_eq!(tools(&rig.model.requests().pop().unwrap())[5..], ["mul"]);
    rig.restart().await;
    let mut link = rig.attach(1, 0).await;
    let events = link
        .run(start_as(agent(), "t4", Some(&second), "four"))
        .await;
    assert_ne!(thread_of(&events), second);
    let request = rig.model.requests().pop().unwrap();
    assert_eq!(tools(&request).len(), 5);
    let input = request["input"].to_string();
    for text in [
        "one", "a sum", "First.", "two", "Second.", "three", "Third.", "four",
    ] {
        assert!(input.contains(text), "{text}");
    }
}
