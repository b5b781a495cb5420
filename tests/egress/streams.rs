//! What passes through the border is not touched: bodies byte by byte and in their time, heads as they were, both ways.
use crate::kit::World;
use crate::raw::{head, Try};
use serde_json::json;
use sha2::{Digest, Sha256};

const CURL: &str = "curl -s -m 60 --cacert /etc/cloudflare/certs/cloudflare-containers-ca.crt";
const BIG: usize = 30_000_000;

fn hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the upstream sends for so many bytes.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

#[test]
fn bodies_come_through_byte_by_byte_both_ways() {
    let world = World::allowing(&["allowed.example"]);
    for (scheme, path, bytes) in [
        ("http", "bytes", BIG),
        ("https", "bytes", BIG),
        ("http", "chunked", BIG),
        ("https", "chunked", 1_000_003),
        ("http", "bytes", 0),
        ("https", "chunked", 0),
        ("http", "bytes", 1),
    ] {
        let said = world.shell(&format!(
            "{CURL} -D /tmp/head {scheme}://allowed.example/{path}/{bytes} | sha256sum; cat /tmp/head"
        ));
        let (sum, head) = said.split_once("  -\n").unwrap();
        assert_eq!(sum, hex(&pattern(bytes)), "{path}/{bytes}");
        let frame = match path {
            "bytes" => format!("content-length: {bytes}"),
            _ if bytes == 0 => String::new(),
            _ => "transfer-encoding: chunked".to_owned(),
        };
        assert!(head.to_lowercase().contains(&frame), "{path}: {head}");
    }
    let sum = world.shell(&format!(
        "head -c {BIG} /dev/urandom >/tmp/up; sha256sum </tmp/up"
    ));
    let sum = sum.split(' ').next().unwrap();
    for (scheme, more) in [
        ("http", ""),
        ("https", ""),
        ("http", "-H 'transfer-encoding: chunked'"),
        ("https", "-H 'transfer-encoding: chunked' -X PATCH"),
        ("http", "-H 'expect: 100-continue' -X POST"),
    ] {
        let answer = world.shell(&format!(
            "{CURL} {more} -T /tmp/up {scheme}://allowed.example/upload"
        ));
        let seen: serde_json::Value =
            serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{more}: {answer}"));
        assert_eq!(
            (seen["body_bytes"].as_u64(), &seen["body_sha256"]),
            (Some(BIG as u64), &json!(sum)),
            "{scheme} {more}"
        );
    }
    let requests = world.upstream.requests();
    let framed = |name: &str| {
        let of = |request: &serde_json::Value| {
            request["headers"]
                .as_array()
                .unwrap()
                .iter()
                .any(|pair| pair[0].as_str().unwrap().eq_ignore_ascii_case(name))
        };
        requests
            .iter()
            .filter(|request| request["body_bytes"] == BIG && of(request))
            .count()
    };
    assert_eq!(
        (framed("content-length"), framed("transfer-encoding")),
        (3, 2),
        "as the client framed it"
    );
}

