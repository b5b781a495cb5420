//! How policies are read and described.
use super::super::{limits, FlawKind, HostPattern, PolicyError};
use super::*;
use serde_json::json;

#[test]
fn policies_have_one_canonical_form() {
    let config = allowing(&[
        "B.com.",
        "a.com",
        "*.C.org",
        "b.com",
        "[2606:4700:0:0::1111]",
        "8.8.8.8",
        "a.com",
    ]);
    let canonical = policy(&config).layers()[0].to_config();
    assert_eq!(
        canonical.allowed_domains,
        ["a.com", "b.com", "*.c.org", "8.8.8.8", "[2606:4700::1111]"]
    );
    let rule = json!({"host": "A.com", "schemes": ["https", "HTTP", "https"], "ports": [8443, 443, 443], "methods": ["POST", "GET"], "path_prefixes": ["/b", "/a", "/b"]});
    let twice = with_rule(with_rule(allowing(&["a.com"]), rule.clone()), rule);
    let canonical = policy(&twice).layers()[0].to_config();
    let rule = json!({"host": "a.com", "schemes": ["http", "https"], "ports": [443, 8443], "methods": ["GET", "POST"], "path_prefixes": ["/a", "/b"]});
    assert_eq!(canonical, with_rule(allowing(&["a.com"]), rule));
}

#[test]
fn entries_with_more_than_a_host_are_refused() {
    for entry in [
        "https://a.com",
        "a.com/",
        "a.com:443",
        "a.com/x",
        "u@a.com",
        "a.com?",
        "2606:4700::1111",
        "[2606:4700::1111]:443",
        "a.com#",
    ] {
        assert!(
            flaws(&allowing(&[entry]))
                .concat()
                .starts_with("allowed_domains[0]"),
            "{entry}"
        );
    }
    for entry in [
        "",
        " a.com",
        "a.com ",
        "a b.com",
        "a\0.com",
        "[::ffff:8.8.8.8]",
        "[2002::1]",
        "10.0.0.1",
        "010.8.8.8",
        "intranet",
        "*.a.internal",
    ] {
        flaws(&allowing(&[entry]));
    }
}

#[test]
fn what_is_never_reachable_may_be_blocked() {
    policy(&blocking(&[
        "localhost",
        "metadata.google.internal",
        "10.0.0.1",
        "com",
    ]));
    let urls = ["https://a.com/", "https://b.a.com/", "https://a.com./"];
    all_say(
        &[blocking(&["a.com"]), blocking(&["com"])],
        &urls,
        "host_blocked",
    );
    all_say(
        &[blocking(&["a.com"])],
        &["https://aa.com/", "https://a.com.org/"],
        "ok",
    );
}

#[test]
fn public_hosts_are_reachable_on_every_port() {
    all_say(
        &[public()],
        &["http://a.com:8080/", "https://8.8.8.8:8443/"],
        "ok",
    );
}

#[test]
fn lists_have_limits() {
    let names = |count: usize| {
        (0..count)
            .map(|n| format!("h{n}.example.com"))
            .collect::<Vec<_>>()
    };
    let mut config = allowing(&[]);
    config.allowed_domains = names(limits::MAX_ENTRIES);
    policy(&config);
    config.allowed_domains.push("a.com".into());
    assert_eq!(flaws(&config), ["allowed_domains: at most 16384"]);
    let mut config = blocking(&[]);
    config.blocked_domains = names(limits::MAX_ENTRIES + 1);
    assert_eq!(flaws(&config), ["blocked_domains: at most 16384"]);

    let longest = format!("*.{}com", "abc.".repeat(62));
    assert_eq!(longest.len(), limits::MAX_ENTRY_BYTES);
    policy(&allowing(&[&longest]));
    flaws(&allowing(&[&format!("*.a{}", &longest[2..])]));
    flaws(&allowing(&[&"a.".repeat(1000)]));

    let mut config = allowing(&[]);
    config.allowed_domains = vec![longest; limits::MAX_TEXT_BYTES / limits::MAX_ENTRY_BYTES];
    policy(&config);
    config.allowed_domains.push("a".repeat(253));
    assert_eq!(flaws(&config), ["access: the policy is too long"]);
}

#[test]
fn errors_are_bounded_and_show_no_control_bytes() {
    let mut config = allowing(&[]);
    config.allowed_domains = vec![format!("\x1b\n{}", "x".repeat(9000)); 100];
    let error: PolicyError = EgressPolicy::parse(&config).unwrap_err();
    assert_eq!((error.flaws.len(), error.more), (limits::MAX_FLAWS, 84));
    let text = error.to_string();
    assert!(
        text.len() < 4000 && !text.contains(char::is_control) && text.ends_with("; and 84 more"),
        "{text}"
    );
    assert!(matches!(error.flaws[0].why, FlawKind::Pattern(_)));
}

#[test]
fn policies_are_described_in_words() {
    let long: Vec<String> = (0..10).map(|n| format!("h{n}.com")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let ruled = with_rule(
        allowing(&["b.com", "*.a.com"]),
        json!({"host": "b.com", "schemes": ["https"], "ports": [8443], "methods": ["GET"], "path_prefixes": ["/v1"]}),
    );
    for (config, text) in [
        (allowing(&[]), "Reachable: nothing."),
        (public(), "Reachable: public hosts."),
        (ruled, "Reachable: only b.com (https; ports 8443; GET; below /v1), *.a.com."),
        (blocking(&["b.com"]), "Reachable: public hosts on ports 80 and 443, by name, but none at or below b.com."),
        (allowing(&long), "Reachable: only h0.com, h1.com, h2.com, h3.com, h4.com, h5.com, h6.com, h7.com and 2 more."),
    ] {
        assert_eq!(policy(&config).describe(), text);
    }
    let both = policy(&allowing(&["a.com"])).narrow(&policy(&blocking(&["b.com"])));
    assert_eq!(both.describe(), "Reachable: only a.com; and of those, public hosts on ports 80 and 443, by name, but none at or below b.com.");
}

#[test]
fn a_pattern_is_shown_as_it_is_written() {
    for entry in ["a.com", "*.a.com", "8.8.8.8", "[2606:4700::1111]"] {
        let pattern = HostPattern::parse(entry).unwrap();
        assert_eq!(pattern.to_string(), entry);
        assert_eq!(HostPattern::parse(&pattern.to_string()), Ok(pattern));
    }
}
