//! Which host is this? Named after the public cases they come from.
use super::super::Decision;
use super::*;

#[test]
fn a1_control_bytes_in_a_host_are_denied() {
    let policies = [
        allowing(&["*.google.com"]),
        blocking(&["evil.com"]),
        public(),
    ];
    for odd in ["\0", "\r\n", "\t", " ", "\x7f", "%00"] {
        let url = format!("http://attacker.example{odd}.google.com/");
        all_say(&policies, &[&url], "host_malformed");
    }
}

#[test]
fn a2_a_longer_host_with_the_same_beginning_is_denied() {
    let policies = [allowing(&["modelcontextprotocol.io"])];
    all_say(&policies, &["https://modelcontextprotocol.io/"], "ok");
    let urls = [
        "https://modelcontextprotocol.io.example.com/",
        "https://evil-modelcontextprotocol.io/",
        "https://sub.modelcontextprotocol.io/",
    ];
    all_say(&policies, &urls, "host_not_allowed");
}

#[test]
fn a4_one_trailing_dot_is_the_same_host_and_two_are_none() {
    let urls = ["https://evil.example./", "https://EVIL.example."];
    all_say(&[blocking(&["evil.example"])], &urls, "host_blocked");
    all_say(&[allowing(&["evil.example"])], &urls, "ok");
    let policies = [public(), blocking(&["x.com"]), allowing(&["x.com"])];
    all_say(
        &policies,
        &["http://metadata.google.internal./"],
        "name_reserved",
    );
    all_say(&policies, &["http://169.254.169.254./"], "address_metadata");
    let malformed = [
        "http://x.com../",
        "http://.x.com/",
        "http://x..com/",
        "http://./",
    ];
    all_say(&policies, &malformed, "host_malformed");
}

#[test]
fn a4_the_dotless_spelling_is_what_is_dialled() {
    let policy = compiled(&allowing(&["api.example.com"]));
    let url = "https://API.Example.com.:443/A?b";
    match policy.decide(&Head {
        url,
        method: "GET",
        host: None,
    }) {
        Decision::Allow { target, .. } => {
            assert_eq!(target.to_string(), "https://api.example.com/A?b");
        }
        Decision::Deny(denial) => panic!("{denial}"),
    }
}

#[test]
fn a5_brackets_hold_ipv6_addresses_only() {
    let policies = [public(), allowing(&["example.com"])];
    let urls = [
        "http://[example.com]/",
        "http://[[::1]]/",
        "http://[::1/",
        "http://::1]/",
        "http://[]/",
        "http://[2606:4700::1111].example.com/",
        "http://[127.0.0.1]/",
    ];
    all_say(&policies, &urls, "host_malformed");
    assert_eq!(
        judge(&compiled(&public()), "CONNECT", "[evil.com]:443", None),
        "method_refused"
    );
}

#[test]
fn a7_wildcards_other_than_a_first_label_are_refused_when_written() {
    for entry in [
        "*example.com",
        "a.*.b.com",
        "*",
        "*.*",
        "ex*ample.com",
        "example.*",
        "*.*.com",
    ] {
        let text = flaws(&allowing(&[entry])).concat();
        assert!(
            text.contains("allowed_domains[0]") && text.contains("wildcard"),
            "{text}"
        );
    }
    for entry in ["*.com", "*.com."] {
        assert!(
            flaws(&allowing(&[entry])).concat().contains("two labels"),
            "{entry}"
        );
    }
    for entry in [
        "*.",
        "*..com",
        "**.b.com",
        "*.10.0.0.1",
        "*.[2606:4700::1111]",
    ] {
        flaws(&allowing(&[entry]));
    }
}

#[test]
fn a7_a_wildcard_is_what_is_strictly_below() {
    let policies = [allowing(&["*.example.com"])];
    all_say(
        &policies,
        &["https://a.example.com/", "https://a.b.example.com/"],
        "ok",
    );
    let urls = [
        "https://example.com/",
        "https://aexample.com/",
        "https://a.example.com.evil.com/",
    ];
    all_say(&policies, &urls, "host_not_allowed");
}

