//! What callers see without a turn: authentication, tenants, validation, lists.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

use serde_json::json;
use std::time::{Duration, Instant};
use support::{Client, Gateway, Model};

#[test]
fn nothing_is_served_without_a_key() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let good = support::key("acme");
    let cut = &good[..good.len() - 1];
    for key in [
        "",
        "sk-1",
        "x' OR 1=1--",
        cut,
        &format!("{good}A"),
        &good.to_uppercase(),
        &support::key("nobody"),
    ] {
        let client = Client::new(gateway.url(), key);
        for path in [
            "/v1/agents/sessions",
            "/v1/agents/sessions/sess_1",
            "/",
            "/v1/models",
            "/__test/panic",
            "/%2e%2e/",
        ] {
            let (status, body) = client.get(path);
            assert_eq!(
                (status, &body["error"]["code"]),
                (401, &json!("invalid_api_key")),
                "{key} {path} {body}"
            );
        }
    }
}

#[test]
fn e5_the_host_header_decides_nothing() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let url = gateway.url().strip_prefix("http://").unwrap().to_owned();
    for host in ["h/?", "h/#", "acme", "a@b", "localhost/v1"] {
        use std::io::{Read, Write};
        let mut socket = std::net::TcpStream::connect(&url).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        write!(socket, "GET /v1/agents/sessions HTTP/1.1\r\nhost: {host}\r\nopenai-beta: agents=v1\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer);
        let status: u16 = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or(400);
        assert!((400..500).contains(&status), "{host}: {answer}");
    }
}

#[test]
fn e8_tenants_cannot_see_each_other() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let (acme, globex) = (gateway.client("acme"), gateway.client("globex"));
    let session = acme.session(None);
    let id = session["id"].as_str().unwrap().to_owned();
    let missing = format!("sess_{}", "0".repeat(32));
    let message = json!({ "events": [{ "type": "agent.session.input.cancel" }] });
    for path in [
        "",
        "/events",
        "/items",
        "/turns",
        "/turns/turn_00000000000000000000000000000000",
    ] {
        let foreign = globex.get(&format!("/v1/agents/sessions/{id}{path}"));
        let absent = globex.get(&format!("/v1/agents/sessions/{missing}{path}"));
        assert_eq!(foreign.0, 404, "{path}");
        assert_eq!(
            foreign.1.to_string().replace(&id, "ID"),
            absent.1.to_string().replace(&missing, "ID"),
            "{path}"
        );
    }
    assert_eq!(
        globex
            .post(&format!("/v1/agents/sessions/{id}/events"), &message)
            .0,
        404
    );
    assert_eq!(globex.delete(&format!("/v1/agents/sessions/{id}")).0, 404);
    assert_eq!(globex.get("/v1/agents/sessions").1["data"], json!([]));
    assert_eq!(
        globex.get(&format!("/v1/agents/sessions?after={id}")).0,
        400
    );
    assert_eq!(acme.get(&format!("/v1/agents/sessions/{id}")).0, 200);

    // The same class of time: medians of interleaved rounds are within a factor of each other that noise explains.
    let time = |id: &str| {
        let begin = Instant::now();
        assert_eq!(globex.get(&format!("/v1/agents/sessions/{id}")).0, 404);
        begin.elapsed()
    };
    let mut foreign = Vec::new();
    let mut absent = Vec::new();
    for _ in 0..60 {
        foreign.push(time(&id));
        absent.push(time(&missing));
    }
    foreign.sort();
    absent.sort();
    let ratio = foreign[30].as_secs_f64() / absent[30].as_secs_f64();
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
}

#[test]
fn the_beta_header_comes_before_the_key() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let response = ureq::get(format!("{}/v1/agents/sessions", gateway.url()))
        .config()
        .http_status_as_error(false)
        .build()
        .call();
    let mut response = response.unwrap();
    assert_eq!(response.status().as_u16(), 400);
    assert!(response.headers()["x-request-id"]
        .to_str()
        .unwrap()
        .starts_with("req_"));
    let body: serde_json::Value =
        serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap();
    assert_eq!(
        (&body["error"]["type"], &body["error"]["code"]),
        (&json!("invalid_beta"), &json!("invalid_beta"))
    );
}

