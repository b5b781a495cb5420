#![allow(clippy::unwrap_used, clippy::panic)]
mod agents;
mod calls;
mod opening;

use super::*;
use cloister_protocol::{AgentSettings, ItemKind, ItemStatus, SubagentEvent};
use serde_json::{json, Value};

fn start(turn_id: &str, thread: Option<&str>) -> Command {
    let input = vec![Input::Text("go".into())];
    Command::StartTurn {
        turn_id: turn_id.into(),
        thread: thread.map(Into::into),
        agent: Box::new(agent()),
        input,
    }
}

fn agent() -> AgentSettings {
    AgentSettings {
        sandbox: true,
        ..AgentSettings::default()
    }
}

fn interrupt() -> Command {
    Command::Interrupt {
        turn_id: "t1".into(),
    }
}

fn steer(input_id: &str) -> Command {
    Command::Steer {
        turn_id: "t1".into(),
        input_id: input_id.into(),
        input: vec![Input::Text("more".into())],
    }
}

/// Effects in short: the method of a request, the gist of an event.
fn gist(effects: Vec<Effect>) -> Vec<String> {
    effects.iter().map(gist_of).collect()
}

fn gist_of(effect: &Effect) -> String {
    let event = match effect {
        Effect::Send(line) => {
            let line: Value = serde_json::from_str(line).unwrap();
            return format!("-> {}", line["method"].as_str().unwrap_or("answer"));
        }
        Effect::Emit(event) => event,
    };
    match event {
        Event::Ready { harness } => format!("ready {harness}"),
        Event::TurnStarted { turn_id, .. } => format!("{turn_id} started"),
        Event::ItemStarted { turn_id, item } => format!("{turn_id} {} begins", item.id),
        Event::TextDelta { turn_id, delta, .. }
        | Event::ReasoningDelta { turn_id, delta, .. }
        | Event::OutputDelta { turn_id, delta, .. } => format!("{turn_id} + {delta:?}"),
        Event::ItemCompleted { turn_id, item } => {
            let kind = match &item.kind {
                ItemKind::Message { text, .. } => format!("{text:?}"),
                ItemKind::Reasoning { summary } => format!("{summary:?}"),
                ItemKind::Command {
                    output, exit_code, ..
                } => format!("{output:?} {exit_code:?}"),
                ItemKind::FileChanges { changes } => changes[0].path.clone(),
                ItemKind::McpCall { name, .. } => name.clone(),
                ItemKind::WebSearch { action } => format!("{action:?}"),
                ItemKind::SubagentCall {
                    call,
                    sender,
                    receivers,
                    ..
                } => format!("{call:?} {sender:?} {receivers:?}"),
            };
            let failed = if item.status == ItemStatus::Failed {
                " failed"
            } else {
                ""
            };
            format!("{turn_id} {} ends{failed}: {kind}", item.id)
        }
        Event::Usage { turn_id, usage } => format!("{turn_id} usage {}", usage.input_tokens),
        Event::Steered { input_id } => format!("steered {input_id}"),
        Event::SteerRefused { input_id } => format!("refused {input_id}"),
        Event::TurnEnded { turn_id, outcome } => format!("{turn_id} ended {outcome:?}"),
        Event::ToolCall {
            turn_id,
            call_id,
            name,
            ..
        } => format!("{turn_id} calls {name} {call_id}"),
        Event::ApprovalRequested {
            request_id,
            tool,
            arguments,
            ..
        } => format!("{request_id}: {tool:?} {}", arguments.is_some()),
        Event::ApprovalClosed { request_id } => format!("{request_id} closed"),
        Event::SubagentOpened {
            subagent,
            parent,
            name,
            prompt,
            ..
        } => format!("{subagent} opened by {parent:?} {name:?} {prompt:?}"),
        Event::SubagentClosed { subagent } => format!("{subagent} closed"),
        Event::Subagent {
            subagent, event, ..
        } => match event {
            SubagentEvent::Started => format!("{subagent} starts"),
            SubagentEvent::ItemStarted(item) => format!("{subagent} {} begins", item.id),
            SubagentEvent::ItemCompleted(item) => format!("{subagent} {} ends", item.id),
            SubagentEvent::Usage(usage) => format!("{subagent} usage {}", usage.input_tokens),
            SubagentEvent::Ended(outcome) => format!("{subagent} ended {outcome:?}"),
        },
        Event::HarnessLost { .. } => "lost".into(),
    }
}

