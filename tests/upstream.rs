//! The runner's `--upstream`: what stands in for the network in tests gets the Worker's requests as the network would.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::{Forward, Gateway, Model, Upstream};

const CLOSE: &str = "Connection: close\r\n";

#[test]
fn names_go_there_whole_whatever_the_scheme() {
    let (upstream, forward) = start();
    let urls = [
        "https://allowed.example/echo?x=1%20y",
        "http://allowed.example:8080/echo",
        "https://xn--bcher-kva.example:8443/echo",
        "http://localhost:1/echo",
        "http://4.example/echo",
    ];
    for url in urls {
        let echo = json(forward.send("GET", url, CLOSE, ""));
        assert_eq!(echo["url"], url);
    }
    let hosts = [
        "allowed.example",
        "allowed.example:8080",
        "xn--bcher-kva.example:8443",
        "localhost:1",
        "4.example",
    ];
    assert_eq!(upstream.hosts(), hosts);
}

#[test]
fn addresses_do_not_go_there() {
    let (upstream, forward) = start();
    let port = upstream.address().rsplit(':').next().unwrap();
    // Dialled, since the runner may reach them: the request line then has no host.
    for address in ["127.0.0.1", "2130706433", "0x7f.1"] {
        let url = format!("http://{address}:{port}/echo");
        assert_eq!(json(forward.send("GET", &url, CLOSE, ""))["url"], "/echo");
    }
    for address in ["10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]"] {
        let url = format!("http://{address}:{port}/echo");
        let (head, _) = answer(forward.send("GET", &url, CLOSE, ""));
        assert!(head.starts_with("HTTP/1.1 500 "), "{url}: {head}");
    }
    assert_eq!(upstream.requests().len(), 3);
}

#[test]
fn methods_headers_and_bodies_arrive_as_they_were_sent() {
    let (upstream, forward) = start();
    let body = "a body".repeat(10_000);
    let digest = format!("{:x}", Sha256::digest(&body));
    let headers = format!("X-Odd_Name: kept\r\nContent-Length: {}\r\n", body.len());
    for method in ["PUT", "PROPFIND", "DELETE"] {
        let url = "https://a.example/echo";
        let echo = json(forward.send(method, url, &(headers.clone() + CLOSE), &body));
        assert_eq!(echo["method"], method);
        assert_eq!(echo["body_sha256"], digest);
        assert_eq!(header(&echo, "Content-Length"), [body.len().to_string()]);
        assert_eq!(header(&echo, "X-Odd_Name"), ["kept"]);
    }
    let chunked = format!("Transfer-Encoding: chunked\r\n{CLOSE}");
    let body = "6\r\na body\r\n0\r\n\r\n";
    let echo = json(forward.send("POST", "https://a.example/echo", &chunked, body));
    assert_eq!(header(&echo, "Transfer-Encoding"), ["chunked"]);
    assert_eq!(echo["body_bytes"], 6);
    let logged = upstream.requests();
    assert_eq!(logged.len(), 4);
    assert_eq!(logged[3]["headers"], echo["headers"]);
}

#[test]
fn answers_arrive_as_they_were_sent() {
    let (upstream, forward) = start();
    let get = |path: &str| {
        let url = format!("https://a.example{path}");
        answer(forward.send("GET", &url, CLOSE, ""))
    };
    let (head, _) = get("/headers");
    assert!(head.starts_with("HTTP/1.1 200 Fine By Me\r\n"), "{head}");
    assert_eq!(head.matches("Set-Cookie: ").count(), 2, "{head}");
    for line in [
        "X-MiXeD-CaSe: Kept\r\n",
        "x_under.dot!: odd\r\n",
        "X-Twice: one\r\nX-Twice: two\r\n",
    ] {
        assert!(head.contains(line), "{head}");
    }
    for status in [204, 304, 404, 500] {
        let (head, body) = get(&format!("/status/{status}"));
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert_eq!(body.is_empty(), status < 400, "{body:?}");
    }
    for status in [301, 302, 303, 307, 308] {
        let (head, _) = get(&format!(
            "/redirect?to=http%3A%2F%2F10.0.0.1%2F%3Fq&status={status}"
        ));
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert!(
            head.contains("Location: http://10.0.0.1/?q\r\n")
                && head.contains("Set-Cookie: redirected"),
            "{head}"
        );
    }
    let (head, body) = get("/gzip");
    assert!(head.contains("Content-Encoding: gzip\r\n"), "{head}");
    let digest = format!("{:x}", Sha256::digest(&body));
    assert!(
        head.to_lowercase()
            .contains(&format!("x-body-sha256: {digest}\r\n")),
        "{head}"
    );
    let (head, body) = get("/bytes/100000");
    assert!(head.contains("Content-Length: 100000\r\n"), "{head}");
    assert!(
        body.len() == 100_000
            && body
                .iter()
                .enumerate()
                .all(|(at, byte)| usize::from(*byte) == at % 251)
    );
    let (head, _) = get("/chunked/100000");
    assert!(head.contains("Transfer-Encoding: chunked\r\n"), "{head}");
    assert_eq!(
        upstream.hosts(),
        vec!["a.example"; 13],
        "nothing was followed"
    );
}

