//! The native history on its way to the store and back.

use std::time::Duration;

use cloister_protocol::{AgentSettings, Command, Event, FromSupervisor, Function, Json, Outcome};
use serde_json::{json, Value};
use tokio::net::TcpStream;

use crate::model::Step;
use crate::rig::{agent, appears, start, start_as, thread_of, Link, Rig, LONG};
use crate::{outcome, say, shell, tools};

/// A supervisor in a new container, with the history that the grant stands for, and a link to it.
async fn restored(rig: &mut Rig, grant: &str) -> Link {
    let port = rig.replace(Some(grant)).await;
    rig.listens(port).await;
    rig.attach(1, 0).await
}

fn input(request: &Value) -> Vec<Value> {
    request["input"].as_array().unwrap().clone()
}

/// What is new in `request` after all that `earlier` had.
fn continued(earlier: &Value, request: &Value) -> Vec<Value> {
    let (old, mut new) = (input(earlier), input(request));
    let rest = new.split_off(old.len());
    assert_eq!(new, old, "a prefix, item by item");
    for key in ["prompt_cache_key", "model", "instructions", "tools"] {
        assert_eq!(request[key], earlier[key], "{key}");
    }
    assert!(earlier["prompt_cache_key"].is_string());
    rest
}

/// Role and text of messages, empty for other items.
fn texts(items: &[Value]) -> Vec<(&str, &str)> {
    let messages = items.iter().map(|item| {
        let text = &item["content"][0]["text"];
        (item["role"].as_str(), text.as_str())
    });
    let or_empty = |(role, text): (Option<_>, Option<_>)| (role.unwrap_or(""), text.unwrap_or(""));
    messages.map(or_empty).collect()
}

#[tokio::test]
async fn a_new_container_continues_with_the_same_input() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([
        vec![Step::Think("hm"), Step::Shell("echo one".into())],
        say("First."),
        shell("echo two"),
        say("Second."),
    ]);
    let told = AgentSettings {
        instructions: Some("Be brief.".into()),
        ..agent()
    };
    let first = start_as(told.clone(), "t1", None, "go");
    let thread = thread_of(&link.run(first).await);
    link.run(start_as(told.clone(), "t2", Some(&thread), "more"))
        .await;
    link.save("put-a-0").await;

    let mut link = restored(&mut rig, "get-a-0").await;
    rig.model.script([say("Third.")]);
    let third = start_as(told, "t3", Some(&thread), "and more");
    let events = link.run(third).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    assert_eq!(thread_of(&events), thread);
    let requests = rig.model.requests();
    assert_eq!(requests.len(), 5);
    let rest = continued(&requests[3], &requests[4]);
    let expected = [("assistant", "Second."), ("user", "and more")];
    assert_eq!(texts(&rest), expected, "{rest:#?}");

    let environment = std::fs::read(format!("/proc/{}/environ", rig.codex_pid())).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains("CLOISTER"));
}

/// Whatever ended the turn: when that is told, its history is on disk.
#[tokio::test]
async fn nothing_of_a_turn_that_ended_is_missing() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([say("Begun.")]);
    let thread = thread_of(&link.turn("t0", None, "go").await);
    let begun = rig.file("begun");
    for n in 0..6 {
        let (turn_id, said) = (format!("t{n}-next"), format!("Said in {n}."));
        let start = start(&turn_id, Some(&thread), &said);
        let events = match n % 3 {
            0 => {
                rig.model.script([shell("echo it"), say("Done.")]);
                link.run(start).await
            }
            1 => {
                rig.model
                    .script([shell(format!("touch {}; sleep 60", begun.display()))]);
                link.send(&start).await;
                appears(&begun).await;
                std::fs::remove_file(&begun).unwrap();
                link.send(&Command::Interrupt { turn_id }).await;
                link.until(|e| matches!(e, Event::TurnEnded { .. })).await
            }
            _ => {
                rig.model
                    .script([shell("echo it"), vec![Step::Status(400)]]);
                link.run(start).await
            }
        };
        let last = rig.model.requests().pop().unwrap();
        link.save(&format!("put-{n}-0")).await;

        link = restored(&mut rig, &format!("get-{n}-0")).await;
        rig.model.script([say("Here.")]);
        let asked = format!("Asked after {n}.");
        let next = link.turn("t", Some(&thread), &asked).await;
        assert_eq!(outcome(&next), &Outcome::Completed);
        let request = rig.model.requests().pop().unwrap();
        let rest = continued(&last, &request);
        let rest = texts(&rest);
        assert_eq!(rest.last(), Some(&("user", asked.as_str())));
        match outcome(&events) {
            Outcome::Completed => assert_eq!(rest[0], ("assistant", "Done.")),
            Outcome::Interrupted => assert!(
                rest[rest.len() - 2].1.contains("<turn_aborted>"),
                "{rest:?}"
            ),
            Outcome::Failed { .. } => assert_eq!(rest.len(), 1),
        }
    }
}