/// A ready driver.
fn ready() -> Driver {
    let (mut driver, effects) = Driver::new("/workspace", Box::new(|_| None));
    assert_eq!(gist(effects), ["-> initialize"]);
    driver.line(br#"{"id":1,"result":{"userAgent":"x"}}"#);
    driver
}

/// A driver whose turn `t1` waits for the answer to `turn/start`, request 3.
fn starting() -> Driver {
    let mut driver = ready();
    driver.command(start("t1", None));
    assert_eq!(
        say(
            &mut driver,
            json!({ "id": 2, "result": { "thread": { "id": "T" } } })
        ),
        ["-> turn/start"]
    );
    driver
}

fn running() -> Driver {
    let mut driver = starting();
    assert_eq!(say(&mut driver, accepted()), ["t1 started"]);
    driver
}

fn say(driver: &mut Driver, message: Value) -> Vec<String> {
    gist(driver.line(message.to_string().as_bytes()))
}

fn accepted() -> Value {
    json!({ "id": 3, "result": { "turn": { "id": "U" } } })
}

fn turn_started() -> Value {
    json!({ "method": "turn/started", "params": { "threadId": "T", "turn": { "id": "U", "status": "inProgress" } } })
}

fn turn_completed(status: &str) -> Value {
    json!({ "method": "turn/completed", "params": { "threadId": "T", "turn": { "id": "U", "status": status } } })
}

const NOTHING: [&str; 0] = [];

/// D8: Codex may tell the end of a turn before it answers `turn/start`.
#[test]
fn the_end_before_the_answer() {
    let mut driver = starting();
    assert_eq!(
        say(&mut driver, turn_completed("completed")),
        ["t1 started", "t1 ended Completed"]
    );
    assert_eq!(say(&mut driver, accepted()), NOTHING);
    assert_eq!(
        gist(driver.command(start("t2", Some("T")))),
        ["-> turn/start"]
    );
}

/// D7: an interrupt before Codex's id of the turn is known.
#[test]
fn an_interrupt_waits_for_the_id() {
    let mut driver = starting();
    assert_eq!(gist(driver.command(interrupt())), NOTHING);
    assert_eq!(
        say(&mut driver, accepted()),
        ["t1 started", "-> turn/interrupt"]
    );
    assert_eq!(
        gist(driver.command(interrupt())),
        NOTHING,
        "again changes nothing"
    );
    // Codex does not take it yet: once more when the turn has begun.
    assert_eq!(
        say(
            &mut driver,
            json!({ "id": 4, "error": { "code": -1, "message": "" } })
        ),
        NOTHING
    );
    assert_eq!(say(&mut driver, turn_started()), ["-> turn/interrupt"]);
    assert_eq!(say(&mut driver, turn_completed("interrupted")), NOTHING);
    assert!(driver.is_holding());
    assert_eq!(
        say(&mut driver, json!({ "id": 5, "result": {} })),
        ["-> thread/backgroundTerminals/clean"]
    );
    assert_eq!(
        say(&mut driver, json!({ "id": 6, "result": {} })),
        ["t1 ended Interrupted"]
    );
    assert!(!driver.is_holding());
}

#[test]
fn an_interrupt_before_the_thread_is_open_asks_no_model() {
    let mut driver = ready();
    driver.command(start("t1", None));
    assert_eq!(gist(driver.command(interrupt())), NOTHING);
    let opened = json!({ "id": 2, "result": { "thread": { "id": "T" } } });
    assert_eq!(say(&mut driver, opened), ["t1 ended Interrupted"]);
}

#[test]
fn an_interrupt_too_late_cleans_and_ends_as_it_ended() {
    let mut driver = running();
    driver.command(interrupt());
    let refused = json!({ "id": 4, "error": { "code": -1, "message": "" } });
    assert_eq!(say(&mut driver, turn_completed("completed")), NOTHING);
    assert_eq!(
        say(&mut driver, refused),
        ["-> thread/backgroundTerminals/clean"]
    );
    assert_eq!(
        say(&mut driver, json!({ "id": 5, "result": {} })),
        ["t1 ended Completed"]
    );
    assert_eq!(gist(driver.command(interrupt())), NOTHING);

    // The refusal first: then the end has to see to the cleaning.
    let mut driver = running();
    driver.command(interrupt());
    assert_eq!(say(&mut driver, json!({ "id": 4, "error": {} })), NOTHING);
    assert_eq!(
        say(&mut driver, turn_completed("completed")),
        ["-> thread/backgroundTerminals/clean"]
    );
    assert_eq!(
        say(&mut driver, json!({ "id": 5, "error": {} })),
        ["t1 ended Completed"],
        "even if it fails"
    );
}

#[test]
fn what_was_told_is_answered_before_the_end() {
    let mut driver = running();
    assert_eq!(gist(driver.command(steer("s1"))), ["-> turn/steer"]);
    assert_eq!(say(&mut driver, turn_completed("completed")), NOTHING);
    assert!(driver.is_holding());
    assert_eq!(
        say(&mut driver, json!({ "id": 4, "result": {} })),
        ["steered s1", "t1 ended Completed"]
    );
}

#[test]
fn a_held_end_can_be_released() {
    let mut driver = running();
    driver.command(interrupt());
    say(&mut driver, turn_completed("interrupted"));
    assert!(driver.is_holding());
    assert_eq!(gist(driver.release()), ["t1 ended Interrupted"]);
    assert_eq!(gist(driver.release()), NOTHING);
}

#[test]
fn steers() {
    let mut driver = starting();
    assert_eq!(
        gist(driver.command(steer("s1"))),
        NOTHING,
        "it waits for the id"
    );
    assert_eq!(gist(driver.command(steer("s1"))), NOTHING);
    assert_eq!(
        say(&mut driver, accepted()),
        ["t1 started", "-> turn/steer"]
    );
    assert_eq!(gist(driver.command(steer("s2"))), ["-> turn/steer"]);
    assert_eq!(
        say(&mut driver, json!({ "id": 4, "result": { "turnId": "U" } })),
        ["steered s1"]
    );
    assert_eq!(
        say(
            &mut driver,
            json!({ "id": 5, "error": { "code": -1, "message": "" } })
        ),
        ["refused s2"]
    );
    driver.command(interrupt());
    assert_eq!(
        gist(driver.command(steer("s3"))),
        ["refused s3"],
        "the turn is to end"
    );
    // One that still waits when its turn ends is refused.
    let mut driver = starting();
    driver.command(steer("s4"));
    let failed = "t1 ended Failed { code: InternalError }";
    assert_eq!(
        say(&mut driver, json!({ "id": 3, "error": {} })),
        ["refused s4", failed]
    );
}

#[test]
fn one_turn_at_a_time_and_each_once() {
    let mut driver = running();
    assert_eq!(gist(driver.command(start("t1", None))), NOTHING);
    assert_eq!(
        gist(driver.command(start("t2", Some("T")))),
        ["t2 ended Failed { code: InvalidRequest }"]
    );
    assert_eq!(
        say(&mut driver, turn_completed("completed")),
        ["t1 ended Completed"]
    );
    assert_eq!(gist(driver.command(start("t1", None))), NOTHING);
    assert_eq!(
        gist(driver.command(start("t3", Some("T")))),
        ["-> turn/start"]
    );
}

#[test]
fn a_thread_that_is_not_open_is_resumed() {
    let mut driver = ready();
    assert_eq!(
        gist(driver.command(start("t1", Some("old")))),
        ["-> thread/resume"]
    );
    let failed = "t1 ended Failed { code: InternalError }";
    assert_eq!(
        say(
            &mut driver,
            json!({ "id": 2, "error": { "code": -1, "message": "no rollout" } })
        ),
        [failed]
    );
}

#[test]
fn requests_of_codex_are_refused_at_once() {
    for (method, member, value) in [
        (
            "item/commandExecution/requestApproval",
            "result",
            json!({ "decision": "decline" }),
        ),
        (
            "item/fileChange/requestApproval",
            "result",
            json!({ "decision": "decline" }),
        ),
        (
            "mcpServer/elicitation/request",
            "result",
            json!({ "action": "decline", "content": null, "_meta": null }),
        ),
        (
            "item/tool/requestUserInput",
            "error",
            json!({ "code": -32601, "message": "not supported" }),
        ),
        (
            "somethingNew",
            "error",
            json!({ "code": -32601, "message": "not supported" }),
        ),
    ] {
        for id in [json!(7), json!("a\"b")] {
            let message = json!({ "id": id, "method": method, "params": {} });
            let effects = running().line(message.to_string().as_bytes());
            let [Effect::Send(line)] = effects.as_slice() else {
                panic!("{effects:?}")
            };
            assert_eq!(
                serde_json::from_str::<Value>(line).unwrap(),
                json!({ "id": id, member: value })
            );
        }
    }
}

#[test]
fn nonsense_is_skipped() {
    let mut driver = running();
    for line in [
        "",
        "{",
        "[]",
        "null",
        r#"{"id":99,"result":{}}"#,
        r#"{"id":{},"result":1}"#,
        r#"{"method":1}"#,
        "\u{0}",
    ] {
        assert_eq!(gist(driver.line(line.as_bytes())), NOTHING, "{line}");
    }
    assert_eq!(gist(driver.line(b"\xff\xfe")), NOTHING);
    assert_eq!(
        say(&mut driver, turn_completed("completed")),
        ["t1 ended Completed"]
    );
}

#[test]
fn harness_names() {
    for (agent, expected) in [
        (
            "cloister/0.171.0 (Debian 12.0.0; x86_64) unknown (cloister; 0.1.0)",
            "codex 0.171.0",
        ),
        ("x", "codex unknown"),
        ("x/", "codex unknown"),
        ("x/1\u{7}2", "codex unknown"),
        ("", "codex unknown"),
    ] {
        assert_eq!(harness_name(agent), expected);
    }
}
