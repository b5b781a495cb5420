//! What a provider does to its answers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

use serde_json::json;
use support::{script, Gateway, Model};

/// However an answer is cut into pieces, also within a character, it is whole at the client.
#[test]
fn c1_c2_an_answer_in_single_bytes_is_whole() {
    let words = "Zwölf Bäume, 十二本の木, 🌳🌳 and \u{feff}no mark.";
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let steps = [json!({ "say": words, "bytes": true })];
    let mut stream = gateway
        .client("acme")
        .create_streaming(&script("go", &steps));
    let events = stream.until("agent.session.idle");
    let deltas = events
        .iter()
        .filter(|event| event["type"] == "agent.session.turn.output_text.delta");
    let text: String = deltas.filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(text, words);
    let done = events
        .iter()
        .find(|event| event["type"] == "agent.session.turn.output_text.done");
    assert_eq!(done.unwrap()["text"], words);
}

/// An answer that ends before the provider has said that it is whole is asked for again, and never taken for whole.
#[test]
fn c5_an_answer_that_ends_early_is_no_success() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let steps = [json!({ "say": "Half of it.", "cut": true })];
    let session = acme.session(Some(&script("go", &steps)));
    let id = session["id"].as_str().unwrap();
    let turn = acme.settled_turn(id);
    assert_eq!(turn["status"], "failed", "{turn}");
    assert!(turn["error"]["code"].is_string(), "{turn}");
    assert!(model.requests().len() > 1, "it was asked for again");
}

/// The usage that counts is the one that the provider says last, once for each call.
#[test]
fn c16_the_usage_is_the_providers_last_word() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let steps = [json!({ "shell": "true" }), json!({ "say": "Done." })];
    let session = acme.session(Some(&script("go", &steps)));
    let id = session["id"].as_str().unwrap();
    let turn = acme.settled_turn(id);
    let usage = &turn["usage"];
    assert_eq!(usage["input_tokens"], 2 * 1200, "{turn}");
    assert_eq!(usage["output_tokens"], 2 * 34);
    assert_eq!(usage["input_tokens_details"]["cached_tokens"], 2 * 1000);
    let (_, session) = acme.get(&format!("/v1/agents/sessions/{id}"));
    assert_eq!(&session["usage"], usage);
}

/// A provider that leads elsewhere is not followed, whatever the kind of redirect: another host would get the credential.
#[test]
fn h11_a_provider_that_redirects_is_not_followed() {
    let model = Model::start();
    let elsewhere = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    for status in [301, 302, 303, 307, 308] {
        let location = format!("{}/responses", elsewhere.base_url());
        let redirect = json!({ "http": status, "headers": { "location": location }, "body": {} });
        let session = acme.session(Some(&script("go", &[redirect])));
        let turn = acme.settled_turn(session["id"].as_str().unwrap());
        assert_eq!(turn["status"], "failed", "{status}: {turn}");
    }
    assert!(elsewhere.requests().is_empty());
    assert_eq!(model.requests().len(), 5, "nor is it asked again");
}
