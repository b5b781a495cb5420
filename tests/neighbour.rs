//! Another Worker of the account binds the gateway and its entrypoints, with props of its choice.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

use support::{Gateway, Model};

#[test]
fn forged_props_and_exported_functions_reach_nothing() {
    let model = Model::start();
    let gateway = Gateway::start_with(&model, &["--neighbour", "tests/support/neighbour.mjs"]);
    let answer = ask(gateway.url(), "neighbour.example");
    for (name, result) in answer["called"].as_object().unwrap() {
        let refused = result["refused"].as_str().unwrap_or_default();
        assert!(refused.contains("does not implement"), "{name}: {result}");
    }
    let entrypoints = [
        "forgedHarness",
        "emptyHarness",
        "forgedBackup",
        "emptyBackup",
        "forgedAnnouncement",
        "forgedFetch",
    ];
    for entrypoint in entrypoints {
        assert_eq!(answer[entrypoint]["status"], 403, "{answer}");
        assert!(
            answer[entrypoint]["body"]
                .as_str()
                .unwrap()
                .contains("props_forged"),
            "{answer}"
        );
    }
    assert!(
        answer["forgedSandbox"]["body"]
            .as_str()
            .unwrap()
            .contains("props_forged"),
        "{answer}"
    );
    assert_eq!(answer["withoutKey"]["status"], 401, "{answer}");
    assert_eq!(gateway.objects(), [], "nothing is stored");
    assert!(model.requests().is_empty());
}

/// Miniflare obeys headers that choose a Worker and a URL; they must not make an open proxy of the gateway.
#[test]
fn nobody_dials_out_through_the_runner() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let request = agent
        .get(gateway.url())
        .header("mf-route-override", "outbound");
    let request = request.header("mf-original-url", format!("{}/responses", model.base_url()));
    assert_eq!(request.call().unwrap().status().as_u16(), 404);
    assert!(model.requests().is_empty());
}

/// Asks the Worker that is routed by this Host.
fn ask(url: &str, host: &str) -> serde_json::Value {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let mut response = agent.get(url).header("host", host).call().unwrap();
    let text = response.body_mut().read_to_string().unwrap();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}
