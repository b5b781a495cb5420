//! Threads that are begun anew, and requests that Codex refuses or never answers.

use super::*;
use crate::codex::rollout::Rollout;
use std::time::Duration;

/// A driver that finds one item in the file `/old`.
fn with_history() -> Driver {
    let read = |path: &str| {
        (path == "/old").then(|| Rollout {
            items: vec![json!({ "type": "message" })],
            ..Rollout::default()
        })
    };
    let (mut driver, _) = Driver::new("/workspace", Box::new(read));
    driver.line(br#"{"id":1,"result":{"userAgent":"x"}}"#);
    driver
}

fn told(turn_id: &str, thread: Option<&str>) -> Command {
    let mut command = start(turn_id, thread);
    if let Command::StartTurn { agent, .. } = &mut command {
        agent.instructions = Some("Be brief.".into());
    }
    command
}

fn opened(id: u64, thread: &str, path: &str) -> Value {
    json!({ "id": id, "result": { "thread": { "id": thread, "path": path } } })
}

#[test]
fn an_open_thread_whose_agent_changes() {
    let mut driver = with_history();
    driver.command(start("t1", None));
    say(&mut driver, opened(2, "T", "/old"));
    say(&mut driver, accepted());
    say(&mut driver, turn_completed("completed"));
    assert_eq!(
        gist(driver.command(told("t2", Some("T")))),
        ["-> thread/start"]
    );
    assert_eq!(
        say(&mut driver, opened(4, "T2", "/new")),
        ["-> thread/inject_items"]
    );
    assert_eq!(
        say(&mut driver, json!({ "id": 5, "result": {} })),
        ["-> turn/start"]
    );
    assert_eq!(
        say(
            &mut driver,
            json!({ "id": 6, "result": { "turn": { "id": "U2" } } })
        ),
        ["t2 started"]
    );
}

/// The new agent does not know the subagents of the old one.
#[test]
fn its_subagents_are_stopped() {
    let mut driver = with_history();
    driver.command(start("t1", None));
    say(&mut driver, opened(2, "T", "/old"));
    say(&mut driver, accepted());
    let child = json!({ "method": "turn/started", "params": { "threadId": "C", "turn": {
        "id": "V", "rootTurnId": "U", "status": "inProgress" } } });
    say(&mut driver, child);
    say(
        &mut driver,
        json!({ "id": 4, "result": { "thread": { "id": "C" } } }),
    );
    say(&mut driver, turn_completed("completed"));
    // Requests 5 and 6.
    assert_eq!(
        gist(driver.command(told("t2", Some("T")))),
        ["-> turn/interrupt", "C closed", "-> thread/start"]
    );
    assert_eq!(
        say(&mut driver, json!({ "id": 5, "result": {} })),
        ["-> thread/backgroundTerminals/clean"]
    );
    assert_eq!(say(&mut driver, json!({ "id": 7, "result": {} })), NOTHING);
    assert_eq!(
        say(&mut driver, opened(6, "T2", "/new")),
        ["-> thread/inject_items"]
    );
}

#[test]
fn a_resumed_thread() {
    for (path, command, expected) in [
        ("/old", start("t1", Some("T")), "-> turn/start"),
        ("/old", told("t1", Some("T")), "-> thread/start"),
        (
            "/lost",
            told("t1", Some("T")),
            "t1 ended Failed { code: InternalError }",
        ),
    ] {
        let mut driver = with_history();
        assert_eq!(gist(driver.command(command)), ["-> thread/resume"]);
        assert_eq!(say(&mut driver, opened(2, "T", path)), [expected], "{path}");
    }
}

#[test]
fn an_interrupt_while_a_thread_is_begun_anew() {
    let mut driver = with_history();
    driver.command(told("t1", Some("T")));
    say(&mut driver, opened(2, "T", "/old"));
    assert_eq!(
        say(&mut driver, opened(3, "T2", "/new")),
        ["-> thread/inject_items"]
    );
    assert_eq!(gist(driver.command(interrupt())), NOTHING);
    assert_eq!(
        say(&mut driver, json!({ "id": 4, "result": {} })),
        ["t1 ended Interrupted"]
    );
}

#[test]
fn what_codex_refuses() {
    let refused = |id: u64, code: i64, message: &str| json!({ "id": id, "error": { "code": code, "message": message } });
    let invalid = "t1 ended Failed { code: InvalidRequest }";
    let internal = "t1 ended Failed { code: InternalError }";
    for (thread, error, expected) in [
        (
            None,
            refused(2, -32600, "duplicate dynamic tool name: a"),
            invalid,
        ),
        (None, refused(2, -32603, "no"), internal),
        (Some("T"), refused(2, -32600, "no"), internal),
        (
            Some("T"),
            refused(2, -32600, "no rollout found for thread id T"),
            "t1 ended Failed { code: ResourceNotFound }",
        ),
        (None, json!({ "id": 2, "result": {} }), internal),
    ] {
        let mut driver = ready();
        driver.command(start("t1", thread));
        assert_eq!(say(&mut driver, error.clone()), [expected], "{error}");
    }
    let mut driver = starting();
    assert_eq!(say(&mut driver, refused(3, -32600, "no")), [invalid]);
}

#[test]
fn every_request_has_its_time() {
    let now = Instant::now();
    let seconds = |driver: &Driver| {
        driver
            .due()
            .map(|due| (due - now).as_secs_f32().round() as u64)
    };
    let (driver, _) = Driver::new("/workspace", Box::new(|_| None));
    assert_eq!(seconds(&driver), Some(60));
    let mut driver = ready();
    assert_eq!(driver.due(), None);
    driver.command(start("t1", None));
    assert_eq!(seconds(&driver), Some(300), "it may wait for the sandbox");
    let mut driver = starting();
    assert_eq!(seconds(&driver), Some(30));
    say(&mut driver, accepted());
    assert_eq!(driver.due(), None, "a turn takes as long as it takes");
    driver.command(interrupt());
    assert_eq!(seconds(&driver), Some(10));
    let before = driver.due();
    std::thread::sleep(Duration::from_millis(5));
    driver.renew_due();
    assert!(driver.due() > before);
}
