//! Rules and the paths they look at.
use super::super::path::is_below;
use super::super::{limits, Decision, Matched};
use super::*;
use serde_json::json;

#[test]
fn a_rule_limits_what_it_names() {
    let rule = json!({"host": "H.com", "schemes": ["https"], "ports": [443, 8443], "methods": ["GET", "HEAD"], "path_prefixes": ["/v1/"]});
    let policy = compiled(&with_rule(allowing(&["h.com", "i.com"]), rule));
    for (method, url, code) in [
        ("GET", "https://h.com/v1/a", "ok"),
        ("HEAD", "https://h.com:8443/v1/?x", "ok"),
        ("POST", "https://h.com/v1/a", "method_not_allowed"),
        ("GET", "https://h.com/v1", "path_not_allowed"),
        ("GET", "https://h.com:444/v1/a", "port_not_allowed"),
        ("GET", "http://h.com/v1/a", "scheme_not_allowed"),
        ("POST", "http://i.com/anything", "ok"),
    ] {
        assert_eq!(judge(&policy, method, url, None), code, "{method} {url}");
    }
}

#[test]
fn one_rule_of_several_is_enough_and_the_nearest_miss_is_told() {
    let config = with_rule(
        allowing(&["h.com"]),
        json!({"host": "h.com", "methods": ["GET"]}),
    );
    let config = with_rule(
        config,
        json!({"host": "h.com", "methods": ["POST"], "path_prefixes": ["/rpc"]}),
    );
    let config = with_rule(config, json!({"host": "h.com", "ports": [8443]}));
    let policy = compiled(&config);
    let index = |method, url| match policy.decide(&Head {
        url,
        method,
        host: None,
    }) {
        Decision::Allow {
            rule: Matched::Listed { rule, .. },
            ..
        } => rule,
        other => panic!("{other:?}"),
    };
    assert_eq!(index("GET", "https://h.com/any/../thing"), Some(0));
    assert_eq!(index("POST", "https://h.com/rpc"), Some(1));
    assert_eq!(
        judge(&policy, "POST", "https://h.com/other", None),
        "path_not_allowed"
    );
    assert_eq!(
        judge(&policy, "PUT", "https://h.com/rpc", None),
        "method_not_allowed"
    );
}

#[test]
fn the_nearest_entry_decides() {
    let rule = json!({"host": "api.example.com", "methods": ["GET"]});
    let config = with_rule(
        allowing(&["*.example.com", "*.b.example.com", "api.example.com"]),
        rule,
    );
    let config = with_rule(
        config,
        json!({"host": "*.b.example.com", "schemes": ["https"]}),
    );
    let policy = compiled(&config);
    assert_eq!(
        judge(&policy, "POST", "https://api.example.com/", None),
        "method_not_allowed"
    );
    assert_eq!(
        judge(&policy, "POST", "https://x.api.example.com/", None),
        "ok"
    );
    assert_eq!(
        judge(&policy, "POST", "http://a.b.example.com/", None),
        "scheme_not_allowed"
    );
    assert_eq!(judge(&policy, "POST", "http://b.example.com/", None), "ok");
}

#[test]
fn prefixes_end_at_a_slash() {
    for (path, prefix, below) in [
        ("/", "/", true),
        ("/a", "/", true),
        ("/v1", "/v1", true),
        ("/v1/", "/v1", true),
        ("/v1/a", "/v1", true),
        ("/v10", "/v1", false),
        ("/v1", "/v1/", false),
        ("/V1", "/v1", false),
    ] {
        assert_eq!(is_below(path, prefix), below, "{path} below {prefix}");
    }
}

#[test]
fn each_mistake_in_a_rule_is_named() {
    let rule = json!({"host": "h.com", "schemes": ["ftp"], "ports": [443, 0, 65536], "methods": ["GET", "get", "TRACE", ""],
        "path_prefixes": ["", "v1", "/a/../b", "/a?b", "/a#", "/a//b", "/%2e", "/ä", "/a;b", "/ok"]});
    let config = with_rule(allowing(&["h.com"]), rule);
    let paths: Vec<String> = EgressPolicy::parse(&config)
        .unwrap_err()
        .flaws
        .into_iter()
        .map(|flaw| flaw.path)
        .collect();
    let mut expected = vec!["rules[0].schemes[0]".to_owned()];
    expected.extend([1, 2].map(|at| format!("rules[0].ports[{at}]")));
    expected.extend([1, 2, 3].map(|at| format!("rules[0].methods[{at}]")));
    expected.extend((0..9).map(|at| format!("rules[0].path_prefixes[{at}]")));
    assert_eq!(paths, expected);
    for host in ["i.com", "*.h.com", "a.h.com"] {
        let config = with_rule(allowing(&["h.com"]), json!({"host": host}));
        assert_eq!(
            flaws(&config),
            [format!(
                "rules[0].host '{host}': this host is not an entry of allowed_domains"
            )]
        );
    }
    for config in [blocking(&["x.com"]), allowing(&[])] {
        let config = with_rule(config, json!({"host": "h.com"}));
        assert_eq!(
            flaws(&config),
            ["rules: rules are about hosts in allowed_domains"]
        );
    }
}

#[test]
fn rules_have_limits() {
    let rule = json!({"host": "h.com", "ports": vec![443; limits::MAX_RULE_VALUES], "path_prefixes": [format!("/{}", "a".repeat(limits::MAX_PREFIX_BYTES - 1))]});
    let mut config = with_rule(allowing(&["h.com"]), rule);
    policy(&config);
    config.rules = vec![config.rules[0].clone(); limits::MAX_RULES];
    policy(&config);
    let mut many = config.clone();
    many.rules.push(many.rules[0].clone());
    assert_eq!(flaws(&many), ["rules: at most 256"]);
    config.rules.truncate(1);
    config.rules[0].ports.push(443);
    config.rules[0].path_prefixes[0].push('a');
    let flaws = flaws(&config);
    assert_eq!(flaws[0], "rules[0].ports: at most 32");
    assert!(flaws[1].starts_with("rules[0].path_prefixes[0]"));
}