#[test]
fn bodies_stream_both_ways() {
    let (upstream, forward) = start();
    let started = Instant::now();
    let events = forward.send("GET", "https://a.example/sse?n=3&ms=1000", CLOSE, "");
    let mut events = until(events, "data: event 0\n");
    assert!(started.elapsed() < Duration::from_secs(1), "not at once");
    events = until(events, "data: event 2\n");
    assert!(started.elapsed() >= Duration::from_secs(2));
    drop(events);

    let lines = forward.send("GET", "https://a.example/drip?ms=20", CLOSE, "");
    drop(until(lines, "line 3\n"));
    upstream.wait_for_closed("/drip");

    let length = "Content-Length: 1000\r\n";
    let begun = "x".repeat(100);
    let upload = forward.send("POST", "https://a.example/upload", length, &begun);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(upload_lines(&upstream), 0, "the body has not ended");
    drop(upload);
    let broken = upstream.wait_for_request("/upload");
    assert_eq!(broken["aborted"], true, "{broken}");
    assert_eq!(broken["body_bytes"], 100, "{broken}");
    upstream.wait_for_closed("/upload");

    let early = forward.send("POST", "https://a.example/early", length, &begun);
    drop(until(early, "early\n"));
    let cut = upstream.wait_for_request("/early");
    assert_eq!(cut["body_bytes"], 100, "{cut}");

    let patience = format!("X-Patience: 300\r\n{CLOSE}");
    answer(forward.send("GET", "https://a.example/hang", &patience, ""));
    upstream.wait_for_closed("/hang");
}

#[test]
fn web_sockets_pass() {
    let (upstream, forward) = start();
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
    let socket = forward.send("GET", "https://a.example/ws?ms=100", upgrade, "");
    let mut socket = until(socket, "\r\n\r\n");
    // A text message, masked with zeros.
    socket.write_all(b"\x81\x85\0\0\0\0hello").unwrap();
    socket = until(socket, "hello");
    socket = until(socket, "tick");
    assert_eq!(upstream.wait_for_request("/ws")["method"], "GET");
    assert!(upstream.closed().is_empty());
    drop(socket);
    upstream.wait_for_closed("/ws");
}

#[test]
fn a_gateway_reaches_its_model_beside_it() {
    let model = Model::start();
    let upstream = Upstream::start();
    let gateway = Gateway::start_with_upstream(&model, &upstream);
    let client = gateway.client("acme");
    let session = client.session(Some("hello"));
    let turn = client.settled_turn(session["id"].as_str().unwrap());
    assert_eq!(turn["status"], "completed", "{turn}");
    assert_eq!(model.requests().len(), 1);
    assert!(upstream.requests().is_empty());
}

fn start() -> (Upstream, Forward) {
    let upstream = Upstream::start();
    let forward = Forward::start(&upstream);
    (upstream, forward)
}

fn upload_lines(upstream: &Upstream) -> usize {
    let requests = upstream.requests();
    let uploads = requests.iter().filter(|request| {
        let url = request["url"].as_str().unwrap();
        url.ends_with("/upload")
    });
    uploads.count()
}

/// Head and body of an answer that ends with its connection; chunks are left as they are.
fn answer(mut connection: TcpStream) -> (String, Vec<u8>) {
    let mut all = Vec::new();
    connection.read_to_end(&mut all).unwrap();
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let body = all.split_off(end);
    (String::from_utf8(all).unwrap(), body)
}

fn json(connection: TcpStream) -> Value {
    let (head, body) = answer(connection);
    serde_json::from_slice(&body)
        .unwrap_or_else(|_| panic!("{head}{}", String::from_utf8_lossy(&body)))
}

/// Values of a header that the upstream got.
fn header(request: &Value, name: &str) -> Vec<String> {
    let pairs = request["headers"].as_array().unwrap().iter();
    let pairs = pairs.filter(|pair| pair[0] == name);
    pairs
        .map(|pair| pair[1].as_str().unwrap().to_owned())
        .collect()
}

/// Reads until `text` has come.
fn until(mut connection: TcpStream, text: &str) -> TcpStream {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(text.as_bytes()) {
        let read = connection.read(&mut byte).expect("more of the answer");
        assert_eq!(read, 1, "{}", String::from_utf8_lossy(&seen));
        seen.push(byte[0]);
    }
    connection
}
