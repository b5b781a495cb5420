//! What clients do with their streams.
use crate::kit::check::wrong_records;
use crate::kit::subject::{Request, Script, Subject};
use crate::support::{script, Gateway, Model};
use serde_json::json;
use std::time::{Duration, Instant};

/// Five creation streams of one client at once: each begins with its session, ends with its turn, and has its words.
#[test]
fn d26_five_streams_at_once() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    std::thread::scope(|scope| {
        for n in 0..5 {
            let acme = &acme;
            scope.spawn(move || {
                let words = format!("Stream {n} has its own words.");
                let steps = [
                    json!({ "shell": format!("echo {n}") }),
                    json!({ "say": words, "drip": 30 }),
                ];
                let mut stream = acme.create_streaming(&script(&format!("go {n}"), &steps));
                let events: Vec<_> = std::iter::from_fn(|| stream.next()).collect();
                assert_eq!(events[0]["type"], "agent.session.created");
                assert_eq!(events.last().unwrap()["type"], "agent.session.idle", "{n}");
                let deltas = events
                    .iter()
                    .filter(|event| event["type"] == "agent.session.turn.output_text.delta");
                let said: String = deltas
                    .map(|event| event["delta"].as_str().unwrap())
                    .collect();
                assert_eq!(said, words);
                let ends = events
                    .iter()
                    .filter(|event| event["type"] == "agent.session.turn.completed");
                assert_eq!(ends.count(), 1);
            });
        }
    });
}

/// Clients that leave while a command writes: the turn goes on and completes, for the client that stays as well, and the
/// Worker has nothing to report.
#[test]
fn c13_clients_that_leave_in_mid_output() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::open(&gateway, "leaving");
    let others: Vec<_> = (0..4)
        .map(|_| subject.client.follow(&subject.id, None).unwrap())
        .collect();
    let shell = json!({ "shell": "for i in $(seq 1 40); do seq $i 2000; sleep 0.1; done", "args": { "yield_time_ms": 30_000 } });
    let script = Script {
        steps: vec![shell, json!({ "say": "Still here." })],
        ..Script::default()
    };
    subject.ask(Request::Turn(script), 1);
    for (n, mut other) in others.into_iter().enumerate() {
        // Each leaves at another event of the output.
        let mut outputs = 0;
        while outputs <= n {
            let event = other.next().expect("an event");
            outputs += usize::from(event["type"] == "agent.output.command_execution_output.delta");
        }
    }
    subject
        .settle(Instant::now() + Duration::from_secs(60))
        .unwrap();
    let turn = subject.client.whole(&subject.id, "turns").pop().unwrap();
    assert_eq!(turn["status"], "completed", "{turn}");
    let log = gateway.log();
    assert!(
        !log.to_lowercase().contains("exception") && !log.contains("Uncaught"),
        "{log}"
    );
    let wrong = wrong_records(&gateway, &model, &[subject]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Two clients go on after the same event, while a turn runs: each gets the rest once, and in order.
#[test]
fn c10_two_clients_go_on_after_the_same_event() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::start(&gateway, "same");
    let first = subject.watcher.seen()[0]["event_id"].clone();
    let drip = json!({ "say": "Some words that take their time.", "drip": 150 });
    let script = Script {
        steps: vec![drip],
        ..Script::default()
    };
    subject.ask(Request::Turn(script), 1);
    let readers = [1, 2].map(|_| {
        let reader = subject.client.follow(&subject.id, first.as_str());
        reader.expect("a stream after an event")
    });
    subject
        .settle(Instant::now() + Duration::from_secs(60))
        .unwrap();
    let stored = gateway.stored_events();
    let at = stored.iter().position(|event| event["event_id"] == first);
    let rest = &stored[at.unwrap() + 1..];
    for mut reader in readers {
        for event in rest {
            assert_eq!(
                reader.next().expect("an event")["event_id"],
                event["event_id"]
            );
        }
    }
    let wrong = wrong_records(&gateway, &model, &[subject]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
