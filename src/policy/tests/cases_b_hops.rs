//! Which hop, which path? Named after the public cases they come from.
use super::super::Decision;
use super::*;
use serde_json::json;

#[test]
fn b7_a_host_header_that_differs_is_refused() {
    let policy = compiled(&allowing(&["allowed.com", "other.com"]));
    let url = "http://allowed.com/";
    let same = [
        "allowed.com",
        "allowed.com:80",
        "ALLOWED.com",
        "allowed.com.",
    ];
    for host in same {
        assert_eq!(judge(&policy, "GET", url, Some(host)), "ok", "{host}");
    }
    let others = [
        "evil.com",
        "other.com",
        "allowed.com:443",
        "allowed.com:81",
        "allowed.com:",
        "allowed.com, evil.com",
        "x@allowed.com",
        "",
        "allowed.com/",
        " allowed.com",
        "allowed.com\0",
        "allowed.com..",
    ];
    for host in others {
        let head = Head {
            url,
            method: "GET",
            host: Some(host),
        };
        let decision = policy.decide(&head);
        let reason = decision.reason().unwrap();
        assert_eq!(
            (reason.code(), reason.status()),
            ("host_mismatch", 421),
            "{host:?}"
        );
    }
}

#[test]
fn b8_fronting_is_refused_both_ways() {
    let policy = compiled(&allowing(&["allowed.com"]));
    let (allowed, evil) = ("https://allowed.com/", "https://evil.com/");
    assert_eq!(
        judge(&policy, "GET", allowed, Some("evil.com")),
        "host_mismatch"
    );
    assert_eq!(
        judge(&policy, "GET", evil, Some("allowed.com")),
        "host_mismatch"
    );
    assert_eq!(
        judge(&policy, "GET", evil, Some("evil.com")),
        "host_not_allowed"
    );
}

#[test]
fn b10_each_request_of_a_connection_is_judged() {
    let policy = compiled(&allowing(&["a.com"]));
    assert_eq!(judge(&policy, "GET", "https://a.com/", Some("a.com")), "ok");
    assert_eq!(
        judge(&policy, "GET", "https://a.com/", Some("b.com")),
        "host_mismatch"
    );
    assert_eq!(
        judge(&policy, "GET", "https://b.com/", Some("a.com")),
        "host_mismatch"
    );
    assert_eq!(
        judge(&policy, "GET", "https://b.com/", None),
        "host_not_allowed"
    );
}

#[test]
fn b11_a_redirect_is_a_new_request() {
    let policies = [allowing(&["allowed.com"])];
    all_say(&policies, &["http://evil.com/"], "host_not_allowed");
    all_say(&policies, &["http://169.254.169.254/"], "address_metadata");
    all_say(&policies, &["//evil.com", "/relative", ""], "url_malformed");
    let userinfo = [
        "https://allowed.com@evil.com",
        "https://allowed.com:pw@evil.com/",
        "http://@allowed.com/",
    ];
    all_say(&policies, &userinfo, "userinfo_in_url");
}

#[test]
fn b13_a_downgrade_is_judged_as_http() {
    let rule = json!({"host": "allowed.com", "schemes": ["https"]});
    let policies = [with_rule(allowing(&["allowed.com"]), rule)];
    all_say(&policies, &["https://allowed.com/"], "ok");
    all_say(
        &policies,
        &["http://allowed.com/", "http://allowed.com:443/"],
        "scheme_not_allowed",
    );
}

const AMBIGUOUS: &[&str] = &[
    "/public/../admin",
    "/public/./a",
    "/public/..",
    "/a/%2e%2e/admin",
    "/public/%2E%2e/admin",
    "//admin",
    "/public//a",
    "/public/a%2Fb",
    "/public/a%5cb",
    "/public\\..\\admin",
    "/public/;x",
    "/public/..;/admin",
    "/public/%3b",
    "/public/%252e",
    "/public/%00",
    "/public/%0d%0a",
    "/public/%",
    "/public/%2",
    "/public/%zz",
    "/public/ä",
];

#[test]
fn b16_paths_that_can_be_read_in_several_ways_are_refused_where_a_rule_looks_at_them() {
    let rule = json!({"host": "h.com", "path_prefixes": ["/public", "/a"]});
    let ruled = compiled(&with_rule(allowing(&["h.com"]), rule));
    let plain = compiled(&allowing(&["h.com"]));
    for path in AMBIGUOUS {
        let url = format!("https://h.com{path}");
        let decision = ruled.decide(&Head {
            url: &url,
            method: "GET",
            host: None,
        });
        let reason = decision.reason().unwrap();
        assert_eq!(
            (reason.code(), reason.status()),
            ("path_ambiguous", 400),
            "{path}"
        );
        assert_eq!(get(&plain, &url), "ok", "{path}");
    }
    for path in [
        "/public",
        "/public/",
        "/public/a%20b/c.d?x=/../",
        "/a/...",
        "/public/.x",
        "/a/~b:c@d",
    ] {
        assert_eq!(get(&ruled, &format!("https://h.com{path}")), "ok", "{path}");
    }
    for path in [
        "",
        "/",
        "/publicity",
        "/%70ublic",
        "/PUBLIC",
        "/b",
        "?/public",
    ] {
        assert_eq!(
            get(&ruled, &format!("https://h.com{path}")),
            "path_not_allowed",
            "{path}"
        );
    }
}

#[test]
fn b16_a_coded_slash_is_kept_byte_for_byte() {
    let policy = compiled(&allowing(&["h.com"]));
    let url = "https://h.com/@scope%2fname?x=%2F";
    match policy.decide(&Head {
        url,
        method: "GET",
        host: None,
    }) {
        Decision::Allow { target, .. } => assert_eq!(target.to_string(), url),
        Decision::Deny(denial) => panic!("{denial}"),
    }
}
