//! What is sent on of a request, what is never reached, and what root may change in its box. Public cases, named after their
//! ids.
use crate::kit::World;
use crate::raw::{head, part, Try};
use crate::support::{script, Gateway};
use serde_json::json;

const ALLOWED: &str = "allowed.example";
const EVIL: &str = "evil.example";

#[test]
fn b20_headers_of_a_connection_stay_on_it_and_all_others_pass() {
    let world = World::allowing(&[ALLOWED]);
    let own = "Keep-Alive: x\r\nTE: trailers\r\nProxy-Connection: x\r\nProxy-Authorization: Basic eA==\r\nUpgrade: h2c\r\n\
               Expect: 100-continue\r\nX-Forwarded-For: 1.2.3.4\r\nCF-Connecting-IP: 1.2.3.4\r\nForwarded: for=1.2.3.4\r\n";
    let others = [
        ("anthropic-version", "2023-06-01"),
        ("x-api-key", "k"),
        ("Authorization", "Bearer t"),
        ("Cookie", "a=b; c=d"),
        ("notupgrade", "3"),
        ("X-Dup", "1"),
        ("X-Dup", "2"),
        ("X-Empty", ""),
        ("x_under.dot!", "odd"),
        ("Accept-Encoding", "br"),
        ("User-Agent", "me"),
        ("Range", "bytes=0-1"),
        ("If-None-Match", "\"x\""),
        ("Cache-Control", "max-age=7"),
        ("X-Connection", "y"),
        ("OpenAI-Beta", "a=1"),
        ("Origin", "https://o.example"),
        ("X-Bytes", "\u{e9}\u{c3}\u{a9}"),
    ];
    let others_lines: String = others
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let request = format!("GET /echo HTTP/1.1\r\nHost: {ALLOWED}\r\nConnection: notupgrade, close\r\n{own}{others_lines}\r\n");
    world.judges(&[(Try::plain(request), "200")]);
    let requests = world.upstream.requests();
    let came: Vec<(&str, &str)> = requests[0]["headers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap()))
        .collect();
    for line in own.lines() {
        let name = line.split(':').next().unwrap();
        assert!(
            !came.iter().any(|(one, _)| one.eq_ignore_ascii_case(name)),
            "{name}: {came:?}"
        );
    }
    for pair in others {
        assert!(came.contains(&pair), "{pair:?}: {came:?}");
    }
    let answer = world.curl("http://allowed.example/headers");
    assert!(
        answer.head.starts_with("HTTP/1.1 200 Fine By Me\r\n"),
        "{answer:?}"
    );
    for line in [
        "Set-Cookie: a=1; Path=/; HttpOnly",
        "Set-Cookie: b=2; Expires=Wed, 01 Jan 2031 00:00:00 GMT",
        "X-MiXeD-CaSe: Kept",
        "x_under.dot!: odd",
        "X-Twice: one",
        "X-Twice: two",
        "X-Empty: ",
    ] {
        assert!(
            answer.head.split("\r\n").any(|one| one == line),
            "{line}: {answer:?}"
        );
    }
    assert!(
        !answer.head.to_lowercase().contains("x-cloister"),
        "{answer:?}"
    );
}

#[test]
fn b23_b28_b29_names_of_the_gateway_empty_lists_and_what_root_changes_in_its_box() {
    let world = World::with_network(json!({ "access": "enabled" }));
    let own = [
        ("cloister.example", "own_host"),
        ("CLOISTER.example.", "own_host"),
        ("api.cloister.example", "own_host"),
        ("notcloister.example", "200"),
        ("model.internal", "name_reserved"),
        ("exec.internal", "name_reserved"),
        ("mcp.internal", "name_reserved"),
        ("r2.internal", "name_reserved"),
        ("internal", "name_reserved"),
        ("allowed.selftest.internal", "name_reserved"),
        ("host.docker.internal", "name_reserved"),
        ("x.backup.internal", "name_reserved"),
        ("backup.internal.", "name_reserved"),
        ("localhost", "name_reserved"),
    ];
    let asked = own.map(|(host, verdict)| (Try::ask("GET", "/host", host), verdict));
    world.judges(&asked);
    for (host, _) in own {
        let both = [
            Try::tls("any.example", head("GET", "/host", host, "")),
            Try::ask("GET", &format!("https://{host}/"), host),
        ];
        for came in world.tries(&both) {
            assert_eq!(
                came.statuses(),
                [if host.starts_with("not") { 200 } else { 403 }],
                "{host}: {came:?}"
            );
        }
    }
    // One host is a gate for grants, and there is none now: whatever comes to it is refused, on whatever way.
    for method in ["GET", "PUT", "POST", "DELETE", "HEAD"] {
        let came = world.one(Try::ask(method, "/0123456789abcdef", "backup.internal"));
        assert!(
            matches!(came.statuses()[..], [400..500]),
            "{method}: {came:?}"
        );
    }
    let first = part("/host", "backup.internal") + &part("/host", "any.example");
    let came = world.one(Try::plain(first).answers(2));
    assert!(
        came.statuses().iter().all(|status| *status >= 400),
        "{came:?}"
    );
    let second = part("/host", "any.example") + &part("/0123456789abcdef", "backup.internal");
    let came = world.one(Try::plain(second).answers(2));
    assert_eq!(
        (came.statuses(), came.codes()),
        (vec![200, 403], vec!["name_reserved"]),
        "{came:?}"
    );
    // A tenant that lists the gateway itself reaches it no more than others.
    world.replace(&json!({ "access": "restricted", "allowed_domains": ["cloister.example", "*.cloister.example"] }));
    world.judges(&[
        (Try::ask("GET", "/host", "cloister.example"), "own_host"),
        (Try::ask("GET", "/host", "a.cloister.example"), "own_host"),
    ]);

    // B28
    world.replace(&json!({ "access": "restricted", "allowed_domains": [] }));
    world.judges(&[
        (Try::ask("GET", "/host", "any.example"), "network_disabled"),
        (Try::ask("GET", "/host", "8.8.8.8"), "network_disabled"),
        (
            Try::tls("any.example", head("GET", "/host", "any.example", "")),
            "network_disabled",
        ),
    ]);

    // B29
    world.replace(&json!({ "access": "restricted", "allowed_domains": [ALLOWED] }));
    let same = || {
        world.judges(&[
            (Try::ask("GET", "/host", ALLOWED), "200"),
            (Try::ask("GET", "/host", EVIL), "host_not_allowed"),
            (
                Try::ask("GET", "/host", EVIL).at("1.1.1.1", 80),
                "host_not_allowed",
            ),
        ]);
    };
    same();
    let refused = |line: &str| {
        let said = world.shell(line);
        assert!(
            said.contains("\"host_not_allowed\"") || said == "CODE 000501",
            "{line}: {said}"
        );
        assert!(!said.contains("CODE 200"), "{line}: {said}");
    };
    const CURL: &str = "curl -sk -m 10 -w 'CODE %{http_code}%{http_connect}'";
    for proxy in [
        "http://allowed.example:80",
        "http://11.0.0.1:80",
        "http://8.8.8.8:80",
    ] {
        for variables in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
            refused(&format!(
                "{variables}={proxy} {CURL} http://evil.example/host"
            ));
        }
        refused(&format!(
            "HTTPS_PROXY={proxy} {CURL} https://evil.example/host"
        ));
    }
    refused(&format!(
        "{CURL} --connect-to evil.example:80:allowed.example:80 http://evil.example/host"
    ));
    refused(&format!(
        "{CURL} --resolve evil.example:443:1.1.1.1 https://evil.example/host"
    ));
    world.shell("(echo 1.1.1.1 evil.example; echo 11.0.0.1 other.example) >>/etc/hosts; echo nameserver 8.8.8.8 >/etc/resolv.conf");
    refused(&format!("{CURL} http://evil.example/host"));
    refused(&format!("{CURL} https://other.example/host"));
    world.shell("for f in /etc/cloudflare/certs/* /etc/ssl/certs/ca-certificates.crt; do echo mine >$f; done");
    refused(&format!(
        "{CURL} https://evil.example/host --resolve evil.example:443:11.0.0.1"
    ));
    let own_way = "ip route add default via 172.17.0.1; iptables -F; nft flush ruleset; sysctl -w net.ipv4.ip_forward=1; \
                   echo 1 >/proc/sys/net/ipv4/ip_forward; mount -o remount,rw /proc/sys; kill -9 1";
    world.shell(own_way);
    refused(&format!("{CURL} http://evil.example/host"));
    let still = world.shell(&format!(
        "{CURL} http://allowed.example/host --resolve allowed.example:80:11.0.0.1"
    ));
    assert_eq!(still, "allowed.exampleCODE 200000");
    let reached = world.upstream.hosts();
    let wrong: Vec<_> = reached
        .iter()
        .filter(|host| ![ALLOWED, "any.example", "notcloister.example"].contains(&host.as_str()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(world.model.requests().len(), 1);
}

#[test]
fn b26_a_program_can_read_why_it_was_refused() {
    let world = World::allowing(&[ALLOWED]);
    let said = world.shell(
        "SSL_CERT_FILE=/etc/cloudflare/certs/cloudflare-containers-ca.crt python3 -c '
import json, urllib.request, urllib.error
for url in [\"http://evil.example/a?b\", \"https://evil.example/\", \"http://10.0.0.1/\", \"http://model.internal/\"]:
    try:
        print(urllib.request.urlopen(url, timeout=10).status)
    except urllib.error.HTTPError as e:
        body = json.load(e)
        print(e.code, e.headers[\"x-cloister-egress\"], body[\"code\"], body[\"host\"], e.headers.get_content_type(), sorted(body))
'",
    );
    let fields = "['code', 'host', 'how', 'message', 'reason']";
    let lines = [
        ("host_not_allowed", "evil.example"),
        ("host_not_allowed", "evil.example"),
        ("address_private", "10.0.0.1"),
        ("name_reserved", "model.internal"),
    ];
    let wanted: String = lines
        .iter()
        .map(|(code, host)| format!("403 {code} {code} {host} application/json {fields}\n"))
        .collect();
    assert_eq!(said, wanted);
    // One row a port.
    let denied = ("denied".to_owned(), json!("host_not_allowed"), 1);
    assert_eq!(world.audited("evil.example", 2), [denied.clone(), denied]);
    world.reached_only(&[]);
}

#[test]
fn h11_a_provider_that_redirects_learns_nothing_more_and_its_key_goes_nowhere() {
    let world = World::with_network(json!({ "access": "enabled" }));
    for (status, to) in [
        (302, "http://evil.example/v1/responses"),
        (307, "https://evil.example/v1/responses"),
        (308, "//evil.example/v1/responses"),
    ] {
        let away = json!({ "http": status, "headers": { "location": to }, "body": {} });
        let before = world.model.requests().len();
        let session = world.acme.session(Some(&script("go", &[away])));
        let id = session["id"].as_str().unwrap();
        assert_eq!(world.acme.settled_turn(id)["status"], "failed", "{to}");
        assert!(world.model.requests().len() > before, "it was asked");
    }
    assert_eq!(world.upstream.hosts(), [""; 0]);
    assert!(!world.gateway.log().contains(Gateway::CANARY));
}