#[tokio::test]
async fn an_agent_that_changed_gets_a_new_thread_with_the_old_items() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([shell("echo one"), say("First.")]);
    let thread = thread_of(&link.turn("t1", None, "go").await);
    link.save("put-a-0").await;

    let add = Function {
        name: "add".into(),
        description: "Adds.".into(),
        parameters: Json::parse(r#"{"type":"object"}"#.into(), 9).unwrap(),
        deferred: false,
        asynchronous: false,
    };
    let changed = AgentSettings {
        functions: vec![add],
        instructions: Some("Be brief.".into()),
        ..agent()
    };
    let mut link = restored(&mut rig, "get-a-0").await;
    rig.model.script([say("Second.")]);
    let start = start_as(changed.clone(), "t2", Some(&thread), "more");
    let events = link.run(start).await;
    let newer = thread_of(&events);
    assert_ne!(newer, thread);
    let request = rig.model.requests().pop().unwrap();
    assert!(tools(&request).contains(&"add".to_owned()));
    let text = request["input"].to_string();
    for old in ["go", "echo one", "First.", "Be brief.", "more"] {
        assert!(text.contains(old), "{old}");
    }
    link.save("put-b-0").await;

    // The thread begun anew is continued as any other.
    let mut link = restored(&mut rig, "get-b-0").await;
    rig.model.script([say("Third.")]);
    let events = link
        .run(start_as(changed, "t3", Some(&newer), "and more"))
        .await;
    assert_eq!(thread_of(&events), newer);
    let rest = continued(&request, &rig.model.requests().pop().unwrap());
    let expected = [("assistant", "Second."), ("user", "and more")];
    assert_eq!(texts(&rest), expected);
}

/// One that had ended, and one that was at work, when the history was saved.
#[tokio::test]
async fn subagents_come_back_with_what_they_know() {
    let with = AgentSettings {
        subagents: Some(2),
        ..agent()
    };
    let call = |tool, arguments| vec![Step::Call(Some("multi_agent_v1"), tool, arguments)];
    for seconds in [0, 60] {
        let mut rig = Rig::start().await;
        let mut link = rig.attach(1, 0).await;
        let begun = rig.file("begun");
        let command = format!("touch {}; sleep {seconds}", begun.display());
        let answers = [shell(command), say("Said."), say("Again.")];
        rig.model.script_for("child", answers);
        rig.model.script([
            call("spawn_agent", json!({ "message": "child" })),
            vec![Step::Wait(Duration::from_secs(1)), Step::Say("Root done.")],
            say("Told."),
        ]);
        let events = link.run(start_as(with.clone(), "t1", None, "go")).await;
        assert_eq!(outcome(&events), &Outcome::Completed);
        let thread = thread_of(&events);
        let child = events.iter().find_map(|event| match event {
            Event::SubagentOpened { subagent, .. } => Some(subagent.clone()),
            _ => None,
        });
        let child = child.unwrap();
        appears(&begun).await;
        link.save("put-a-0").await;

        let mut link = restored(&mut rig, "get-a-0").await;
        rig.model.clear();
        let (resumed, target) = (json!({ "id": child }), json!([child]));
        let told = json!({ "target": child, "message": "once more" });
        rig.model.script([
            call("resume_agent", resumed),
            call("send_input", told),
            call(
                "wait_agent",
                json!({ "targets": target, "timeout_ms": 10_000 }),
            ),
            say("Both."),
            say("Told."),
        ]);
        let start = start_as(with.clone(), "t2", Some(&thread), "more");
        let events = link.run(start).await;
        assert_eq!(outcome(&events), &Outcome::Completed);
        assert_eq!(thread_of(&events), thread, "the agent has not changed");
        let mut requests = rig.model.requests();
        requests.retain(|r| r["client_metadata"]["thread_id"] == child.as_str());
        let (last, rest) = requests.split_last().unwrap();
        let new = continued(rest.last().unwrap(), last);
        assert_eq!(texts(&new).last(), Some(&("user", "once more")));
        let text = json!(new).to_string();
        let known = if seconds == 0 { "Said." } else { "aborted" };
        assert!(text.contains(known), "{text}");
    }
}

