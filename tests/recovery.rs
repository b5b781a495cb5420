//! Nothing is lost when the Worker's process is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

#[path = "recovery/cancels.rs"]
mod cancels;
#[path = "recovery/clients.rs"]
mod clients;
#[path = "recovery/kit.rs"]
mod kit;
#[path = "recovery/starts.rs"]
mod starts;
#[path = "recovery/workers.rs"]
mod workers;

use serde_json::json;
use std::collections::HashSet;
use std::time::Duration;
use support::{script, Gateway, Model};

/// SIGKILL of the Worker's process in the middle of a turn: the containers go on, the next process takes them over, and the
/// turn completes with every item once.
#[test]
fn a_turn_survives_the_workers_process() {
    let model = Model::start();
    let mut gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let steps = [
        json!({ "shell": "echo one; sleep 6; echo two" }),
        json!({ "shell": "echo three" }),
        json!({ "say": "Whole." }),
    ];
    let session = acme.session(Some(&script("go", &steps)));
    let id = session["id"].as_str().unwrap().to_owned();
    support::wait_for("the first command", Duration::from_secs(40), || {
        acme.items(&id)
            .iter()
            .any(|item| item["type"] == "command_execution")
            .then_some(())
    });
    let (harness, sandbox) = (gateway.docker().harness(), gateway.docker().sandbox());
    gateway.kill();
    std::thread::sleep(Duration::from_secs(2));
    gateway.restart();
    let acme = gateway.client("acme");
    let turn = acme.settled_turn(&id);
    assert_eq!(turn["status"], "completed", "{turn}");
    assert_eq!(
        (gateway.docker().harness(), gateway.docker().sandbox()),
        (harness, sandbox),
        "the containers were taken over"
    );
    let items = acme.items(&id);
    let outputs: Vec<_> = items
        .iter()
        .filter_map(|item| item["output"].as_str())
        .collect();
    assert_eq!(outputs, ["one\ntwo\n", "three\n"], "{items:#?}");
    let ids: HashSet<_> = items
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), items.len());
    assert_eq!(items.last().unwrap()["content"][0]["text"], "Whole.");
}

/// A harness that dies in mid-turn: the turn fails with a code and is not run again; the session goes on.
#[test]
fn a_lost_harness_fails_its_turn_once() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let session = acme.session(Some(&script(
        "go",
        &[json!({ "wait": "held", "say": "never" })],
    )));
    let id = session["id"].as_str().unwrap();
    support::wait_for("the model call", Duration::from_secs(40), || {
        (!model.requests().is_empty()).then_some(())
    });
    support::docker(&["kill", &gateway.docker().harness()]);
    let turn = acme.settled_turn(id);
    assert_eq!(
        (&turn["status"], &turn["error"]["code"]),
        (&json!("failed"), &json!("internal_error"))
    );
    assert_eq!(model.requests().len(), 1, "not run again");
    acme.say(id, &script("again", &[json!({ "say": "Here." })]));
    assert_eq!(acme.settled_turn(id)["status"], "completed");
}

/// A client that used its Idempotency-Key before a crash is answered the same after it.
#[test]
fn idempotency_keys_survive() {
    let model = Model::start();
    let mut gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let session = acme.session(None);
    let path = format!(
        "/v1/agents/sessions/{}/events",
        session["id"].as_str().unwrap()
    );
    let message = |text: &str| {
        json!({ "events": [{ "type": "agent.session.input.message", "input": [{ "role": "user", "content": [{ "type": "input_text", "text": text }] }] }] }).to_string()
    };
    let key = [("idempotency-key", "k1")];
    assert_eq!(acme.post_with(&path, &message("hello"), &key).0, 202);
    assert_eq!(
        acme.settled_turn(session["id"].as_str().unwrap())["status"],
        "completed"
    );
    gateway.kill();
    gateway.restart();
    let acme = gateway.client("acme");
    assert_eq!(acme.post_with(&path, &message("hello"), &key).0, 202);
    assert_eq!(acme.post_with(&path, &message("other"), &key).0, 409);
    std::thread::sleep(Duration::from_millis(500));
    let items = acme.items(session["id"].as_str().unwrap());
    assert_eq!(
        items.iter().filter(|item| item["role"] == "user").count(),
        1
    );
}

/// When nothing was asked for a while both containers end, and nothing is left that would wake the session or that grows;
/// the next turn starts new ones.
#[test]
fn d22_an_idle_session_costs_no_container() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let acme = gateway.client("acme");
    let session = acme.session(Some(&script("go", &[json!({ "say": "Hi." })])));
    let id = session["id"].as_str().unwrap();
    assert_eq!(acme.settled_turn(id)["status"], "completed");
    let running = |image: &str| {
        gateway
            .docker()
            .running(&std::env::var(image).unwrap())
            .len()
    };
    assert_eq!(
        (
            running("CLOISTER_HARNESS_IMAGE"),
            running("CLOISTER_SANDBOX_IMAGE")
        ),
        (1, 1),
        "both stay warm"
    );
    kit::campaign::nothing_is_left(&gateway);
    // Objects that nobody asks are evicted after ten seconds; their files are tidied then.
    std::thread::sleep(Duration::from_secs(13));
    let quiet = || (gateway.stored_bytes(), gateway.log());
    let before = quiet();
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(quiet(), before);
    acme.say(
        id,
        &script(
            "again",
            &[json!({ "shell": "echo new" }), json!({ "say": "Here." })],
        ),
    );
    assert_eq!(acme.settled_turn(id)["status"], "completed");
}

/// Twenty blows at random moments to four sessions at work, of every kind that there is: each accepted input counts once,
/// each turn ends once, no event is missing or comes twice, nothing is left behind, and every session stays usable.
#[test]
fn twenty_seeded_kills() {
    kit::campaign::campaign(1);
}