#[test]
fn answers_keep_their_coding_status_and_head() {
    let world = World::allowing(&["allowed.example"]);
    for scheme in ["http", "https"] {
        let url = format!("{scheme}://allowed.example");
        // A coded body is not decoded on the way, whether or not its reader said that it could.
        for accepts in [
            "",
            "-H 'accept-encoding: gzip'",
            "-H 'accept-encoding: identity'",
        ] {
            let said = world.shell(&format!(
                "{CURL} -D /tmp/head {accepts} {url}/gzip | sha256sum; cat /tmp/head"
            ));
            let (sum, head) = said.split_once("  -\n").unwrap();
            let head = head.to_lowercase();
            assert!(
                head.contains(&format!("x-body-sha256: {sum}"))
                    && head.contains("content-encoding: gzip"),
                "{said}"
            );
        }
        assert_eq!(
            world.shell(&format!("{CURL} --compressed {url}/gzip")),
            "cloister ".repeat(1000)
        );
        for status in [
            200, 201, 203, 206, 299, 400, 401, 404, 418, 429, 500, 502, 503, 599,
        ] {
            let answer = world.curl(&format!("{url}/status/{status}"));
            assert_eq!(
                (answer.status, answer.body),
                (status, format!("status {status}\n")),
                "{}",
                answer.head
            );
        }
        for status in [204, 304] {
            let answer = world.curl(&format!("-w '%{{size_download}}' {url}/status/{status}"));
            assert_eq!(
                (answer.status, answer.body.as_str()),
                (status, "0"),
                "{answer:?}"
            );
        }
        let answer = world.curl(&format!("-I -w '%{{size_download}}' {url}/bytes/12345"));
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, "0"),
            "{answer:?}"
        );
        assert!(
            answer.head.to_lowercase().contains("content-length: 12345"),
            "{answer:?}"
        );
        let answer = world.curl(&format!(
            "-X PROPFIND -H 'depth: 1' --data-binary '<propfind/>' {url}/echo"
        ));
        assert_eq!(
            (
                answer.status,
                &answer.json()["method"],
                &answer.json()["body_bytes"]
            ),
            (200, &json!("PROPFIND"), &json!(11))
        );
        assert!(
            answer.json()["headers"]
                .as_array()
                .unwrap()
                .contains(&json!(["depth", "1"])),
            "{answer:?}"
        );
        let answer = world.curl(&format!("-X OPTIONS {url}/echo"));
        assert_eq!(answer.json()["method"], "OPTIONS");
        let answer = world.curl(&format!("{url}/headers"));
        assert!(
            answer.head.starts_with("HTTP/1.1 200 Fine By Me\r\n"),
            "{answer:?}"
        );
    }
}

