//! Any bytes as the head of a request: its method, its Host header, and its URL, one a line. What a policy lets through
//! goes to a host that it lists, on a port that it names; and who reads the URL as the WHATWG has it finds that same host.
#![no_main]
use cloister::policy::{
    path, Access, CompiledPolicy, Decision, EgressPolicy, Head, OwnHosts, PolicyConfig, RuleConfig,
};
use std::sync::LazyLock;
use url::Url;

const SEEDS: [&[u8]; 5] = [
    b"GET\n\nhttps://api.example.com/v1/a%20b?q=1",
    b"POST\nA.b.Example.org:80\nhttp://a.b.example.org.:80/",
    b"GET\n\nhttp://[2606:4700::1111]:80",
    b"GET\nallowed\nhttps://user@api.example.com:8443/v1/../x;y%2f\\#f",
    b"GET\n\nhttp://0x7f.1/",
];

static POLICY: LazyLock<Option<CompiledPolicy>> = LazyLock::new(|| {
    let rule = RuleConfig {
        host: "api.example.com".into(),
        path_prefixes: vec!["/v1".into()],
        ..RuleConfig::default()
    };
    let config = PolicyConfig {
        allowed_domains: ["api.example.com", "*.example.org", "[2606:4700::1111]"]
            .map(String::from)
            .into(),
        rules: vec![rule],
        ..PolicyConfig::new(Access::Restricted)
    };
    let policy = EgressPolicy::parse(&config).ok()?;
    Some(CompiledPolicy::new(&policy, &OwnHosts::default()))
});

libfuzzer_sys::fuzz_target!(init: cloister_fuzz::seed_with(SEEDS), |bytes: &[u8]| {
    let mut lines = std::str::from_utf8(bytes).unwrap_or_default().splitn(3, '\n');
    let (Some(method), Some(host), Some(url)) = (lines.next(), lines.next(), lines.next()) else {
        return;
    };
    let Some(policy) = POLICY.as_ref() else {
        unreachable!("the policy is good");
    };
    let host = Some(host).filter(|host| !host.is_empty());
    let target = match policy.decide(&Head { url, method, host }) {
        Decision::Allow { target, .. } => target,
        Decision::Deny(denial) => {
            assert!(!denial.to_string().contains(char::is_control));
            return;
        }
    };
    let name = target.host.to_string();
    let below = |base| name.strip_suffix(base).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'));
    assert!(name == "api.example.com" || name == "[2606:4700::1111]" || below("example.org"));
    assert_eq!(target.port, target.scheme.default_port());
    if name == "api.example.com" {
        assert!(target.path == "/v1" || target.path.starts_with("/v1/"));
        assert!(!path::is_ambiguous(target.path));
    }
    for text in [url.to_owned(), target.to_string()] {
        match Url::parse(&text) {
            Ok(theirs) => {
                let host = theirs.host_str().unwrap_or_default();
                assert_eq!(host.strip_suffix('.').unwrap_or(host), name);
                assert_eq!(theirs.port_or_known_default(), Some(target.port));
                assert_eq!(theirs.username(), "");
            }
            // It looks into A-labels, and refuses some.
            Err(_) => assert!(name.contains("xn--")),
        }
    }
});
