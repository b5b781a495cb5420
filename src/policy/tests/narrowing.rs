//! Policies that narrow one another.
use super::super::{limits::MAX_LAYERS, Decision, Widening};
use super::*;
use serde_json::json;

#[test]
fn narrowing_asks_both() {
    let session = policy(&allowing(&["a.com", "*.b.com"]));
    let operator = policy(&blocking(&["evil.b.com"]));
    let both = CompiledPolicy::new(&session.narrow(&operator), &OwnHosts::default());
    assert_eq!(get(&both, "https://a.com/"), "ok");
    assert_eq!(get(&both, "https://x.b.com/"), "ok");
    assert_eq!(get(&both, "https://x.evil.b.com/"), "host_blocked");
    assert_eq!(get(&both, "https://c.com/"), "host_not_allowed");
    let head = Head {
        url: "https://evil.b.com/",
        method: "GET",
        host: None,
    };
    let Decision::Deny(denial) = both.decide(&head) else {
        panic!("allowed")
    };
    assert!(
        denial.narrowed && denial.to_string().contains("operator"),
        "{denial}"
    );
}

#[test]
fn narrowing_by_the_same_changes_nothing_and_by_too_many_denies_all() {
    let a = policy(&allowing(&["a.com"]));
    assert_eq!(a.narrow(&a), a);
    let mut many = a.clone();
    for n in 1..MAX_LAYERS {
        many = many.narrow(&policy(&allowing(&["a.com", &format!("h{n}.com")])));
    }
    assert_eq!(
        get(
            &CompiledPolicy::new(&many, &OwnHosts::default()),
            "https://a.com/"
        ),
        "ok"
    );
    assert_eq!(many.narrow(&policy(&public())), EgressPolicy::deny_all());
}

#[test]
fn what_allows_more_is_found() {
    let get_only = |host| {
        with_rule(
            allowing(&["*.a.com", "x.a.com"]),
            json!({"host": host, "methods": ["GET"]}),
        )
    };
    let port = with_rule(
        allowing(&["a.com"]),
        json!({"host": "a.com", "ports": [8443]}),
    );
    let disabled = PolicyConfig::new(Access::Disabled);
    for (wanted, base, found) in [
        (disabled.clone(), disabled.clone(), None),
        (allowing(&["a.com", "8.8.8.8"]), public(), None),
        (port.clone(), public(), None),
        (port.clone(), port.clone(), None),
        (port.clone(), allowing(&["a.com"]), Some("a.com")),
        (port, blocking(&["b.com"]), Some("a.com")),
        (allowing(&["a.com"]), blocking(&["b.com"]), None),
        (
            allowing(&["8.8.8.8"]),
            blocking(&["b.com"]),
            Some("8.8.8.8"),
        ),
        (
            allowing(&["x.b.com"]),
            blocking(&["b.com"]),
            Some("x.b.com"),
        ),
        (
            allowing(&["*.b.com"]),
            blocking(&["x.b.com"]),
            Some("x.b.com"),
        ),
        (
            allowing(&["*.b.com"]),
            blocking(&["b.com"]),
            Some("*.b.com"),
        ),
        (
            blocking(&["b.com"]),
            blocking(&["x.b.com", "8.8.8.8"]),
            None,
        ),
        (blocking(&["x.b.com"]), blocking(&["b.com"]), Some("b.com")),
        (
            allowing(&["*.a.com"]),
            allowing(&["x.a.com"]),
            Some("*.a.com"),
        ),
        (
            allowing(&["x.a.com", "*.y.a.com"]),
            allowing(&["*.a.com"]),
            None,
        ),
        (allowing(&["a.com"]), allowing(&["*.a.com"]), Some("a.com")),
        (get_only("*.a.com"), allowing(&["*.a.com"]), None),
        (allowing(&["*.a.com"]), get_only("*.a.com"), Some("*.a.com")),
        // The template's own entry for a host below is stricter than its wildcard.
        (allowing(&["*.a.com"]), get_only("x.a.com"), Some("x.a.com")),
        (get_only("x.a.com"), get_only("x.a.com"), None),
    ] {
        let widening = policy(&wanted)
            .widening(&policy(&base))
            .map(|widening| match widening {
                Widening::Access => "access".to_owned(),
                Widening::Host(host) => host.to_string(),
            });
        assert_eq!(widening.as_deref(), found, "{wanted:?} beside {base:?}");
    }
    for (wanted, base) in [
        (public(), allowing(&["a.com"])),
        (public(), blocking(&["a.com"])),
        (public(), disabled.clone()),
        (blocking(&["a.com"]), allowing(&["a.com"])),
        (blocking(&["a.com"]), disabled.clone()),
        (allowing(&["a.com"]), disabled),
    ] {
        assert_eq!(
            policy(&wanted).widening(&policy(&base)),
            Some(Widening::Access)
        );
    }
}

#[test]
fn rules_are_compared_field_by_field() {
    let ruled = |rule: serde_json::Value| {
        let mut rule = rule;
        rule["host"] = json!("a.com");
        policy(&with_rule(allowing(&["a.com"]), rule))
    };
    let base = ruled(
        json!({"schemes": ["https"], "ports": [443, 8443], "methods": ["GET", "HEAD"], "path_prefixes": ["/v1", "/v2/"]}),
    );
    let narrower = json!({"schemes": ["https"], "ports": [8443], "methods": ["GET"], "path_prefixes": ["/v1/a", "/v2/"]});
    assert_eq!(ruled(narrower.clone()).widening(&base), None);
    for (field, value) in [
        ("schemes", json!([])),
        ("ports", json!([8443, 9000])),
        ("methods", json!([])),
        ("methods", json!(["GET", "POST"])),
        ("path_prefixes", json!([])),
        ("path_prefixes", json!(["/v1", "/v2"])),
        ("path_prefixes", json!(["/v10"])),
    ] {
        let mut wider = narrower.clone();
        wider[field] = value.clone();
        assert!(ruled(wider).widening(&base).is_some(), "{field} {value}");
    }
    let mut own_ports = narrower;
    own_ports["ports"] = json!([]);
    assert_eq!(ruled(own_ports).widening(&base), None);
}
