//! What a container may do: HTTP, HTTPS and TCP as workerd says, and DNS.

use serde_json::json;

use crate::{egress::RAW_PORT, world::World};

#[test]
fn carries_http_https_and_raw_tcp_as_workerd_says() {
    let world = World::start();
    let fetch = |host: &str, port: u16, path: &str, ca: Option<&str>| {
        let answer = world.app.probe(
            "fetch",
            &json!({"host": host, "port": port, "path": path, "ca": ca}),
        );
        answer.as_str().unwrap().to_owned()
    };
    let http = fetch("Plain.example", 80, "/a?b=1", None);
    assert!(
        http.ends_with("\r\n\r\nplain.example GET /a?b=1 HTTP/1.1"),
        "{http}"
    );
    let certificate = world.certificate();
    for (host, port) in [
        ("secure.example", 443),
        ("secure.example", 8443),
        ("other.example", 443),
    ] {
        let https = fetch(host, port, "/s", Some(&certificate));
        assert!(
            https.ends_with(&format!("\r\n\r\n{host} GET /s HTTP/1.1")),
            "{host}:{port}: {https}"
        );
    }
    let untrusted = fetch(
        "secure.example",
        443,
        "/s",
        Some(&World::start().certificate()),
    );
    assert!(
        untrusted.starts_with("error:"),
        "another interceptor's authority must not do: {untrusted}"
    );
    let raw = world.app.probe(
        "dial",
        &json!({"host": "11.0.0.9", "port": RAW_PORT, "say": ""}),
    );
    assert_eq!(raw, "got:hello from the server\n");
    let refused = world
        .app
        .probe("dial", &json!({"host": "11.0.0.9", "port": 22, "say": ""}));
    assert_eq!(refused, "ECONNRESET");

    let questions = world.egress.questions();
    for expected in [
        "CONNECT 11.0.0.1:80 HTTP/1.1\r\nHost: 11.0.0.1:80\r\nX-Hostname: plain.example\r\n",
        "CONNECT 11.0.0.1:8443 HTTP/1.1\r\nHost: 11.0.0.1:8443\r\nX-Tls-Sni: secure.example\r\n",
        "CONNECT 11.0.0.9:5432 HTTP/1.1\r\nHost: 11.0.0.9:5432\r\n\r\n",
        "CONNECT 11.0.0.9:22 HTTP/1.1\r\n",
    ] {
        assert!(
            questions
                .iter()
                .any(|question| question.starts_with(expected)),
            "{expected:?} not in {questions:#?}"
        );
    }
}

#[test]
fn dns_answers_every_query_and_only_allowed_names() {
    let world = World::start();
    let parallel = world
        .app
        .probe("lookups", &json!({"name": "a.example", "count": 3000}));
    assert_eq!(parallel, json!({"lost": 0, "wrong": 0}));
    let two_servers = world.app.probe(
        "lookups",
        &json!({"name": "a.example", "count": 500, "connected": false}),
    );
    assert_eq!(two_servers, json!({"lost": 0, "wrong": 0}));
    let threads = world
        .app
        .probe("threads", &json!({"name": "a.example", "count": 500}));
    assert_eq!(threads, json!({"lost": 0}));
    for (name, expected) in [("A.EXAMPLE", 0), ("example", 3), ("a.example.org", 3)] {
        assert_eq!(
            world.app.probe("rcode", &json!({"name": name})),
            expected,
            "{name}"
        );
    }
}