#[tokio::test]
async fn a_save_does_not_disturb_a_turn() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([say("First.")]);
    let thread = thread_of(&link.turn("t1", None, "go").await);
    rig.store.hold(true);
    rig.model
        .script([shell("sleep 1; echo two"), say("Second.")]);
    link.send(&start("t2", Some(&thread), "more")).await;
    link.ask_to_save("put-a-0").await;
    link.ask_to_save("put-b-0").await;
    link.ask_to_save("put-c-0").await;
    assert_eq!(
        link.saved().await,
        ("put-c-0".to_owned(), false),
        "two are enough"
    );
    rig.store.asked(1).await;
    let events = link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    link.send(&Command::Ping).await;
    assert_eq!(link.frame().await, FromSupervisor::Pong);
    assert_eq!(rig.store.count(), 1, "one at a time");
    rig.store.hold(false);
    for grant in ["put-a-0", "put-b-0"] {
        assert_eq!(link.saved().await, (grant.to_owned(), true));
    }
    link.ask_to_save("put-a-0").await;
    assert_eq!(
        link.saved().await,
        ("put-a-0".to_owned(), false),
        "a grant is good once"
    );
    link.save("put-d-0").await;
}

#[tokio::test]
async fn a_link_cut_during_a_save_does_no_harm() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([say("First.")]);
    let thread = thread_of(&link.turn("t1", None, "go").await);
    rig.store.hold(true);
    for grant in ["put-a-0", "put-b-0"] {
        link.ask_to_save(grant).await;
    }
    rig.store.asked(1).await;
    let seen = link.seen;
    drop(link);
    let mut link = rig.attach(1, seen).await;
    // The one that waited is gone with its link, so there is room.
    link.ask_to_save("put-c-0").await;
    link.send(&Command::Ping).await;
    assert_eq!(link.frame().await, FromSupervisor::Pong);
    rig.store.hold(false);
    assert_eq!(link.saved().await, ("put-c-0".to_owned(), true));
    assert!(rig.store.parts("b").is_empty());

    let mut link = restored(&mut rig, "get-c-0").await;
    rig.model.script([say("Second.")]);
    let events = link.turn("t2", Some(&thread), "more").await;
    assert_eq!(thread_of(&events), thread);
}

/// Ends by itself without its history, and has neither listened nor started Codex.
#[tokio::test]
async fn without_its_history_nothing_starts() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([say("First.")]);
    link.turn("t1", None, "go").await;
    link.save("put-good-0").await;
    let good = rig.store.parts("good").concat();
    let half = good.len() / 2;
    rig.store.put("short", vec![good[..half].to_vec()]);
    rig.store.put("longer", vec![[&good[..], b"more"].concat()]);
    rig.store.put("words", vec![b"no archive".to_vec()]);
    let refused = ["get-none-0", "get-short-0", "get-longer-0", "get-words-0"];
    for grant in refused.into_iter().chain(["get-good-0"]) {
        let asked = rig.store.count();
        rig.store.hold(true);
        let port = rig.replace(Some(grant)).await;
        rig.store.asked(asked + 1).await;
        assert_eq!(rig.codex_pid(), "", "Codex has not started");
        assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
        if grant == "get-good-0" {
            rig.store.lie();
        }
        rig.store.hold(false);
        let ended = tokio::time::timeout(LONG, rig.supervisor.wait()).await;
        assert_eq!(ended.unwrap().unwrap().code(), Some(3), "{grant}");
    }
}

/// A supervisor that waits for its history can be told to end.
#[tokio::test]
async fn it_can_be_stopped_before_it_has_its_history() {
    let mut rig = Rig::start().await;
    rig.store.hold(true);
    rig.replace(Some("get-a-0")).await;
    rig.store.asked(1).await;
    let pid = rig.supervisor.id().unwrap().to_string();
    std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status()
        .unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(5), rig.supervisor.wait()).await;
    assert_eq!(ended.unwrap().unwrap().code(), Some(0));
}
