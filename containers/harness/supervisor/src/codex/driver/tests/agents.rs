//! Subagents.

use super::*;

fn spawn(stage: &str, sender: &str, receivers: Value) -> Value {
    let (turn, status) = (
        if sender == "T" { "U" } else { "V" },
        if stage == "started" {
            "inProgress"
        } else {
            "completed"
        },
    );
    json!({ "method": format!("item/{stage}"), "params": { "threadId": sender, "turnId": turn, "item": {
        "type": "collabAgentToolCall", "id": "s", "tool": "spawnAgent", "status": status, "senderThreadId": sender,
        "receiverThreadIds": receivers, "prompt": "do it", "model": "cloister", "reasoningEffort": "medium" } } })
}

fn turn(of: &str, what: &str, thread: &str, root: &str) -> Value {
    json!({ "method": format!("turn/{what}"), "params": { "threadId": thread, "turn": {
        "id": of, "rootTurnId": root, "status": if what == "started" { "inProgress" } else { "completed" } } } })
}

/// The answer to the newest request of the driver, which must be `thread/read`.
fn identity(id: u64, parent: &str) -> Value {
    json!({ "id": id, "result": { "thread": { "id": "C", "parentThreadId": parent, "agentNickname": "Ada" } } })
}

const OPENED: &str = r#"C opened by None Some("Ada") Some("do it")"#;
const CREATED: &str = r#"t1 s ends: Create None ["C"]"#;

#[test]
fn a_subagent_that_is_told_of_by_the_call() {
    let mut driver = running();
    assert_eq!(
        say(&mut driver, spawn("started", "T", json!([]))),
        ["t1 s begins"]
    );
    assert_eq!(
        say(&mut driver, spawn("completed", "T", json!(["C"]))),
        ["-> thread/read"]
    );
    assert_eq!(
        say(&mut driver, turn("V", "started", "C", "U")),
        NOTHING,
        "all waits for the name"
    );
    assert_eq!(
        say(&mut driver, identity(4, "T")),
        [OPENED, CREATED, "C starts"]
    );
    assert_eq!(
        say(&mut driver, turn("V", "completed", "C", "U")),
        ["C ended Completed"]
    );
}

#[test]
fn a_subagent_that_is_told_of_by_its_turn() {
    let mut driver = running();
    say(&mut driver, spawn("started", "T", json!([])));
    assert_eq!(
        say(&mut driver, turn("V", "started", "C", "U")),
        ["-> thread/read"]
    );
    assert_eq!(say(&mut driver, identity(4, "T")), [OPENED, "C starts"]);
    assert_eq!(
        say(&mut driver, spawn("completed", "T", json!(["C"]))),
        [CREATED],
        "it is known"
    );
}

#[test]
fn a_subagent_whose_name_is_not_to_be_had() {
    let mut driver = running();
    say(&mut driver, spawn("completed", "T", json!(["C"])));
    let refused = json!({ "id": 4, "error": { "code": -1, "message": "" } });
    assert_eq!(
        say(&mut driver, refused),
        [r#"C opened by None None Some("do it")"#, CREATED]
    );

    let mut driver = running();
    say(&mut driver, spawn("completed", "T", json!(["C"])));
    let mut told = Vec::new();
    for _ in 0..1023 {
        told.extend(say(&mut driver, turn("V", "started", "C", "U")));
    }
    assert_eq!(told.len(), 1025, "no more than that waits");
    assert_eq!(say(&mut driver, identity(4, "T")), NOTHING);
}

#[test]
fn threads_that_are_no_subagents() {
    let mut driver = running();
    for root in ["V", "X"] {
        assert_eq!(
            say(&mut driver, turn("V", "started", "elsewhere", root)),
            NOTHING,
            "{root}"
        );
        assert_eq!(
            say(&mut driver, turn("V", "completed", "elsewhere", root)),
            NOTHING,
            "{root}"
        );
    }
}

#[test]
fn no_more_than_sixty_four() {
    let mut driver = running();
    let threads: Vec<String> = (0..64).map(|n| format!("C{n}")).collect();
    assert_eq!(
        say(&mut driver, spawn("completed", "T", json!(threads))).len(),
        64
    );
    assert_eq!(say(&mut driver, turn("V", "started", "C64", "U")), NOTHING);
}

#[test]
fn a_closed_subagent_closes_what_it_opened() {
    let mut driver = running();
    say(&mut driver, spawn("completed", "T", json!(["C"])));
    say(&mut driver, identity(4, "T"));
    say(&mut driver, spawn("completed", "C", json!(["G"])));
    assert_eq!(
        say(&mut driver, identity(5, "C")),
        [
            r#"G opened by Some("C") Some("Ada") Some("do it")"#,
            "C s ends"
        ]
    );
    let close = json!({ "method": "item/completed", "params": { "threadId": "T", "turnId": "U", "item": {
        "type": "collabAgentToolCall", "id": "c", "tool": "closeAgent", "status": "completed", "senderThreadId": "T",
        "receiverThreadIds": ["C", "unknown"] } } });
    assert_eq!(
        say(&mut driver, close),
        [r#"t1 c ends: Close None ["C"]"#, "G closed", "C closed"]
    );
    assert_eq!(say(&mut driver, turn("W", "completed", "C", "U")), NOTHING);
}

#[test]
fn an_interrupt_stops_subagents_too() {
    let mut driver = running();
    for (thread, request) in [("C", 4), ("idle", 5)] {
        say(&mut driver, spawn("completed", "T", json!([thread])));
        say(&mut driver, identity(request, "T"));
    }
    say(&mut driver, turn("V", "started", "C", "U"));
    // Requests 6, 7 and 8.
    assert_eq!(
        gist(driver.command(interrupt())),
        [
            "-> turn/interrupt",
            "-> turn/interrupt",
            "-> thread/backgroundTerminals/clean"
        ]
    );
    let done = |id: u64| json!({ "id": id, "result": {} });
    assert_eq!(say(&mut driver, done(8)), NOTHING);
    assert_eq!(
        say(&mut driver, done(6)),
        ["-> thread/backgroundTerminals/clean"]
    );
    assert_eq!(say(&mut driver, turn_completed("interrupted")), NOTHING);
    assert_eq!(
        say(&mut driver, done(9)),
        NOTHING,
        "the subagent still runs"
    );
    assert_eq!(
        say(&mut driver, done(7)),
        ["-> thread/backgroundTerminals/clean"]
    );
    assert!(driver.is_holding());
    assert_eq!(say(&mut driver, done(10)), ["t1 ended Interrupted"]);

    // What begins now belongs to the turn that was interrupted.
    assert_eq!(
        say(&mut driver, turn("W", "started", "idle", "U")),
        ["-> turn/interrupt", "idle starts"]
    );
    assert_eq!(
        say(&mut driver, done(11)),
        ["-> thread/backgroundTerminals/clean"]
    );
    assert_eq!(say(&mut driver, done(12)), NOTHING);
}