#[test]
fn bad_requests_name_the_field() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let agent = json!({ "model": "codex" });
    let hosted = json!({ "type": "openai_hosted" });
    let cases = [
        (json!({ "agent": agent }), "environment"),
        (json!({ "environment": hosted }), "agent"),
        (
            json!({ "agent": { "model": "gpt-9" }, "environment": hosted }),
            "agent.model",
        ),
        (
            json!({ "agent": agent, "environment": hosted, "foo": 1 }),
            "foo",
        ),
        (
            json!({ "agent": agent, "environment": { "type": "openai_hosted", "network": { "access": "open" } } }),
            "environment.network.access",
        ),
        (
            json!({ "agent": agent, "environment": { "type": "openai_hosted", "setup_commands": [{}] } }),
            "environment.setup_commands[0].command",
        ),
        (
            json!({ "agent": { "model": "codex", "tools": [{ "type": "function" }] }, "environment": hosted }),
            "agent.tools[0].name",
        ),
        (
            json!({ "agent": agent, "environment": hosted, "stream": true }),
            "input",
        ),
        (
            json!({ "agent": agent, "environment": hosted, "metadata": { "k": 1 } }),
            "metadata.k",
        ),
    ];
    for (body, param) in cases {
        let (status, answer) = acme.post("/v1/agents/sessions", &body);
        assert_eq!(
            (status, &answer["error"]["param"]),
            (400, &json!(param)),
            "{body} {answer}"
        );
    }
    for raw in [
        "",
        "null",
        "[]",
        "{",
        r#"{"agent":{},"agent":{}}"#,
        &"[".repeat(100_000),
    ] {
        let (status, text) = acme.post_raw("/v1/agents/sessions", raw);
        assert_eq!(status, 400, "{text}");
    }
    let (status, _) = acme.post_raw(
        "/v1/agents/sessions",
        &format!("\"{}\"", "x".repeat(5 << 20)),
    );
    assert_eq!(status, 413);
    for (path, status) in [
        ("/v1/agents/sessions/", 404),
        ("/v1/agents/environments", 404),
        ("/v1/vaults", 404),
        ("/v1/agents/sessions?limit=0", 400),
    ] {
        let (got, body) = acme.get(path);
        assert_eq!(got, status, "{path} {body}");
        assert!(body["error"]["message"].is_string());
    }
}

#[test]
fn c17_an_encoded_body_is_not_taken_for_bad_json() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let (status, answer) = acme.post_with(
        "/v1/agents/sessions",
        "\u{1f}\u{8b}",
        &[
            ("content-type", "application/json"),
            ("content-encoding", "gzip"),
        ],
    );
    assert_eq!(status, 415, "{answer}");
    assert!(answer.contains("Content-Encoding"), "{answer}");
}

#[test]
fn h19_a_session_that_is_gone_is_not_listed() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let made: Vec<String> = (0..3)
        .map(|_| acme.session(None)["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        acme.delete(&format!("/v1/agents/sessions/{}", made[1])).0,
        200
    );
    let (_, list) = acme.get("/v1/agents/sessions?order=asc");
    let listed: Vec<&str> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|session| session["id"].as_str())
        .collect();
    assert_eq!(listed, [&made[0], &made[2]]);
    assert_eq!(acme.get(&format!("/v1/agents/sessions/{}", made[1])).0, 404);
}

#[test]
fn e22_lists_page_without_gaps_and_survive_deletion() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let mut made: Vec<String> = (0..7)
        .map(|_| acme.session(None)["id"].as_str().unwrap().to_owned())
        .collect();
    let ids = |page: &serde_json::Value| -> Vec<String> {
        page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let (_, first) = acme.get("/v1/agents/sessions?limit=3");
    assert_eq!(first["has_more"], true);
    let cursor = first["last_id"].as_str().unwrap().to_owned();
    assert_eq!(acme.delete(&format!("/v1/agents/sessions/{cursor}")).0, 200);
    assert_eq!(
        acme.delete(&format!("/v1/agents/sessions/{cursor}")).0,
        200,
        "repeating a delete succeeds"
    );
    let (_, second) = acme.get(&format!("/v1/agents/sessions?limit=3&after={cursor}"));
    let (_, third) = acme.get(&format!(
        "/v1/agents/sessions?limit=3&after={}",
        second["last_id"].as_str().unwrap()
    ));
    assert_eq!(third["has_more"], false);
    let mut seen = [ids(&first), ids(&second), ids(&third)].concat();
    seen.sort();
    made.sort();
    assert_eq!(seen, made);
    assert_eq!(ids(&acme.get("/v1/agents/sessions?limit=100").1).len(), 6);
    assert_eq!(
        ids(&acme.get("/v1/agents/sessions?order=asc&limit=1").1).len(),
        1
    );
}

