//! The interceptor's own port: who may use it, and what it changes.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::json;

use crate::{
    docker::{docker, Container},
    egress::Egress,
    world::{eventually, gateway, probe_image, World, APP_PORT},
};

#[test]
fn the_app_cannot_use_the_control_port() {
    let world = World::start();
    let mark = world
        .app
        .probe("learn_mark", &json!({"gateway": gateway()}));
    for mark in [json!(0), mark] {
        let tried = world.app.probe(
            "spoofed_control",
            &json!({"own": world.address, "gateway": gateway(), "mark": mark}),
        );
        assert_eq!(tried["answered"], 0, "{mark}: {tried}");
    }
    for host in ["127.0.0.1", "127.1.2.3", "0.0.0.0", world.address.as_str()] {
        let outcome = world.app.probe(
            "dial",
            &json!({"host": host, "port": 39001, "say": "GET /ca HTTP/1.1\r\n\r\n"}),
        );
        assert_eq!(outcome, "ECONNREFUSED", "{host}");
    }
    // The redirect ports, found by trying all: none answers to a direct connection, none is asked about.
    let before = world.egress.questions().len();
    let rules = docker(&["exec", world.sidecar.name(), "nft", "list", "ruleset"]);
    let port: u16 = rules
        .split("redirect to :")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .parse()
        .unwrap();
    for host in ["127.0.0.1", world.address.as_str()] {
        let outcome = world
            .app
            .probe("dial", &json!({"host": host, "port": port, "say": "x"}));
        assert_eq!(outcome, "ECONNREFUSED", "{host}:{port}");
    }
    assert_eq!(world.egress.questions().len(), before);
    // workerd still gets in, also through the published port.
    let mut published = TcpStream::connect(("127.0.0.1", world.published())).unwrap();
    published
        .write_all(b"GET /ca HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let mut response = String::new();
    published.read_to_string(&mut response).unwrap();
    assert!(response.contains("BEGIN CERTIFICATE"), "{response}");
}

#[test]
fn another_container_cannot_use_the_control_port() {
    let world = World::start();
    let plain = Container::run(&[probe_image(), "wait"]);
    plain.wait_for("ready");
    let outcome = plain.probe(
        "dial",
        &json!({"host": world.address, "port": 39001, "say": "GET /ca HTTP/1.1\r\n\r\n"}),
    );
    assert_eq!(outcome, "timed out");
}

#[test]
fn workerd_reaches_the_app_and_nothing_else() {
    let world = World::start();
    let connect = |target: &str| {
        format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\nX-Dst-Addr: {target}\r\n\r\n")
    };
    let refused = world.ask(&connect("127.0.0.1:8000"));
    assert!(
        refused.starts_with("HTTP/1.1 400"),
        "nothing listens yet: {refused}"
    );
    let config = json!({"port": APP_PORT}).to_string();
    docker(&[
        "exec",
        "--detach",
        world.app.name(),
        "python3",
        "/probe.py",
        "serve",
        &config,
    ]);
    for target in [
        "127.0.0.1:8000".to_owned(),
        format!("{}:8000", world.address),
    ] {
        eventually("the app listens", || {
            let mut stream = world.request(&(connect(&target) + "ping"));
            let mut answer = [0; 23];
            stream.read_exact(&mut answer).is_ok() && answer == *b"HTTP/1.1 200 OK\r\n\r\nping"
        });
    }
    for target in [
        "127.0.0.1:39001".to_owned(),
        format!("{}:80", gateway()),
        "11.0.0.1:80".to_owned(),
        "x".to_owned(),
    ] {
        let answer = world.ask(&connect(&target));
        assert!(answer.starts_with("HTTP/1.1 400"), "{target}: {answer}");
    }
}

#[test]
fn a_new_egress_port_replaces_the_old_one() {
    let world = World::start();
    let next = Egress::listen(gateway());
    let fetch = || {
        world.app.probe(
            "fetch",
            &json!({"host": "a.example", "port": 80, "path": "/"}),
        )
    };
    assert!(
        fetch().as_str().unwrap().contains("a.example GET"),
        "before"
    );
    let before = world.egress.questions().len();
    let status = world.put(&json!({"port": next.port}));
    assert!(status.starts_with("HTTP/1.1 204"), "{status}");
    assert!(fetch().as_str().unwrap().contains("a.example GET"), "after");
    assert_eq!(
        (world.egress.questions().len(), next.questions().len()),
        (before, 1)
    );
    // The names allowed before still are; the old port is now like any other.
    let mark = world
        .app
        .probe("learn_mark", &json!({"gateway": gateway()}));
    let say = "CONNECT 11.0.0.1:80 HTTP/1.1\r\nX-Hostname: a.example\r\n\r\n";
    let outcome = world.app.probe(
        "dial",
        &json!({"host": gateway(), "port": world.egress.port, "say": say, "mark": mark}),
    );
    assert_eq!(
        (outcome, world.egress.questions().len()),
        (json!("ECONNRESET"), before)
    );
    for body in ["{\"port\":0}", "{\"port\":70000}", "[]", "{"] {
        let answer = world.ask(&format!(
            "PUT /egress HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        assert!(answer.starts_with("HTTP/1.1 400"), "{body}: {answer}");
    }
}

#[test]
fn a_signal_ends_it_and_the_app_stays_shut_in() {
    let world = World::start();
    docker(&["kill", "--signal", "TERM", world.sidecar.name()]);
    eventually("it ends", || {
        world.sidecar.field("{{.State.Running}}") == "false"
    });
    assert_eq!(world.sidecar.field("{{.State.ExitCode}}"), "0");
    let outcome = world.app.probe(
        "dial",
        &json!({"host": gateway(), "port": world.egress.port, "say": "x"}),
    );
    // The engine takes the interface away; if it were still there, the rules would be too.
    assert!(
        ["ENETUNREACH", "ECONNREFUSED"].contains(&outcome.as_str().unwrap()),
        "{outcome}"
    );
}
