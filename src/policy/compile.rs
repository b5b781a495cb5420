//! A policy made ready to decide.
use super::config::{FlawKind, PolicyError};
use super::egress_policy::EgressPolicy;
use super::host::Host;
use super::index::Index;
use super::limits::MAX_OWN_HOSTS;
use super::mode::Mode;
use super::pattern::HostPattern;
use std::sync::Arc;

/// The hosts of the deployment itself, which no sandbox reaches: the gateway's names, and all below them. They are few, and
/// looked at one by one.
#[derive(Clone, Debug, Default)]
pub struct OwnHosts(Arc<[HostPattern]>);

/// A policy with the indexes of its lists. Making one costs as much as the list is long, deciding does not: keep it.
#[derive(Debug)]
pub struct CompiledPolicy {
    /// Without any, the policy was unreadable.
    pub(super) layers: Vec<Layer>,
    pub(super) own: OwnHosts,
}

#[derive(Debug)]
pub(super) struct Layer {
    pub(super) mode: Arc<Mode>,
    pub(super) index: Index,
}

impl OwnHosts {
    /// Reads names and addresses, or tells all that is wrong with them. There are no wildcards: all below a name is meant
    /// anyway.
    pub fn parse(hosts: &[&str]) -> Result<Self, PolicyError> {
        let mut error = PolicyError::default();
        if hosts.len() > MAX_OWN_HOSTS {
            error.add("own_hosts", "", FlawKind::TooMany(MAX_OWN_HOSTS));
        }
        let mut patterns = Vec::new();
        for (at, host) in hosts.iter().enumerate() {
            match HostPattern::parse_blocked(host) {
                Ok(pattern) => patterns.push(pattern),
                Err(why) => error.add(format!("own_hosts[{at}]"), host, FlawKind::Pattern(why)),
            }
        }
        error.check()?;
        Ok(Self(patterns.into()))
    }

    /// Whether `host` is one of them or below one.
    pub(super) fn contain(&self, host: &Host) -> bool {
        self.0.iter().any(|own| own.is_at_or_above(host))
    }
}

impl CompiledPolicy {
    /// Of a policy.
    pub fn new(policy: &EgressPolicy, own: &OwnHosts) -> Self {
        Self {
            layers: policy.layers().iter().map(Layer::new).collect(),
            own: own.clone(),
        }
    }

    /// Of a policy as it was stored, in JSON. One that cannot be read denies all.
    pub fn of_stored(json: &str, own: &OwnHosts) -> Self {
        match serde_json::from_str(json) {
            Ok(policy) => Self::new(&policy, own),
            Err(_) => Self {
                layers: Vec::new(),
                own: own.clone(),
            },
        }
    }
}

impl Layer {
    fn new(mode: &Arc<Mode>) -> Self {
        let index = match mode.as_ref() {
            Mode::DenyAll | Mode::Public => Index::default(),
            Mode::AllowOnly(entries) => Index::new(entries.iter().map(|entry| &entry.pattern)),
            Mode::AllExcept(blocked) => Index::with_subtrees(blocked.iter()),
        };
        Self {
            mode: Arc::clone(mode),
            index,
        }
    }
}
