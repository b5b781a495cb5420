//! Egress policies: what a sandbox may reach, decided for every HTTP(S) request that it sends.
//!
//! ```
//! use cloister::policy::{Access, CompiledPolicy, EgressPolicy, Head, OwnHosts, PolicyConfig};
//!
//! let mut config = PolicyConfig::new(Access::Restricted);
//! config.allowed_domains = vec!["api.example.com".into(), "*.example.org".into()];
//! let policy = EgressPolicy::parse(&config).unwrap();
//!
//! let own = OwnHosts::parse(&["gateway.example.net"]).unwrap();
//! let compiled = CompiledPolicy::new(&policy, &own);
//! let decide = |url| compiled.decide(&Head { url, method: "GET", host: None });
//!
//! assert!(decide("https://api.example.com/v1?q=1").is_allowed());
//! assert!(decide("https://a.b.example.org/").is_allowed());
//!
//! let refused = decide("https://example.org/").reason().unwrap();
//! assert_eq!(refused.code(), "host_not_allowed");
//! ```
//!
//! # The model
//!
//! A [`PolicyConfig`] is what somebody wrote. [`EgressPolicy::parse`] makes an [`EgressPolicy`] of it once, canonical and
//! with every mistake named; that is what is stored. [`CompiledPolicy`] is the same with indexes, and decides.
//!
//! | `access` | lists | [`Mode`] | reachable |
//! |---|---|---|---|
//! | `disabled` | none | `DenyAll` | nothing |
//! | `restricted` | none | `DenyAll` | nothing |
//! | `restricted` | `allowed_domains` | `AllowOnly` | the listed hosts, as their `rules` say |
//! | `restricted` | `blocked_domains` | `AllExcept` | public hosts by name, but the blocked ones and all below them; ports 80 and 443 |
//! | `enabled` | none | `Public` | public hosts by name or address, every port |
//!
//! * **A request is read once, strictly.** A URL is refused unless every reader would find the same host, port and path in
//!   it; so the one that dials cannot see another than the one that judged. This needs no URL library and no Unicode
//!   tables: hosts are ASCII, as they are on the wire. A test compares with the WHATWG's algorithm.
//! * **Some things are refused in every mode**: [methods](Reason::MethodRefused) that echo or tunnel, a Host header that
//!   differs from the URL, [addresses](address) and [names](reserved) that are not public, and the deployment's [`OwnHosts`].
//! * **Entries** are [`HostPattern`]s. The nearest one decides: the host's own, then the longest wildcard.
//! * **Rules** say how a listed host may be used. They never add a host, so `allowed_domains` tells all that is reachable.
//!   An entry without rules allows everything on port 80 (http) and 443 (https). One with rules allows what one of them
//!   allows. Where a rule looks at the path, a path that [can be read in several ways](path::is_ambiguous) is refused.
//! * **Policies narrow one another.** [`EgressPolicy::narrow`] asks both; [`EgressPolicy::widening`] tells whether a
//!   session's policy tries to allow more than its template's.
//! * **Doubt denies.** A stored policy that cannot be read denies all.
//!
//! What is dialled, and which Host header goes with it, comes from the [`Target`] of the decision. The policy sees names,
//! not what they resolve to: that public names do not lead to private addresses is up to whoever dials. A redirect is no
//! matter of the policy either: its next hop is a new request, judged like any other.
//!
//! # Cost
//!
//! A decision looks up the host by hash, and each name above it that has as many labels as some wildcard. It does not grow
//! with the list (the longest name under the worst list: 126 look-ups), and allocates only for a host in capitals.
//! [`limits`] has what is refused for its size.
pub mod address;
mod compile;
mod config;
mod decide;
mod egress_policy;
mod host;
mod index;
pub mod limits;
mod mode;
mod narrow;
pub mod path;
mod pattern;
mod reason;
pub mod reserved;
mod rules;
mod target;

#[cfg(test)]
mod tests;

pub use self::{
    address::AddressClass,
    compile::{CompiledPolicy, OwnHosts},
    config::{Access, Flaw, FlawKind, PolicyConfig, PolicyError, RuleConfig},
    decide::{Decision, Matched},
    egress_policy::EgressPolicy,
    host::{Host, HostError},
    mode::{Entry, Mode},
    narrow::Widening,
    pattern::{HostPattern, PatternError},
    reason::{Denial, Reason},
    rules::Rule,
    target::{Head, Scheme, Target},
};
