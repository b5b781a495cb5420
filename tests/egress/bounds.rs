//! What a sandbox, or its own tenant, may do in great number.
use crate::kit::World;
use crate::support::{wait_for, Gateway, Model, Upstream};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Asks for as many hosts as its argument says, none of which is allowed.
const MANY_HOSTS: &str = "
import http.client, sys
c = http.client.HTTPConnection('allowed.example')
for n in range(int(sys.argv[1])):
    c.putrequest('GET', f'http://h{n}.evil.example/', skip_host=True)
    c.putheader('Host', f'h{n}.evil.example')
    c.endheaders()
    c.getresponse().read()
";

#[test]
fn refusals_without_number_do_not_hide_what_was_allowed() {
    let world = World::allowing(&["allowed.example", "*.new.example"]);
    world.shell(&format!("python3 -c \"{MANY_HOSTS}\" 1100"));
    assert_eq!(
        world.curl("http://a.new.example/host").body,
        "a.new.example"
    );
    let allowed = ("allowed".to_owned(), json!(null), 1);
    assert_eq!(world.audited("a.new.example", 1), [allowed]);
    // Every one is counted, most of them by name.
    let others = ("denied".to_owned(), json!("host_not_allowed"), 1100 - 1024);
    assert_eq!(world.audited("*", 1), [others]);
    assert_eq!(world.audited("h1023.evil.example", 1).len(), 1);
}

/// Opens WebSockets until its argument says enough, keeps them, and says how many are open after a while.
const MANY_SOCKETS: &str = "
import socket, sys, time
KEY = 'sec-websocket-version: 13\\r\\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n'
def opened():
    s = socket.create_connection(('allowed.example', 80))
    s.sendall(f'GET /ws HTTP/1.1\\r\\nhost: allowed.example\\r\\nconnection: Upgrade\\r\\nupgrade: websocket\\r\\n{KEY}\\r\\n'.encode())
    assert b' 101 ' in s.recv(4096)
    return s
def is_open(s):
    s.settimeout(0.05)
    try:
        return s.recv(1) not in (b'', b'\\x88')
    except TimeoutError:
        return True
    except OSError:
        return False
sockets = [opened() for _ in range(int(sys.argv[1]))]
time.sleep(3)
print([is_open(s) for s in sockets].count(True))
";

#[test]
fn the_oldest_of_too_many_at_once_is_ended_and_told_apart() {
    let world = World::allowing(&["allowed.example"]);
    let open = world.shell(&format!("python3 -c \"{MANY_SOCKETS}\" 260"));
    assert_eq!(open.trim(), "256");
    let rows = world.audited("allowed.example", 264);
    let ended = ("ended".to_owned(), json!("too_many_under_way"), 4);
    assert!(rows.contains(&ended), "{rows:?}");
}

#[test]
fn a_host_cannot_speak_for_the_gateway() {
    let world = World::allowing(&["allowed.example"]);
    for path in ["verdict", "verdict?status=204"] {
        let url = format!("'http://allowed.example/{path}'");
        let answer = world.curl(&format!("{url} -H 'x-cloister-egress: mine'"));
        let head = answer.head.to_lowercase();
        assert!(!head.contains("x-cloister-egress"), "{answer:?}");
        assert!(head.contains("x-other: kept"), "{answer:?}");
    }
    for request in world.upstream.requests() {
        let sent = request["headers"].to_string().to_lowercase();
        assert!(!sent.contains("x-cloister-egress"), "{sent}");
    }
}

#[test]
fn policies_that_are_replaced_all_the_time_do_not_keep_a_turn_from_starting() {
    let model = Model::start();
    let upstream = Upstream::start();
    let gateway = Gateway::start_with_upstream(&model, &upstream);
    let acme = gateway.client("acme");
    let session = acme.session(Some("hello"));
    let id = session["id"].as_str().unwrap();
    let path = format!("/v1/agents/sessions/{id}/network");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for n in 0..6 {
            let (acme, path, over) = (acme.clone(), &path, &over);
            scope.spawn(move || {
                let network =
                    json!({ "access": "restricted", "allowed_domains": [format!("h{n}.example")] });
                while !over.load(Ordering::Relaxed) {
                    assert_eq!(acme.post(path, &network).0, 200);
                }
            });
        }
        let turn = wait_for("the turn", Duration::from_secs(60), || {
            let turns = acme.get(&format!("/v1/agents/sessions/{id}/turns")).1;
            let status = turns["data"][0]["status"].as_str().map(str::to_owned);
            status.filter(|status| status == "completed" || status == "failed")
        });
        over.store(true, Ordering::Relaxed);
        assert_eq!(turn, "completed");
    });
}
