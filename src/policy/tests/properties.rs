//! What holds for every policy and every request.
use super::super::{Decision, HostPattern};
use super::reference::{allows, Request};
use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Names of few labels, so that lists and requests meet.
fn name() -> impl Strategy<Value = String> {
    (
        vec(select(vec!["a", "b", "ab"]), 1..4),
        select(vec!["com", "org"]),
    )
        .prop_map(|(labels, top)| format!("{}.{top}", labels.join(".")))
}

fn host() -> impl Strategy<Value = String> {
    prop_oneof![8 => name(), 1 => select(vec!["8.8.8.8", "9.9.9.9", "[2606:4700::1111]"]).prop_map(str::to_owned)]
}

fn entry() -> impl Strategy<Value = String> {
    prop_oneof![2 => host(), 1 => name().prop_map(|name| format!("*.{name}"))]
}

fn rule() -> impl Strategy<Value = RuleConfig> {
    let some = |values: &[&'static str], most| vec(select(strings(values)), 0..most);
    (
        some(&["http", "https"], 2),
        vec(select(vec![80u32, 443, 8443]), 0..2),
        some(&["GET", "POST"], 2),
        some(&["/", "/a", "/a/", "/a/b", "/b"], 3),
    )
        .prop_map(|(schemes, ports, methods, path_prefixes)| RuleConfig {
            host: String::new(),
            schemes,
            ports,
            methods,
            path_prefixes,
        })
}

/// A policy of the form that it is written in, as any of the modes.
fn config() -> impl Strategy<Value = PolicyConfig> {
    let allow = (
        vec(entry(), 0..8),
        vec((any::<prop::sample::Index>(), rule()), 0..4),
    )
        .prop_map(|(allowed, rules)| {
            let rules = rules.into_iter().filter(|_| !allowed.is_empty());
            let rules = rules
                .map(|(at, rule)| RuleConfig {
                    host: at.get(&allowed).clone(),
                    ..rule
                })
                .collect();
            PolicyConfig {
                allowed_domains: allowed,
                rules,
                ..PolicyConfig::new(Access::Restricted)
            }
        });
    let block = vec(host(), 1..6).prop_map(|blocked| PolicyConfig {
        blocked_domains: blocked,
        ..PolicyConfig::new(Access::Restricted)
    });
    prop_oneof![6 => allow, 3 => block, 1 => Just(public()), 1 => Just(PolicyConfig::new(Access::Disabled))]
}

fn request() -> impl Strategy<Value = Request> {
    let path = select(strings(&[
        "/", "/a", "/a/", "/a/b", "/ab", "/b?a", "/a/b/c",
    ]));
    let scheme = select(vec![("http", 80), ("https", 443)]);
    let port = select(vec![None, None, Some(443), Some(80), Some(8443), Some(1)]);
    (
        select(strings(&["GET", "POST"])),
        scheme,
        port,
        host(),
        path,
    )
        .prop_map(|(method, (scheme, own), port, host, path)| Request {
            method,
            scheme,
            host,
            port: port.unwrap_or(own),
            path,
        })
}

fn decided(policy: &EgressPolicy, request: &Request) -> bool {
    let compiled = CompiledPolicy::new(policy, &OwnHosts::default());
    let url = request.url();
    compiled
        .decide(&Head {
            url: &url,
            method: &request.method,
            host: None,
        })
        .is_allowed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn decisions_are_those_of_the_reference(config in config(), requests in vec(request(), 16)) {
        let policy = policy(&config);
        for request in requests {
            prop_assert_eq!(decided(&policy, &request), allows(&config, &request), "{:?}", request);
        }
    }

    #[test]
    fn an_allowed_host_is_listed_or_below_a_listed_one(config in config(), request in request()) {
        let compiled = compiled(&config);
        let url = request.url();
        if !compiled.decide(&Head { url: &url, method: &request.method, host: None }).is_allowed() {
            return Ok(());
        }
        let at_border = |entry: &String| match entry.strip_prefix("*.") {
            None => request.host == *entry,
            Some(base) => request.host.strip_suffix(base).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        };
        let blocked = |name: &String| request.host == *name || request.host.ends_with(&format!(".{name}"));
        match config.access {
            Access::Enabled => {}
            Access::Disabled => prop_assert!(false),
            Access::Restricted if config.blocked_domains.is_empty() => prop_assert!(config.allowed_domains.iter().any(at_border)),
            Access::Restricted => prop_assert!(!config.blocked_domains.iter().any(blocked)),
        }
    }

    #[test]
    fn narrowing_allows_what_both_allow(a in config(), b in config(), request in request()) {
        let both = decided(&policy(&a).narrow(&policy(&b)), &request);
        prop_assert_eq!(both, allows(&a, &request) && allows(&b, &request));
    }

    #[test]
    fn what_is_not_found_to_be_wider_is_not(a in config(), b in config(), requests in vec(request(), 16)) {
        let (wanted, base) = (policy(&a), policy(&b));
        prop_assert_eq!(wanted.widening(&wanted), None);
        prop_assert_eq!(wanted.narrow(&base).widening(&base), None);
        if wanted.widening(&base).is_none() {
            for request in requests {
                prop_assert!(!allows(&a, &request) || allows(&b, &request), "{:?}", request);
            }
        }
    }

    #[test]
    fn the_canonical_form_is_stable(a in config(), b in config()) {
        let narrowed = policy(&a).narrow(&policy(&b));
        for layer in narrowed.layers() {
            let canonical = layer.to_config();
            prop_assert_eq!(policy(&canonical).layers()[0].to_config(), canonical);
        }
        let text = serde_json::to_string(&narrowed).unwrap();
        let read: EgressPolicy = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
        prop_assert_eq!(read, narrowed);
    }

    #[test]
    fn case_and_a_trailing_dot_make_no_difference(config in config(), request in request()) {
        let odd = Request { host: match request.host.ends_with(']') {
            true => request.host.to_uppercase(),
            false => format!("{}.", request.host.to_uppercase()),
        }, ..request.clone() };
        let policy = policy(&config);
        prop_assert_eq!(decided(&policy, &odd), decided(&policy, &request));
    }

    #[test]
    fn nothing_panics_and_what_parses_is_canonical(
        entries in vec(any::<String>(), 0..3), url in any::<String>(), method in any::<String>(), host in any::<String>(),
    ) {
        for entry in &entries {
            if let Ok(pattern) = HostPattern::parse(entry) {
                prop_assert_eq!(HostPattern::parse(&pattern.to_string()), Ok(pattern));
            }
        }
        let config = PolicyConfig { allowed_domains: entries, ..PolicyConfig::new(Access::Restricted) };
        let _ = EgressPolicy::parse(&config).map_err(|error| error.to_string());
        let compiled = compiled(&public());
        let urls = [url.clone(), format!("http://{url}"), format!("https://a.com/{url}")];
        for url in &urls {
            for method in ["GET", method.as_str()] {
                for host in [None, Some(host.as_str())] {
                    match compiled.decide(&Head { url, method, host }) {
                        Decision::Allow { target, .. } => prop_assert!(target.to_string().is_ascii() || target.path.len() > 1 || target.query.is_some()),
                        Decision::Deny(denial) => prop_assert!(!denial.to_string().contains(char::is_control)),
                    }
                }
            }
        }
    }
}
