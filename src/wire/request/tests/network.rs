//! What a sandbox may reach. Named after the public cases they come from.
#![allow(clippy::panic)]
use super::*;
use crate::policy::{Access, PolicyConfig};

/// The same policy with a new session, and as the body that replaces another: the same but for where mistakes are.
fn read(network: Value) -> Result<EgressPolicy, ApiError> {
    let replaced = network_policy(object(&network));
    let created =
        create(with("/environment/network", network)).map(|wanted| match wanted.environment {
            EnvironmentSpec::Hosted {
                network: Some(network),
                ..
            } => network,
            other => panic!("{other:?}"),
        });
    match (&created, &replaced) {
        (Ok(created), Ok(replaced)) => assert_eq!(created, replaced),
        (Err(created), Err(replaced)) => {
            let param = replaced.param.clone().unwrap();
            let param = format!("environment.network.{param}");
            assert_eq!(created.param.as_ref(), Some(&param));
            assert_eq!((created.status, replaced.status), (400, 400));
        }
        (created, replaced) => panic!("{created:?}, {replaced:?}"),
    }
    created
}

fn allowing(entry: &str) -> Result<EgressPolicy, ApiError> {
    read(json!({"access": "restricted", "allowed_domains": [entry]}))
}

/// Where, below `environment.network`, the first mistake is.
fn flaw(network: Value) -> String {
    let error = read(network).unwrap_err();
    let param = error.param.unwrap();
    param
        .strip_prefix("environment.network.")
        .unwrap()
        .to_owned()
}

#[test]
fn what_was_asked_for_is_what_the_policy_says() {
    for access in ["enabled", "disabled", "restricted"] {
        let lists = json!({"access": access, "allowed_domains": [], "blocked_domains": null, "rules": null});
        assert_eq!(read(lists), read(json!({ "access": access })));
    }
    let config = |network| read(network).unwrap().to_config();
    assert_eq!(
        config(json!({"access": "enabled"})),
        PolicyConfig::new(Access::Enabled)
    );
    assert_eq!(
        config(json!({"access": "restricted"})),
        PolicyConfig::new(Access::Disabled)
    );
    let rule = json!({"host": "*.b.org", "schemes": ["https"], "ports": [8443], "methods": ["GET"], "path_prefixes": ["/v1"]});
    let all = config(
        json!({"access": "restricted", "allowed_domains": ["A.com", "*.b.org"], "rules": [rule]}),
    );
    assert_eq!(all.allowed_domains, ["a.com", "*.b.org"]);
    assert_eq!(serde_json::to_value(&all.rules).unwrap(), json!([rule]));
    let blocked = config(json!({"access": "restricted", "blocked_domains": ["a.com"]}));
    assert_eq!(blocked.blocked_domains, ["a.com"]);
}

#[test]
fn an_omitted_network_is_left_to_the_deployment() {
    for environment in [
        json!({"type": "openai_hosted"}),
        json!({"type": "openai_hosted", "network": null}),
    ] {
        let wanted = create(with("/environment", environment)).unwrap();
        assert_eq!(wanted.environment, plain());
    }
    assert_eq!(
        network_policy(object(&json!({}))).unwrap_err(),
        ApiError::missing("access")
    );
}

#[test]
fn a7_a_wildcard_is_the_whole_first_label_before_two_more() {
    for entry in [
        "*example.com",
        "a.*.b.com",
        "*",
        "*.com",
        "*.",
        "goo*gle",
        "google.*.com",
        "example.*",
    ] {
        let error = allowing(entry).unwrap_err();
        assert_eq!(
            error.param.as_deref(),
            Some("environment.network.allowed_domains[0]")
        );
        assert!(
            error.message.contains(&format!("'{entry}'")),
            "{}",
            error.message
        );
    }
    assert!(allowing("*.example.com").is_ok());
}

#[test]
fn a8_blocked_domains_are_exact_and_alone_and_restricted() {
    for (network, path) in [
        (
            json!({"access": "restricted", "blocked_domains": ["a.com", "*.b.com"]}),
            "blocked_domains[1]",
        ),
        (
            json!({"access": "restricted", "allowed_domains": ["a.com"], "blocked_domains": ["b.com"]}),
            "blocked_domains",
        ),
        (
            json!({"access": "enabled", "blocked_domains": ["a.com"]}),
            "blocked_domains",
        ),
        (
            json!({"access": "disabled", "blocked_domains": ["a.com"]}),
            "blocked_domains",
        ),
    ] {
        assert_eq!(flaw(network.clone()), path, "{network}");
    }
}

#[test]
fn h23_entries_that_are_no_public_host_are_named() {
    for entry in [
        "*.com",
        "example..com",
        "127.0.0.1",
        "2130706433",
        "10.0.0.1",
        "[::1]",
        "localhost",
        "https://a.com",
        "",
    ] {
        let network = json!({"access": "restricted", "allowed_domains": ["a.com", entry]});
        assert_eq!(flaw(network), "allowed_domains[1]", "{entry}");
    }
    // An address is taken if it is public, and is that one alone.
    let config = allowing("8.8.8.8").unwrap().to_config();
    assert_eq!(config.allowed_domains, ["8.8.8.8"]);
    for access in ["enabled", "disabled"] {
        let network = json!({"access": access, "allowed_domains": ["a.com"]});
        assert_eq!(flaw(network), "allowed_domains", "{access}");
        let network = json!({"access": access, "rules": [{"host": "a.com"}]});
        assert_eq!(flaw(network), "rules", "{access}");
    }
}

