//! Functions and approvals.

use super::*;
use cloister_protocol::{Decision, Function, Json, MAX_JSON_BYTES};

fn function(name: &str, deferred: bool, asynchronous: bool) -> Function {
    Function {
        name: name.into(),
        description: String::new(),
        parameters: Json::parse("{}".into(), 1).unwrap(),
        deferred,
        asynchronous,
    }
}

/// A turn `t1` that runs, with the functions `now`, `later` and, to be searched for, `rare`.
fn with_functions() -> Driver {
    let mut driver = ready();
    let Command::StartTurn {
        turn_id,
        thread,
        mut agent,
        input,
    } = start("t1", None)
    else {
        panic!()
    };
    agent.functions = vec![
        function("now", false, false),
        function("later", false, true),
        function("rare", true, false),
    ];
    driver.command(Command::StartTurn {
        turn_id,
        thread,
        agent,
        input,
    });
    say(
        &mut driver,
        json!({ "id": 2, "result": { "thread": { "id": "T" } } }),
    );
    say(&mut driver, accepted());
    driver
}

fn call(driver: &mut Driver, id: u64, change: Value) -> Vec<Effect> {
    let mut params = json!({ "threadId": "T", "turnId": "U", "callId": "c", "namespace": null, "tool": "now", "arguments": {} });
    for (name, value) in change.as_object().unwrap() {
        params[name] = value.clone();
    }
    let line = json!({ "id": id, "method": "item/tool/call", "params": params });
    driver.line(line.to_string().as_bytes())
}

/// The answer to a request of Codex: its id, whether it is a success, and the first text.
fn answered(effect: &Effect) -> (u64, bool, String) {
    let Effect::Send(line) = effect else {
        panic!("{effect:?}")
    };
    let line: Value = serde_json::from_str(line).unwrap();
    let result = &line["result"];
    let text = result["contentItems"][0]["text"]
        .as_str()
        .unwrap_or_default();
    (
        line["id"].as_u64().unwrap(),
        result["success"] == true,
        text.into(),
    )
}

fn result(call_id: &str) -> Command {
    Command::ToolResult {
        turn_id: "t1".into(),
        call_id: call_id.into(),
        success: true,
        output: vec![Input::Text("3".into())],
    }
}

#[test]
fn calls_are_held_until_the_client_answers() {
    let mut driver = with_functions();
    assert_eq!(
        gist(call(&mut driver, 10, json!({}))),
        ["t1 calls now call_U_0"]
    );
    let rare = json!({ "tool": "rare", "namespace": "client_functions" });
    assert_eq!(
        gist(call(&mut driver, 11, rare)),
        ["t1 calls rare call_U_1"]
    );
    let effects = driver.command(result("call_U_1"));
    assert_eq!(answered(&effects[0]), (11, true, "3".into()));
    assert!(driver.command(result("call_U_1")).is_empty(), "once only");
    let mut other = result("call_U_0");
    if let Command::ToolResult { turn_id, .. } = &mut other {
        *turn_id = "t0".into();
    }
    assert!(driver.command(other).is_empty(), "of another turn");
    say(&mut driver, turn_completed("completed"));
    assert!(driver.command(result("call_U_0")).is_empty(), "too late");
}

#[test]
fn calls_that_nobody_is_asked_to_do() {
    let mut driver = with_functions();
    for change in [
        json!({ "tool": "nothing" }),
        json!({ "namespace": "client_functions" }),
        json!({ "tool": "rare" }),
        json!({ "threadId": "subagent" }),
        json!({ "turnId": "before" }),
    ] {
        let effects = call(&mut driver, 10, change.clone());
        assert_eq!(effects.len(), 1, "{change}");
        let (id, success, _) = answered(&effects[0]);
        assert_eq!((id, success), (10, false), "{change}");
    }
    let line = json!({ "id": 12, "method": "item/tool/call", "params": {} });
    assert_eq!(say(&mut driver, line), ["-> answer"], "malformed");
}

#[test]
fn an_asynchronous_call_is_answered_at_once() {
    let mut driver = with_functions();
    let effects = call(&mut driver, 10, json!({ "tool": "later" }));
    let (id, success, text) = answered(&effects[0]);
    assert!(id == 10 && success && text.contains("accepted"), "{text}");
    assert_eq!(gist_of(&effects[1]), "t1 calls later call_U_0");
    assert!(driver.command(result("call_U_0")).is_empty());
}

