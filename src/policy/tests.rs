#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod cases_a;
mod cases_b_addresses;
mod cases_b_hops;
mod cases_b_requests;
mod configs;
mod floor;
mod narrowing;
mod properties;
mod reference;
mod rules;
mod stored;
mod targets;

use super::{Access, CompiledPolicy, EgressPolicy, Head, OwnHosts, PolicyConfig, RuleConfig};

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&one| one.to_owned()).collect()
}

fn allowing(allowed: &[&str]) -> PolicyConfig {
    PolicyConfig {
        allowed_domains: strings(allowed),
        ..PolicyConfig::new(Access::Restricted)
    }
}

fn blocking(blocked: &[&str]) -> PolicyConfig {
    PolicyConfig {
        blocked_domains: strings(blocked),
        ..PolicyConfig::new(Access::Restricted)
    }
}

fn public() -> PolicyConfig {
    PolicyConfig::new(Access::Enabled)
}

/// `config` with one more rule, written as JSON.
fn with_rule(mut config: PolicyConfig, rule: serde_json::Value) -> PolicyConfig {
    let rule: RuleConfig = serde_json::from_value(rule).unwrap();
    config.rules.push(rule);
    config
}

fn policy(config: &PolicyConfig) -> EgressPolicy {
    EgressPolicy::parse(config).unwrap_or_else(|error| panic!("{error}"))
}

fn compiled(config: &PolicyConfig) -> CompiledPolicy {
    CompiledPolicy::new(&policy(config), &OwnHosts::default())
}

/// What is decided on a request: `ok`, or the code of the reason.
fn judge(policy: &CompiledPolicy, method: &str, url: &str, host: Option<&str>) -> &'static str {
    let reason = policy.decide(&Head { url, method, host }).reason();
    reason.map_or("ok", |reason| reason.code())
}

fn get(policy: &CompiledPolicy, url: &str) -> &'static str {
    judge(policy, "GET", url, None)
}

/// Every policy here says the same about every URL.
fn all_say(policies: &[PolicyConfig], urls: &[&str], code: &str) {
    for config in policies {
        let policy = compiled(config);
        for url in urls {
            assert_eq!(get(&policy, url), code, "{url:?} under {config:?}");
        }
    }
}

/// What is wrong with a policy, in words.
fn flaws(config: &PolicyConfig) -> Vec<String> {
    let error = EgressPolicy::parse(config).expect_err("a refusal");
    error.flaws.iter().map(ToString::to_string).collect()
}