/// HEAD is served where GET is, and ends also where GET would not.
#[test]
fn head_is_served_and_ends() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let id = acme.session(None)["id"].as_str().unwrap().to_owned();
    for (path, kind) in [
        ("", "application/json"),
        ("/events", "text/event-stream"),
        ("/items", "application/json"),
    ] {
        let request = ureq::head(format!("{}/v1/agents/sessions/{id}{path}", gateway.url()));
        let request = request
            .config()
            .timeout_global(Some(Duration::from_secs(10)))
            .build();
        let request = request.header("authorization", format!("Bearer {}", acme.key()));
        let response = request.header("openai-beta", "agents=v1").call().unwrap();
        assert_eq!(response.status().as_u16(), 200, "{path}");
        assert!(
            response.headers()["content-type"]
                .to_str()
                .unwrap()
                .starts_with(kind),
            "{path}"
        );
    }
}

#[test]
fn g5_lists_filter_by_metadata_and_take_no_patterns() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    for (team, run) in [("a", "1"), ("a", "2"), ("b", "1")] {
        let body = json!({ "agent": { "model": "codex" }, "environment": { "type": "openai_hosted" }, "metadata": { "team": team, "x.y\"z": run } });
        assert_eq!(acme.post("/v1/agents/sessions", &body).0, 201);
    }
    let count = |query: &str| {
        acme.get(&format!("/v1/agents/sessions?{query}")).1["data"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(count("metadata[team]=a"), 2);
    assert_eq!(count("metadata[team]=a&metadata[x.y%22z]=2"), 1);
    assert_eq!(count("metadata[team]=%25"), 0);
    assert_eq!(count("metadata[none]=a"), 0);
}

#[test]
fn e20_a_local_gateway_answers_only_under_its_names() {
    let model = Model::start();
    let gateway = Gateway::start_with(&model, &["--var", "ALLOWED_HOSTS=localhost:8787"]);
    let acme = gateway.client("acme");
    assert_eq!(
        acme.get("/v1/agents/sessions").0,
        403,
        "127.0.0.1 with another port is not its name"
    );
}

/// Fails closed: what an omitted network means and which hosts are the deployment's own is not guessed.
#[test]
fn without_its_settings_for_the_network_no_environment_is_made() {
    let model = Model::start();
    for (name, value) in [("NETWORK_DEFAULT", "restricted"), ("OWN_HOSTS", "")] {
        let gateway = Gateway::start_with(&model, &["--var", &format!("{name}={value}")]);
        let acme = gateway.client("acme");
        let hosted = json!({ "agent": { "model": "codex" }, "environment": { "type": "openai_hosted", "network": { "access": "disabled" } } });
        let (status, answer) = acme.post("/v1/agents/sessions", &hosted);
        assert_eq!(
            (status, &answer["error"]["code"]),
            (500, &json!("internal_error"))
        );
        let line = json!({ "event": "setting_invalid", "setting": name }).to_string();
        support::wait_for(
            "the setting's name in the log",
            Duration::from_secs(5),
            || gateway.log().contains(&line).then_some(()),
        );
        assert_eq!(acme.get("/v1/agents/sessions").1["data"], json!([]));
        let talk = json!({ "agent": { "model": "codex" }, "environment": { "type": "none" }, "input": "hi" });
        assert_eq!(acme.post("/v1/agents/sessions", &talk).0, 201);
    }
}

/// More input than a row holds is refused with a status that says what to do, whether it comes at once or waits.
#[test]
fn h14_input_that_does_not_fit_is_refused() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let id = acme.session(None)["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/agents/sessions/{id}/events");
    let message = |bytes: usize| {
        let part = json!({ "type": "input_text", "text": "x".repeat(bytes) });
        json!({ "events": [{ "type": "agent.session.input.message", "input": [{ "role": "user", "content": [part.clone(), part] }] }] })
    };
    assert_eq!(acme.post(&path, &message(900_000)).0, 413);
    // The first begins a turn; what comes while it starts waits, until as much waits as may.
    let statuses: Vec<u16> = (0..6)
        .map(|_| acme.post(&path, &message(300_000)).0)
        .collect();
    assert_eq!(statuses[..2], [202, 202], "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    let cancel = json!({ "events": [{ "type": "agent.session.input.cancel" }] });
    assert_eq!(acme.post(&path, &cancel).0, 202);
    assert_eq!(acme.settled_turn(&id)["status"], "cancelled");
}
