//! One table of requests and verdicts, told twice: by the policy's own code here, and by the border, on the wire.
use crate::kit::World;
use crate::raw::{head, Try};
use cloister::policy::{CompiledPolicy, EgressPolicy, Head, OwnHosts, PolicyConfig};
use serde_json::{json, Value};

/// A policy, and requests under it: method, URL, verdict.
type Part = (Value, &'static [(&'static str, &'static str, &'static str)]);

/// URLs as every reader spells them, so that the border judges what is written here.
fn table() -> Vec<Part> {
    let list = [
        "allowed.example",
        "*.wild.example",
        "deep.wild.example",
        "xn--bcher-kva.example",
        "a_b.example",
    ];
    vec![
        (
            json!({ "access": "restricted", "allowed_domains": list }),
            &[
                ("GET", "http://allowed.example/", "ok"),
                ("GET", "https://allowed.example/", "ok"),
                ("POST", "https://allowed.example/a?b=c", "ok"),
                ("PROPFIND", "http://allowed.example/", "ok"),
                ("DELETE", "http://allowed.example/x", "ok"),
                ("TRACE", "http://allowed.example/", "method_refused"),
                ("GET", "http://allowed.example:8080/", "port_not_allowed"),
                ("GET", "https://allowed.example:80/", "port_not_allowed"),
                ("GET", "http://allowed.example:443/", "port_not_allowed"),
                ("GET", "http://sub.allowed.example/", "host_not_allowed"),
                (
                    "GET",
                    "http://allowed.example.evil.example/",
                    "host_not_allowed",
                ),
                ("GET", "http://notallowed.example/", "host_not_allowed"),
                ("GET", "http://wild.example/", "host_not_allowed"),
                ("GET", "http://a.wild.example/", "ok"),
                ("GET", "https://a.b.c.wild.example/", "ok"),
                ("GET", "http://deep.wild.example/", "ok"),
                ("GET", "http://awild.example/", "host_not_allowed"),
                ("GET", "http://xn--bcher-kva.example/", "ok"),
                ("GET", "http://a_b.example/", "ok"),
                ("GET", "http://a-b.example/", "host_not_allowed"),
                ("GET", "http://example/", "name_reserved"),
                ("GET", "http://8.8.8.8/", "host_not_allowed"),
                ("GET", "http://127.0.0.1/", "address_loopback"),
                ("GET", "http://169.254.169.254/", "address_metadata"),
                ("GET", "http://[2606:4700::1111]/", "host_not_allowed"),
                ("GET", "http://model.internal/", "name_reserved"),
                ("GET", "http://api.cloister.example/", "own_host"),
                ("GET", "http://allowed.example/a//b;c/%2F%2e", "ok"),
            ],
        ),
        (
            json!({ "access": "restricted", "allowed_domains": ["one.example", "two.example", "*.two.example"], "rules": [
                { "host": "one.example", "schemes": ["https"], "methods": ["GET", "HEAD"], "path_prefixes": ["/v1", "/files/"] },
                { "host": "one.example", "schemes": ["https"], "methods": ["POST"], "path_prefixes": ["/upload"] },
                { "host": "*.two.example", "schemes": ["http"], "ports": [80, 8080] },
            ] }),
            &[
                ("GET", "https://one.example/v1", "ok"),
                ("GET", "https://one.example/v1/models?x=/../y", "ok"),
                ("HEAD", "https://one.example/files/a", "ok"),
                ("POST", "https://one.example/upload", "ok"),
                ("POST", "https://one.example/upload/x", "ok"),
                ("GET", "https://one.example/v10", "path_not_allowed"),
                ("GET", "https://one.example/files", "path_not_allowed"),
                ("GET", "https://one.example/", "path_not_allowed"),
                ("GET", "https://one.example/upload", "path_not_allowed"),
                ("POST", "https://one.example/v1", "path_not_allowed"),
                ("PUT", "https://one.example/v1", "method_not_allowed"),
                ("GET", "http://one.example/v1", "scheme_not_allowed"),
                ("GET", "https://one.example:8443/v1", "port_not_allowed"),
                ("GET", "https://one.example/v1//a", "path_ambiguous"),
                ("GET", "https://one.example/v1/a%2Fb", "path_ambiguous"),
                ("GET", "https://one.example/v1/%252e", "path_ambiguous"),
                ("GET", "https://one.example/v1;a", "path_ambiguous"),
                ("GET", "https://one.example/v1/%00", "path_ambiguous"),
                ("GET", "https://one.example/v1/%zz", "path_ambiguous"),
                ("GET", "https://two.example/any", "ok"),
                ("GET", "http://a.two.example/", "ok"),
                ("GET", "http://a.two.example:8080/", "ok"),
                ("GET", "http://a.two.example:8081/", "port_not_allowed"),
                ("GET", "https://a.two.example/", "scheme_not_allowed"),
                ("GET", "http://two.example:8080/", "port_not_allowed"),
            ],
        ),
        (
            json!({ "access": "restricted", "blocked_domains": ["evil.example", "ads.good.example"] }),
            &[
                ("GET", "http://any.example/", "ok"),
                ("GET", "http://good.example/", "ok"),
                ("GET", "http://evil.example/", "host_blocked"),
                ("GET", "https://a.b.evil.example/", "host_blocked"),
                ("GET", "http://notevil.example/", "ok"),
                ("GET", "http://ads.good.example/", "host_blocked"),
                ("GET", "http://any.example:8080/", "port_not_allowed"),
                ("GET", "http://8.8.8.8/", "address_not_allowed"),
                ("GET", "http://10.0.0.1/", "address_private"),
                ("GET", "http://exec.internal/", "name_reserved"),
                ("GET", "http://cloister.example/", "own_host"),
            ],
        ),
        (
            json!({ "access": "enabled" }),
            &[
                ("GET", "http://any.example/", "ok"),
                ("GET", "https://any.example/", "ok"),
                ("GET", "http://any.example:8080/", "ok"),
                ("GET", "http://router/", "name_reserved"),
                ("GET", "http://printer.local/", "name_reserved"),
                ("GET", "http://metadata.goog/", "name_reserved"),
                ("GET", "http://192.168.0.1/", "address_private"),
                ("GET", "http://[fe80::1]/", "address_link_local"),
                ("GET", "http://[::ffff:a00:1]/", "address_embeds_ipv4"),
                ("GET", "http://224.0.0.1/", "address_special_use"),
                ("TRACE", "http://any.example/", "method_refused"),
            ],
        ),
        (
            json!({ "access": "disabled" }),
            &[
                ("GET", "http://any.example/", "network_disabled"),
                ("GET", "https://any.example/", "network_disabled"),
                ("GET", "http://10.0.0.1/", "address_private"),
                ("TRACE", "http://any.example/", "method_refused"),
            ],
        ),
    ]
}