#[test]
fn the_first_mistake_is_told_and_the_others_are_counted() {
    let text = |domains: Value| {
        let error = read(json!({"access": "restricted", "allowed_domains": domains}));
        error.unwrap_err().message
    };
    assert_eq!(
        text(json!(["a.com", "*.com"])),
        "Invalid 'environment.network.allowed_domains[1]': '*.com': at least two labels must follow '*.'."
    );
    assert_eq!(
        text(json!(vec!["*.com"; 101])),
        "Invalid 'environment.network.allowed_domains[0]': '*.com': at least two labels must follow '*.'. Mistakes besides this one: 100."
    );
    let error = read(json!({"access": "enabled", "allowed_domains": ["a.com"]})).unwrap_err();
    assert_eq!(
        error.message,
        "Invalid 'environment.network.allowed_domains': only with access 'restricted'."
    );
    let long = text(json!(["\u{1b}x".repeat(100_000)]));
    assert!(
        long.len() < 500 && !long.contains(char::is_control),
        "{long}"
    );
}

#[test]
fn shapes_are_strict() {
    let listed = |more: Value| {
        let mut rule = json!({"host": "a.com"});
        let members = more.as_object().unwrap().clone();
        rule.as_object_mut().unwrap().extend(members);
        json!({"access": "restricted", "allowed_domains": ["a.com"], "rules": [rule]})
    };
    assert!(read(listed(json!({"ports": null, "methods": []}))).is_ok());
    for (network, path) in [
        (json!({}), "access"),
        (json!({"access": null}), "access"),
        (json!({"access": "Enabled"}), "access"),
        (json!({"access": 1}), "access"),
        (json!({"access": "enabled", "allow": []}), "allow"),
        (
            json!({"access": "restricted", "allowed_domains": "a.com"}),
            "allowed_domains",
        ),
        (
            json!({"access": "restricted", "allowed_domains": [1]}),
            "allowed_domains[0]",
        ),
        (
            json!({"access": "restricted", "allowed_domains": [null]}),
            "allowed_domains[0]",
        ),
        (
            json!({"access": "restricted", "allowed_domains": ["a\u{0}.com"]}),
            "allowed_domains[0]",
        ),
        (
            json!({"access": "restricted", "allowed_domains": vec!["a.com"; 16_385]}),
            "allowed_domains",
        ),
        (
            json!({"access": "restricted", "blocked_domains": {}}),
            "blocked_domains",
        ),
        (json!({"access": "restricted", "rules": {}}), "rules"),
        (
            json!({"access": "restricted", "rules": ["a.com"]}),
            "rules[0]",
        ),
        (
            json!({"access": "restricted", "rules": [{}]}),
            "rules[0].host",
        ),
        (
            json!({"access": "restricted", "rules": [{"host": null}]}),
            "rules[0].host",
        ),
        (
            json!({"access": "restricted", "allowed_domains": ["a.com"], "rules": vec![json!({"host": "a.com"}); 257]}),
            "rules",
        ),
        (
            json!({"access": "restricted", "allowed_domains": ["a.com"], "rules": [{"host": "b.com"}]}),
            "rules[0].host",
        ),
        (listed(json!({"port": 1})), "rules[0].port"),
        (listed(json!({"ports": ["443"]})), "rules[0].ports[0]"),
        (listed(json!({"ports": [443.0]})), "rules[0].ports[0]"),
        (listed(json!({"ports": [443, 0]})), "rules[0].ports[1]"),
        (listed(json!({"ports": [65_536]})), "rules[0].ports[0]"),
        (listed(json!({"ports": [-1]})), "rules[0].ports[0]"),
        (listed(json!({"ports": vec![443; 33]})), "rules[0].ports"),
        (listed(json!({"schemes": ["ftp"]})), "rules[0].schemes[0]"),
        (listed(json!({"methods": ["get"]})), "rules[0].methods[0]"),
        (
            listed(json!({"path_prefixes": ["v1"]})),
            "rules[0].path_prefixes[0]",
        ),
    ] {
        assert_eq!(flaw(network.clone()), path, "{network}");
    }
    for network in [json!([]), json!("enabled"), json!(true)] {
        let error = create(with("/environment/network", network)).unwrap_err();
        assert_eq!(error.param.as_deref(), Some("environment.network"));
    }
}

/// A session shows its list, and is a row of storage.
#[test]
fn a_list_is_no_longer_than_a_session_can_show() {
    let list = |count: usize| {
        let names: Vec<String> = (0..count)
            .map(|n| format!("h{n:05}.{}.com", "a".repeat(50)))
            .collect();
        json!({"access": "restricted", "allowed_domains": names})
    };
    let most = (256 << 10) / 64;
    let param = |count| read(list(count)).err().and_then(|error| error.param);
    assert_eq!(param(most), None);
    let path = "environment.network.allowed_domains";
    assert_eq!(param(most + 1).as_deref(), Some(path));
}
