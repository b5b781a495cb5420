#![allow(clippy::unwrap_used, clippy::panic)]
mod cases;
mod properties;

use super::*;
use crate::policy::{Access, CompiledPolicy, EgressPolicy, Head, OwnHosts, PolicyConfig};
use crate::vault::Variable;

const A: &str = "sk-canary-a";
const B: &str = "sk-canary-b";

/// What one sandbox sent: its URL as it was sent on, and its headers.
struct Sent {
    url: Option<String>,
    headers: Vec<(String, String)>,
    substitution: Substitution,
}

fn limited(hosts: &[&str]) -> Networking {
    Networking::Limited {
        allowed_hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
    }
}

fn bound(credential: &str, value: &str, number: u8, networking: Networking) -> Bound {
    Bound {
        credential: credential.to_owned(),
        variable: Variable {
            name: credential.to_uppercase(),
            value: Secret::new(value),
            networking,
        },
        placeholder: Placeholder::new([number; 16]),
    }
}

/// The placeholder of that number.
fn ph(number: u8) -> String {
    Placeholder::new([number; 16]).to_string()
}

/// Credential `a` for a.example.com, `b` for b.example.com.
fn injector() -> Injector {
    let bound = vec![
        bound("a", A, 1, limited(&["a.example.com"])),
        bound("b", B, 2, limited(&["b.example.com"])),
    ];
    Injector::new(bound, HeaderNames::parse(&["X-Api-Key"]).unwrap())
}

fn allowing(hosts: &[&str]) -> CompiledPolicy {
    let mut config = PolicyConfig::new(Access::Restricted);
    config.allowed_domains = hosts.iter().map(|&host| host.to_owned()).collect();
    CompiledPolicy::new(&EgressPolicy::parse(&config).unwrap(), &OwnHosts::default())
}

/// All hosts of these tests, on the ports that secrets go to besides others.
fn policy() -> CompiledPolicy {
    let config = PolicyConfig::new(Access::Enabled);
    CompiledPolicy::new(&EgressPolicy::parse(&config).unwrap(), &OwnHosts::default())
}

fn send(injector: &Injector, policy: &CompiledPolicy, url: &str, headers: &[(&str, &str)]) -> Sent {
    let head = Head {
        url,
        method: "GET",
        host: None,
    };
    let decision = policy.decide(&head);
    let mut headers: Vec<(String, String)> = headers
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let substitution = injector.substitute(&decision, &mut headers);
    let url = match decision {
        Decision::Allow { target, .. } => Some(target.to_string()),
        Decision::Deny(_) => None,
    };
    Sent {
        url,
        headers,
        substitution,
    }
}

impl Sent {
    fn value(&self, name: &str) -> &str {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        &values.next().unwrap().1
    }

    fn counts(&self) -> Vec<(&str, u32)> {
        let counts = self.substitution.counts.iter();
        counts
            .map(|count| (count.credential.as_str(), count.times))
            .collect()
    }

    fn has(&self, secret: &str) -> bool {
        format!("{:?} {:?}", self.url, self.headers).contains(secret)
    }
}