#[test]
fn a8_lists_that_contradict_are_refused_by_name() {
    assert_eq!(
        flaws(&blocking(&["evil.com", "*.example.com"])),
        ["blocked_domains[1] '*.example.com': no wildcard is taken here; a blocked name takes all names below it with it"]
    );
    let both = PolicyConfig {
        blocked_domains: strings(&["b.com"]),
        ..allowing(&["a.com"])
    };
    assert_eq!(
        flaws(&both),
        ["blocked_domains: cannot be combined with allowed_domains"]
    );
    for access in [Access::Enabled, Access::Disabled] {
        let config = PolicyConfig {
            access,
            ..blocking(&["b.com"])
        };
        assert_eq!(
            flaws(&config),
            ["blocked_domains: only with access 'restricted'"]
        );
    }
}

#[test]
fn a8_an_override_may_not_broaden_its_template() {
    let template = policy(&allowing(&["*.example.com"]));
    let narrower = policy(&allowing(&["api.example.com"]));
    let broader = policy(&allowing(&["api.example.com", "evil.com"]));
    assert_eq!(narrower.widening(&template), None);
    assert!(broader.widening(&template).is_some());
    let merged = CompiledPolicy::new(&broader.narrow(&template), &OwnHosts::default());
    assert_eq!(get(&merged, "https://api.example.com/"), "ok");
    assert_eq!(get(&merged, "https://evil.com/"), "host_not_allowed");
    assert_eq!(
        get(&merged, "https://other.example.com/"),
        "host_not_allowed"
    );
}

#[test]
fn a10_hosts_outside_ascii_are_refused_on_the_wire_and_in_lists() {
    let policies = [public(), allowing(&["example.com"])];
    let urls = [
        "http://example。com/",
        "http://exаmple.com/",
        "http://ⓔxample.com/",
    ];
    all_say(&policies, &urls, "host_not_ascii");
    assert!(flaws(&allowing(&["bücher.example"]))
        .concat()
        .contains("A-labels"));
    all_say(
        &[allowing(&["xn--bcher-kva.example"])],
        &["http://XN--bcher-kva.example/"],
        "ok",
    );
}

#[test]
fn a11_percent_in_a_host_is_denied() {
    let urls = [
        "http://example.com%2F10.0.0.1/",
        "http://example%2ecom/",
        "http://%65xample.com/",
    ];
    all_say(
        &[public(), allowing(&["example.com"])],
        &urls,
        "host_malformed",
    );
}

#[test]
fn a13_zones_are_denied_and_wildcards_match_no_address() {
    let policies = [allowing(&["*.allowed.com"]), public()];
    let urls = [
        "http://[::ffff:1.2.3.4%25x.allowed.com]/",
        "http://[fe80::1%25eth0]/",
        "http://[2606:4700::1111%x.allowed.com]/",
    ];
    all_say(&policies, &urls, "host_malformed");
    all_say(
        &policies[..1],
        &["http://[2606:4700::1111]/"],
        "host_not_allowed",
    );
}

#[test]
fn a14_a_port_is_allowed_if_it_is_named() {
    let plain = allowing(&["example.com"]);
    let urls = [
        "https://example.com:9999/",
        "http://example.com:443/",
        "https://example.com:80/",
    ];
    all_say(
        &[plain.clone(), blocking(&["x.com"])],
        &urls,
        "port_not_allowed",
    );
    all_say(
        std::slice::from_ref(&plain),
        &["https://example.com:443/", "http://example.com:80/"],
        "ok",
    );
    let named = with_rule(
        plain,
        serde_json::json!({"host": "example.com", "ports": [9999]}),
    );
    all_say(&[named], &["https://example.com:9999/"], "ok");
}