/// Splits a URL that has nothing odd before its path: scheme, authority, the rest.
fn parts(url: &str) -> (&str, &str, &str) {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (authority, _) = rest.split_once('/').unwrap();
    (scheme, authority, &rest[authority.len()..])
}

#[test]
fn the_border_says_what_the_policy_says() {
    let world = World::with_network(json!({ "access": "disabled" }));
    let own = OwnHosts::parse(&["cloister.example"]).unwrap();
    let mut rows = 0;
    let mut wanted: Vec<String> = Vec::new();
    for (network, requests) in table() {
        let config: PolicyConfig = serde_json::from_value(network.clone()).unwrap();
        let policy = CompiledPolicy::new(&EgressPolicy::parse(&config).unwrap(), &own);
        world.replace(&network);
        let mut tries = Vec::new();
        for (method, url, verdict) in requests {
            let (scheme, authority, rest) = parts(url);
            let head_of = Head {
                url,
                method,
                host: Some(authority),
            };
            let decision = policy.decide(&head_of);
            let native = decision.reason().map_or("ok", |reason| reason.code());
            assert_eq!(native, *verdict, "{method} {url} under {network}");
            if native == "ok" {
                wanted.push((*url).to_owned());
            }
            let on_the_wire = if native == "ok" { "200" } else { *verdict };
            // The path alone, as clients write it, and the whole URL, as they write it to a proxy.
            for target in [rest, *url] {
                let said = head(method, target, authority, "");
                let one = match scheme {
                    "http" => Try::plain(said),
                    _ => Try::tls("any.example", said),
                };
                tries.push((one, on_the_wire));
            }
            rows += 1;
        }
        world.judges(&tries);
    }
    assert!(rows >= 60, "{rows}");
    // What arrived is what was allowed, twice each, and nothing else.
    let requests = world.upstream.requests();
    let mut arrived: Vec<&str> = requests
        .iter()
        .map(|request| request["url"].as_str().unwrap())
        .collect();
    arrived.sort_unstable();
    let mut wanted: Vec<&str> = wanted
        .iter()
        .flat_map(|url| [url.as_str(), url.as_str()])
        .collect();
    wanted.sort_unstable();
    assert_eq!(arrived, wanted);
    assert_eq!(world.model.requests().len(), 1);
}
