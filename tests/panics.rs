//! A panic ends one request.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

use serde_json::json;
use support::{script, Gateway, Model};

#[test]
fn g1_a_panic_ends_one_request_and_nothing_else() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let (acme, globex) = (gateway.client("acme"), gateway.client("globex"));
    // Another tenant's turn: its SSE stream at the Gateway, its stream from the session's Durable Object, its link.
    let mut stream = acme.create_streaming(&script(
        "go",
        &[json!({ "say": "One two three.", "hold": "word" })],
    ));
    stream.until("agent.session.turn.output_text.delta");
    for _ in 0..5 {
        let (status, body) = globex.get("/__test/panic");
        assert_eq!(
            (status, &body["error"]["type"]),
            (500, &json!("server_error")),
            "{body}"
        );
    }
    assert_eq!(
        globex.get("/v1/agents/sessions").0,
        200,
        "the next request works"
    );
    assert!(model.release("word"));
    let events = stream.until("agent.session.turn.completed");
    let deltas: String = events
        .iter()
        .filter(|event| event["type"] == "agent.session.turn.output_text.delta")
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(deltas, "two three.");
    stream.until("agent.session.idle");
}
