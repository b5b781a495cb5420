//! The Worker's process is killed at awkward moments.
use crate::kit::check::wrong_records;
use crate::kit::subject::{Request, Script, Subject};
use crate::support::{wait_for, Gateway, Model};
use serde_json::json;
use std::time::{Duration, Instant};

fn turn(n: u64) -> Request {
    let words = format!("Answer {n}.");
    let steps = vec![
        json!({ "shell": "echo ran", "args": { "yield_time_ms": 30_000 } }),
        json!({ "say": words }),
    ];
    Request::Turn(Script {
        steps,
        words,
        ..Script::default()
    })
}

/// SIGKILL while a message is on its way, and right after it was accepted. Sent again with its key, it counts once.
#[test]
fn d1_a_message_counts_once_however_the_process_dies() {
    let model = Model::start();
    let mut gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::open(&gateway, "once");
    for (n, ms) in (0..).zip([2, 20]) {
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| subject.ask(turn(n), n));
            std::thread::sleep(Duration::from_millis(ms));
            gateway.kill();
            gateway.restart();
            asking.join().unwrap();
        });
        subject
            .settle(Instant::now() + Duration::from_secs(60))
            .unwrap();
    }
    for n in 2..4 {
        subject.ask(turn(n), n);
        gateway.kill();
        gateway.restart();
        subject
            .settle(Instant::now() + Duration::from_secs(60))
            .unwrap();
    }
    let turns = subject.client.whole(&subject.id, "turns");
    let statuses: Vec<_> = turns
        .iter()
        .map(|turn| turn["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["completed"; 4]);
    let wrong = wrong_records(&gateway, &model, &[subject]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first request of a new process starts a turn at once: what looks after an earlier process's turns leaves it alone.
#[test]
fn d4_a_turn_that_begins_with_the_process_is_kept() {
    let model = Model::start();
    let mut gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::start(&gateway, "first");
    for n in 1..3 {
        gateway.kill();
        gateway.restart();
        subject.ask(turn(n), n);
        subject
            .settle(Instant::now() + Duration::from_secs(60))
            .unwrap();
        let turns = subject.client.whole(&subject.id, "turns");
        assert_eq!(turns.last().unwrap()["status"], "completed", "{turns:#?}");
    }
    let wrong = wrong_records(&gateway, &model, &[subject]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The process is replaced in the middle of a turn: the client's stream goes on where it was, without a gap and without a
/// double, and the turn completes.
#[test]
fn a_stream_goes_on_when_the_process_is_replaced() {
    let model = Model::start();
    let mut gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::start(&gateway, "goes-on");
    let patient = json!({ "yield_time_ms": 30_000 });
    let steps = vec![
        json!({ "shell": "echo one; sleep 6; echo two", "args": patient }),
        json!({ "say": "These words come one after another.", "drip": 100 }),
    ];
    subject.ask(
        Request::Turn(Script {
            steps,
            ..Script::default()
        }),
        1,
    );
    let begun = subject.watcher.seen().len();
    wait_for("the command", Duration::from_secs(30), || {
        let seen = subject.watcher.seen();
        let item = |event: &serde_json::Value| event["item"]["type"] == "command_execution";
        seen[begun..].iter().any(item).then_some(())
    });
    gateway.kill();
    gateway.restart();
    subject
        .settle(Instant::now() + Duration::from_secs(60))
        .unwrap();
    let turns = subject.client.whole(&subject.id, "turns");
    assert_eq!(turns.last().unwrap()["status"], "completed", "{turns:#?}");
    assert_eq!(subject.watcher.connections(), 2);
    let wrong = wrong_records(&gateway, &model, &[subject]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