#[test]
fn events_come_when_they_are_sent() {
    let world = World::allowing(&["allowed.example"]);
    for scheme in ["http", "https"] {
        let said = world.shell(&format!(
            "SSL_CERT_FILE=/etc/cloudflare/certs/cloudflare-containers-ca.crt python3 -c '
import time, urllib.request
r = urllib.request.urlopen(\"{scheme}://allowed.example/sse?n=6&ms=400\")
assert r.headers.get_content_type() == \"text/event-stream\", r.headers
start, text, at = time.time(), b\"\", []
while line := r.readline():
    text += line
    if line.startswith(b\"data\"): at.append(time.time() - start)
assert text == b\"\".join(b\"id: %d\\ndata: event %d\\n\\n\" % (n, n) for n in range(6)), text
print(min(b - a for a, b in zip(at, at[1:])) > 0.1, at[0] < 0.4, at[-1] > 1.5)'"
        ));
        assert_eq!(said, "True True True\n");
    }
}

/// A WebSocket made by hand: each message comes back as it was, the close too.
const SOCKET: &str = r#"
import base64, hashlib, os, socket, ssl, struct, sys
tls = sys.argv[1] == "https"
s = socket.create_connection(("allowed.example", 443 if tls else 80), 10)
if tls:
    s = ssl.create_default_context(cafile="/etc/cloudflare/certs/cloudflare-containers-ca.crt").wrap_socket(s, server_hostname="allowed.example")
key = base64.b64encode(os.urandom(16)).decode()
s.sendall(f"GET /ws HTTP/1.1\r\nHost: allowed.example\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
f = s.makefile("rb")
status, head = f.readline(), {}
while (line := f.readline()) != b"\r\n":
    name, _, value = line.decode().partition(":")
    head[name.lower()] = value.strip()
accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
assert status.startswith(b"HTTP/1.1 101 "), status
assert head["sec-websocket-accept"] == accept and head["upgrade"].lower() == "websocket", head
def send(kind, data):
    mask, n = os.urandom(4), len(data)
    size = bytes([128 | n]) if n < 126 else struct.pack("!BH", 254, n) if n < 65536 else struct.pack("!BQ", 255, n)
    s.sendall(bytes([128 | kind]) + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))
def receive():
    kind, data = None, b""
    while True:
        a, n = f.read(2)
        n = n if n < 126 else struct.unpack("!H", f.read(2))[0] if n == 126 else struct.unpack("!Q", f.read(8))[0]
        kind, data = kind or a & 15, data + f.read(n)
        if a & 128:
            return kind, data
for kind, data in [(1, b"text"), (2, bytes(range(256))), (1, b""), (2, os.urandom(300)), (2, os.urandom(200000))]:
    send(kind, data)
    assert receive() == (kind, data), (kind, len(data))
send(8, struct.pack("!H", 4321) + b"bye")
kind, data = receive()
print(kind, struct.unpack("!H", data[:2])[0])
"#;

#[test]
fn websockets_carry_both_kinds_of_messages_and_end_as_they_are_closed() {
    let world = World::allowing(&["allowed.example"]);
    for scheme in ["http", "https"] {
        let said = crate::support::docker(&[
            "exec",
            "-u",
            "0",
            &world.sandbox,
            "python3",
            "-c",
            SOCKET,
            scheme,
        ]);
        assert_eq!(said, "8 4321\n", "{scheme}");
        world
            .upstream
            .wait_for_closed(&format!("{scheme}://allowed.example/ws"));
    }
    // One that the policy refuses is refused like any request.
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let request = |host: &str, target: &str| {
        Try::plain(format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\n{upgrade}\r\n"
        ))
    };
    world.judges(&[
        (request("evil.example", "/ws"), "host_not_allowed"),
        (request("model.internal", "/ws"), "name_reserved"),
        (
            request("allowed.example", "http://evil.example/ws"),
            "host_mismatch",
        ),
        // The server may have none there.
        (request("allowed.example", "/host"), "404"),
    ]);
    world.reached_only(&["allowed.example"]);
}

#[test]
fn either_side_may_end_it_early() {
    let world = World::allowing(&["allowed.example"]);
    for scheme in ["http", "https"] {
        let said = world.shell(&format!(
            "head -c 5000000 /dev/zero | {CURL} -T - {scheme}://allowed.example/early"
        ));
        assert_eq!(said, "early\n");
        // Who waits in vain leaves, and the host learns of it.
        for (path, line) in [
            ("drip", format!("{CURL} -m 1 -N {scheme}://allowed.example/drip >/dev/null; echo $?")),
            ("bytes", format!("{CURL} -m 1 --limit-rate 10k {scheme}://allowed.example/bytes/{BIG} >/dev/null; echo $?")),
        ] {
            assert_eq!(world.shell(&line), "28\n", "{line}");
            world.upstream.wait_for_closed(&format!("{scheme}://allowed.example/{path}"));
        }
        world.shell(&format!("head -c {BIG} /dev/zero | {CURL} -m 1 --limit-rate 100k -T - {scheme}://allowed.example/upload"));
        let upload = world
            .upstream
            .wait_for_request(&format!("{scheme}://allowed.example/upload"));
        assert_eq!(upload["aborted"], true, "{upload}");
    }
    // None of them has taken anything from those that follow.
    assert_eq!(
        world.curl("http://allowed.example/host").body,
        "allowed.example"
    );
}

#[test]
fn chains_of_redirects_go_from_hop_to_hop() {
    let world = World::allowing(&["a.example", "b.example"]);
    let coded = |url: &str| -> String { url.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    let to = |host: &str, next: &str| format!("{host}/redirect?to={}", coded(next));
    let (third, second) = (
        "http://a.example/host",
        to("https://b.example", "http://a.example/host"),
    );
    let first = to("http://a.example", &second);
    let said = world.shell(&format!(
        "{CURL} -L -w ' %{{num_redirects}} %{{url_effective}}' '{}'",
        to("https://a.example", &first)
    ));
    assert_eq!(said, format!("a.example 3 {third}"));
    assert_eq!(
        world.upstream.hosts(),
        ["a.example", "a.example", "b.example", "a.example"]
    );
    // A loop is its reader's to end.
    let said = world.shell(&format!("{CURL} -L --max-redirs 3 -o /dev/null -w '%{{num_redirects}}' 'http://a.example/redirect?to=%2Fredirect%3Fto%3D%2Fredirect'; echo \" $?\""));
    assert!(said.starts_with('2') || said.starts_with('3'), "{said}");
    world.reached_only(&["a.example", "b.example"]);
}

#[test]
fn forty_at_once_all_get_their_own_answer_and_are_counted() {
    let world = World::allowing(&["allowed.example"]);
    let said = world.shell(
        "SSL_CERT_FILE=/etc/cloudflare/certs/cloudflare-containers-ca.crt python3 -c '
import hashlib, http.client, ssl, threading
wrong, barrier = [], threading.Barrier(40)
def go(n):
    try:
        make = http.client.HTTPSConnection if n % 2 else http.client.HTTPConnection
        c = make(\"allowed.example\", timeout=60)
        c.connect()
        barrier.wait()
        for k in range(5):
            size = 1000 * n + k
            c.request(\"GET\", \"/%s/%d\" % (\"bytes\" if k % 2 else \"chunked\", size))
            r = c.getresponse(); b = r.read()
            if r.status != 200 or b != bytes(i % 251 for i in range(size)): wrong.append((n, k, r.status, len(b)))
            body = b\"%d %d\" % (n, k)
            c.request(\"POST\", \"/upload\", body)
            r = c.getresponse(); b = r.read()
            if hashlib.sha256(body).hexdigest().encode() not in b: wrong.append((n, k, b))
        c.request(\"GET\", \"/host\", headers={\"host\": \"evil.example\"})
        r = c.getresponse(); r.read()
        if r.status != 403: wrong.append((n, r.status))
    except Exception as e:
        wrong.append((n, repr(e)))
threads = [threading.Thread(target=go, args=(n,)) for n in range(40)]
for t in threads: t.start()
for t in threads: t.join()
print(wrong)'",
    );
    assert_eq!(said, "[]\n");
    let total = |host: &str, verdict: &str, wanted: u64| {
        let rows = world.audited(host, wanted);
        assert!(rows.iter().all(|(one, _, _)| one == verdict), "{rows:?}");
        rows.iter().map(|(_, _, count)| count).sum::<u64>()
    };
    assert_eq!(total("allowed.example", "allowed", 400), 400);
    assert_eq!(total("evil.example", "denied", 40), 40);
    assert_eq!(world.upstream.hosts().len(), 400);
    world.reached_only(&["allowed.example"]);
}

#[test]
fn a_head_may_be_long_and_a_longer_one_ends_its_own_connection_only() {
    let world = World::allowing(&["allowed.example"]);
    let long = |bytes: usize| {
        head(
            "GET",
            "/host",
            "allowed.example",
            &format!("X-Long: {}\r\n", "x".repeat(bytes)),
        )
    };
    world.judges(&[
        (Try::plain(long(15_000)), "200"),
        (Try::tls("allowed.example", long(15_000)), "200"),
    ]);
    let target = format!("/{}", "a".repeat(17_000));
    world.judges(&[(Try::ask("GET", &target, "allowed.example"), "url_malformed")]);
    for came in world.tries(
        &["\u{16}\u{3}\u{1}", "\u{ff}", "GET /"].map(|odd| Try::plain(odd.repeat(5000)).within(5)),
    ) {
        assert!(!came.statuses().contains(&200), "{came:?}");
    }
    assert_eq!(world.curl("http://allowed.example/host").status, 200);
    world.reached_only(&["allowed.example"]);
}