#[test]
fn calls_are_bounded() {
    let mut driver = with_functions();
    let large = json!({ "arguments": { "x": "y".repeat(MAX_JSON_BYTES) } });
    match &call(&mut driver, 10, large)[0] {
        Effect::Emit(Event::ToolCall { arguments, .. }) => assert_eq!(arguments.as_str(), "null"),
        other => panic!("{other:?}"),
    }
    for id in 11..266 {
        assert!(matches!(
            call(&mut driver, id, json!({}))[0],
            Effect::Emit(_)
        ));
    }
    let (_, success, _) = answered(&call(&mut driver, 266, json!({}))[0]);
    assert!(!success);
    driver.command(result("call_U_0"));
    assert!(matches!(
        call(&mut driver, 267, json!({}))[0],
        Effect::Emit(_)
    ));
}

fn asks(id: u64, thread: &str, meta: Value) -> Value {
    json!({ "id": id, "method": "mcpServer/elicitation/request", "params": {
        "threadId": thread, "turnId": "U", "serverName": "tickets", "mode": "form", "message": "May I?", "_meta": meta } })
}

fn approval() -> Value {
    json!({ "codex_approval_kind": "mcp_tool_call", "tool_name": "book", "tool_params": { "a": 1 } })
}

/// The call that may be asked about has begun.
fn begins(driver: &mut Driver) {
    let line = json!({ "method": "item/started", "params": { "threadId": "T", "turnId": "U", "item": {
        "type": "mcpToolCall", "id": "m", "server": "tickets", "tool": "book", "status": "inProgress", "arguments": { "a": 1 } } } });
    assert_eq!(say(driver, line), ["t1 m begins"]);
}

fn decide(request_id: &str) -> Command {
    Command::Approval {
        request_id: request_id.into(),
        decision: Decision::Approve,
    }
}

#[test]
fn approvals() {
    let mut driver = running();
    for (thread, meta) in [
        ("T", Value::Null),
        ("T", json!({ "codex_approval_kind": "other" })),
        ("elsewhere", approval()),
    ] {
        assert_eq!(say(&mut driver, asks(9, thread, meta)), ["-> answer"]);
    }
    let mut another = approval();
    another["tool_params"] = json!({ "a": 2 });
    assert_eq!(
        say(&mut driver, asks(9, "T", approval())),
        ["-> answer"],
        "no such call"
    );
    begins(&mut driver);
    assert_eq!(
        say(&mut driver, asks(9, "T", another)),
        ["-> answer"],
        "not of that call"
    );
    assert_eq!(
        say(&mut driver, asks(10, "T", approval())),
        [r#"approval_1: Some("book") true"#]
    );
    let effects = driver.command(decide("approval_1"));
    assert_eq!(
        effects,
        [Effect::Send(
            r#"{"id":10,"result":{"_meta":null,"action":"accept","content":{}}}"#.into()
        )]
    );
    assert!(driver.command(decide("approval_1")).is_empty());
    let resolved = |id: u64| json!({ "method": "serverRequest/resolved", "params": { "threadId": "T", "requestId": id } });
    assert_eq!(say(&mut driver, resolved(10)), ["approval_1 closed"]);
    assert_eq!(say(&mut driver, resolved(10)), NOTHING);
    assert_eq!(
        say(&mut driver, asks(11, "T", approval())),
        ["-> answer"],
        "asked once"
    );
    begins(&mut driver);
    say(&mut driver, asks(11, "T", approval()));
    assert_eq!(
        say(&mut driver, turn_completed("completed")),
        ["approval_2 closed", "t1 ended Completed"]
    );
    assert!(driver.command(decide("approval_2")).is_empty());
    assert_eq!(
        say(&mut driver, asks(12, "T", approval())),
        ["-> answer"],
        "nothing runs"
    );
}

#[test]
fn approvals_are_bounded() {
    let mut driver = running();
    for id in 0..64 {
        begins(&mut driver);
        assert!(say(&mut driver, asks(id, "T", approval()))[0].starts_with("approval_"));
    }
    assert_eq!(say(&mut driver, asks(64, "T", approval())), ["-> answer"]);
}
