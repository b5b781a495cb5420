//! Streams go on when what is behind them is restarted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

use serde_json::{json, Value};
use std::collections::HashSet;
use support::{script, Gateway, Model};

/// The text of the message that a stream's deltas make.
fn text(events: &[Value]) -> String {
    let deltas = events
        .iter()
        .filter(|event| event["type"] == "agent.session.turn.output_text.delta");
    deltas.filter_map(|event| event["delta"].as_str()).collect()
}

/// A listener is there before what it listens for: a message that is sent while the stream is being opened is on it.
#[test]
fn c8_a_stream_that_is_opened_before_a_message_has_all_of_it() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let session = acme.session(None);
    let id = session["id"].as_str().unwrap();
    for round in 0..5 {
        // Only the headers are waited for.
        let mut stream = acme.stream(id);
        acme.say(
            id,
            &script("go", &[json!({ "say": format!("Round {round}.") })]),
        );
        let events = stream.until("agent.session.idle");
        assert_eq!(
            events[0]["type"], "agent.session.turn.created",
            "{events:#?}"
        );
        assert_eq!(text(&events), format!("Round {round}."));
        let told = events
            .iter()
            .filter_map(|event| event["environment"]["status"].as_str());
        let expected: &[&str] = match round {
            0 => &["ready", "connected"],
            _ => &[],
        };
        assert_eq!(told.collect::<Vec<_>>(), expected, "one sandbox for all");
    }
}

/// What a deploy does to the objects of a session in the middle of a turn: their instances end, and what is not stored is
/// gone. The client's stream shows each event once, to the end of the turn.
#[test]
fn c7_a_stream_goes_on_when_its_objects_are_replaced() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let words = "One two three four five six seven eight.";
    let steps = [json!({ "say": words, "hold": "first" })];
    let mut stream = acme.create_streaming(&script("go", &steps));
    let mut events = stream.until("agent.session.turn.output_text.delta");
    let id = events[0]["session"]["id"].as_str().unwrap().to_owned();
    for class in ["session", "harness", "session"] {
        let (status, answer) = acme.post_raw(&format!("/__test/abort-{class}/{id}"), "{}");
        assert_eq!(status, 200, "{class} {answer}");
    }
    assert!(model.release("first"), "the model still held its answer");
    events.extend(stream.until("agent.session.idle"));

    assert_eq!(text(&events), words);
    let names: Vec<&str> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    let completed = names
        .iter()
        .filter(|name| **name == "agent.session.turn.completed");
    assert_eq!(completed.count(), 1, "{names:?}");
    let ids: HashSet<&str> = events
        .iter()
        .filter_map(|event| event["event_id"].as_str())
        .collect();
    assert_eq!(ids.len(), events.len(), "each event once");

    // The log has the same, in the same order.
    let first = events[0]["event_id"].as_str().unwrap();
    let mut replay = acme.follow(&id, Some(first)).unwrap();
    let again = replay.until("agent.session.idle");
    assert_eq!(again, events[1..]);
    assert_eq!(acme.settled_turn(&id)["status"], "completed");
}
