//! Policies that are replaced while requests are under way.
use crate::kit::World;
use crate::support::wait_for;
use serde_json::json;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a new policy has, and what this machine may add when it is busy.
const TAKES_HOLD_MS: u64 = 1_000 + 1_500;

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_millis() as u64
}

/// Starts a line in the sandbox; when it has ended, a file there says when.
fn begin(world: &World, name: &str, line: &str) {
    world.shell(&format!(
        "({line} >/tmp/{name}.out 2>&1; date +%s%3N >/tmp/{name}.end) >/dev/null 2>&1 &"
    ));
}

fn end_of(world: &World, name: &str) -> u64 {
    wait_for(name, Duration::from_secs(15), || {
        world
            .shell(&format!("cat /tmp/{name}.end 2>/dev/null"))
            .trim()
            .parse()
            .ok()
    })
}

const WEBSOCKET: &str = "-H 'connection: Upgrade' -H 'upgrade: websocket' -H 'sec-websocket-version: 13' -H 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='";

#[test]
fn a_new_policy_ends_what_it_refuses_and_nothing_else() {
    let world = World::allowing(&["old.example", "kept.example"]);
    begin(&world, "body", "curl -sN http://old.example/drip");
    begin(
        &world,
        "socket",
        &format!("curl -sN {WEBSOCKET} 'http://old.example/ws?ms=50'"),
    );
    begin(
        &world,
        "upload",
        "tr '\\0' x </dev/zero | curl -s -T - 'http://old.example/upload?kbps=100'",
    );
    begin(&world, "silent", "curl -s http://old.example/hang");
    begin(&world, "kept", "curl -sN http://kept.example/drip");
    begin(
        &world,
        "kept-socket",
        &format!("curl -sN {WEBSOCKET} 'http://kept.example/ws?ms=50'"),
    );
    let bytes = |name: &str| -> u64 {
        world
            .shell(&format!("wc -c </tmp/{name}.out"))
            .trim()
            .parse()
            .unwrap_or(0)
    };
    for name in ["body", "socket", "kept", "kept-socket"] {
        wait_for(name, Duration::from_secs(10), || {
            (bytes(name) > 0).then_some(())
        });
    }
    // Long enough for all of them to be watched.
    std::thread::sleep(Duration::from_secs(1));

    let before = now_ms();
    let state =
        world.replace(&json!({ "access": "restricted", "allowed_domains": ["kept.example"] }));
    for name in ["body", "socket", "upload", "silent"] {
        let took = end_of(&world, name).saturating_sub(before);
        assert!(took < TAKES_HOLD_MS, "{name} went on for {took} ms");
    }
    for path in ["old.example/drip", "old.example/ws"] {
        world.upstream.wait_for_closed(path);
    }
    let answer = world.curl("http://old.example/host");
    assert_eq!(answer.refused(), "host_not_allowed");
    for name in ["kept", "kept-socket"] {
        let seen = bytes(name);
        wait_for(name, Duration::from_secs(10), || {
            (bytes(name) > seen).then_some(())
        });
    }
    let rows = world.audited("old.example", 9);
    let ended = ("ended".to_owned(), json!("policy_replaced"), 4);
    assert!(rows.contains(&ended), "{rows:?}");

    // One bad entry: nothing changes.
    let bad = json!({ "access": "restricted", "allowed_domains": ["old.example", "*.com"] });
    let (status, error) = world.acme.post(&world.network(), &bad);
    assert_eq!(
        (status, &error["error"]["param"]),
        (400, &json!("allowed_domains[1]"))
    );
    let (_, now) = world.acme.get(&world.network());
    assert_eq!(now, state);
    assert_eq!(
        world.curl("http://old.example/host").refused(),
        "host_not_allowed"
    );
    let (_, session) = world
        .acme
        .get(&format!("/v1/agents/sessions/{}", world.session));
    assert_eq!(
        session["environment"]["network"],
        json!({ "access": "restricted", "allowed_domains": ["kept.example"] })
    );

    // Wider again: at once, also on a connection that was open all the time.
    world.replace(&json!({ "access": "enabled" }));
    assert_eq!(world.curl("http://old.example/host").body, "old.example");
    world.replace(&json!({ "access": "disabled" }));
    assert_eq!(
        world.curl("http://old.example/host").refused(),
        "network_disabled"
    );
    for name in ["kept", "kept-socket"] {
        end_of(&world, name);
    }
}

#[test]
fn a_connection_that_is_kept_open_follows_the_policy() {
    let world = World::allowing(&["old.example", "kept.example"]);
    world.shell(
        "mkfifo /tmp/ask; (sleep 600 >/tmp/ask & exec python3 -c '
import http.client, sys
c = http.client.HTTPConnection(\"old.example\")
for line in open(\"/tmp/ask\"):
    c.request(\"GET\", \"/host\")
    r = c.getresponse()
    print(r.status, r.read().decode()[:60].replace(chr(10), \" \"), c.sock.getsockname()[1], flush=True)
' >/tmp/answers 2>&1) >/dev/null 2>&1 &",
    );
    let ask = |count: usize| {
        world.shell("echo >/tmp/ask");
        wait_for("an answer", Duration::from_secs(10), || {
            let answers = world.shell("cat /tmp/answers");
            let lines: Vec<_> = answers.lines().map(str::to_owned).collect();
            (lines.len() >= count).then(|| lines[count - 1].clone())
        })
    };
    let first = ask(1);
    assert!(first.starts_with("200 old.example"), "{first}");
    world.replace(&json!({ "access": "restricted", "allowed_domains": ["kept.example"] }));
    let second = ask(2);
    assert!(second.starts_with("403 "), "{second}");
    let port = |line: &str| line.rsplit(' ').next().unwrap().to_owned();
    assert_eq!(port(&first), port(&second), "the same connection");
}
