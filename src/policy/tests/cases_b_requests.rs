//! Which request, under which policy? Named after the public cases they come from.
use super::super::Decision;
use super::*;

#[test]
fn b17_methods_that_echo_are_refused_before_anything_else() {
    for config in [
        public(),
        allowing(&["a.com"]),
        PolicyConfig::new(Access::Disabled),
    ] {
        let policy = compiled(&config);
        for method in ["TRACE", "TRACK", "CONNECT", "trace", "Connect"] {
            for url in ["https://a.com/", "not a url"] {
                let decision = policy.decide(&Head {
                    url,
                    method,
                    host: Some("x"),
                });
                let reason = decision.reason().unwrap();
                assert_eq!(
                    (reason.code(), reason.status()),
                    ("method_refused", 405),
                    "{method}"
                );
            }
        }
        for method in ["", "get", "GET ", "GE\0T", "G/T", &"A".repeat(33)] {
            assert_eq!(
                judge(&policy, method, "https://a.com/", None),
                "method_malformed"
            );
        }
    }
    assert_eq!(
        judge(
            &compiled(&public()),
            "VERSION-CONTROL",
            "https://a.com/",
            None
        ),
        "ok"
    );
}

#[test]
fn b23_own_hosts_are_denied_whatever_is_listed() {
    let own = OwnHosts::parse(&[
        "gateway.example.net",
        "cloister.workers.dev",
        "203.0.114.7",
        "localhost",
    ])
    .unwrap();
    for config in [
        public(),
        blocking(&["x.com"]),
        allowing(&[
            "gateway.example.net",
            "*.example.net",
            "*.workers.dev",
            "203.0.114.7",
        ]),
    ] {
        let policy = CompiledPolicy::new(&policy(&config), &own);
        for url in [
            "https://gateway.example.net/",
            "https://GATEWAY.example.net./",
            "https://a.gateway.example.net/",
            "https://preview.cloister.workers.dev/",
            "http://203.0.114.7/",
        ] {
            assert_eq!(get(&policy, url), "own_host", "{url}");
        }
        assert_ne!(get(&policy, "https://other.example.net/"), "own_host");
        for url in [
            "http://backup.internal/",
            "http://model.internal/",
            "http://r2.internal/",
        ] {
            assert_eq!(get(&policy, url), "name_reserved");
        }
    }
}

#[test]
fn b26_a_refusal_says_what_why_and_what_would_allow_it() {
    let policy = compiled(&allowing(&["a.com"]));
    let head = Head {
        url: "https://B.com/secret?token",
        method: "GET",
        host: None,
    };
    let Decision::Deny(denial) = policy.decide(&head) else {
        panic!("allowed")
    };
    assert_eq!(
        denial.to_string(),
        "The request to b.com was refused: the host is not in allowed_domains. \
         Work without it, or ask for a session whose allowed_domains has this host."
    );
}

#[test]
fn b28_an_empty_list_denies_all() {
    for config in [allowing(&[]), PolicyConfig::new(Access::Disabled)] {
        all_say(
            &[config],
            &["https://a.com/", "http://8.8.8.8/"],
            "network_disabled",
        );
    }
}

#[test]
fn h23_entries_that_pass_elsewhere_are_refused_by_name() {
    let entries = [
        "*.com",
        "example..com",
        "127.0.0.1",
        "2130706433",
        "localhost",
        "metadata.google.internal",
    ];
    let flaws = flaws(&allowing(&entries));
    assert_eq!(flaws.len(), entries.len());
    for ((at, entry), flaw) in entries.iter().enumerate().zip(&flaws) {
        assert!(
            flaw.starts_with(&format!("allowed_domains[{at}] '{entry}': ")),
            "{flaw}"
        );
    }
}

#[test]
fn h23_lists_are_for_restricted_only() {
    let config = PolicyConfig {
        access: Access::Enabled,
        ..allowing(&["a.com"])
    };
    assert_eq!(
        flaws(&config),
        ["allowed_domains: only with access 'restricted'"]
    );
}
