//! What workerd may change while the interceptor runs.

use serde::Deserialize;

use crate::glob::Glob;

#[cfg(test)]
mod tests;

/// Most patterns that an update may carry.
const MAX_PATTERNS: usize = 1024;

/// The settings in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Port of workerd's egress listener.
    pub egress_port: u16,
    /// Whether the container may use the internet. Changes nothing here: workerd judges each connection, and names are
    /// never looked up outside, so with it on only intercepted names and plain addresses work.
    pub internet: bool,
    /// Names that resolve. None until workerd says so.
    pub allowed: Vec<Glob>,
}

/// Body of `PUT /egress`. What is absent stays as it is.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    port: Option<u16>,
    internet: Option<Internet>,
    dns: Option<Dns>,
}

#[derive(Debug, Deserialize)]
struct Internet {
    enabled: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dns {
    allow_hostnames: Option<Vec<String>>,
}

// === impl Settings ===

impl Settings {
    /// Settings at the start: nothing resolves.
    pub fn new(egress_port: u16) -> Self {
        Self {
            egress_port,
            internet: false,
            allowed: Vec::new(),
        }
    }

    /// These settings with an update applied, or `None` if the update is not well-formed.
    pub fn updated(&self, body: &[u8]) -> Option<Self> {
        let update: Update = serde_json::from_slice(body).ok()?;
        let mut next = self.clone();
        if let Some(port) = update.port {
            next.egress_port = (port != 0).then_some(port)?;
        }
        if let Some(enabled) = update.internet.and_then(|internet| internet.enabled) {
            next.internet = enabled;
        }
        if let Some(patterns) = update.dns.and_then(|dns| dns.allow_hostnames) {
            (patterns.len() <= MAX_PATTERNS).then_some(())?;
            next.allowed = patterns
                .iter()
                .map(|pattern| Glob::new(pattern))
                .collect::<Option<_>>()?;
        }
        Some(next)
    }

    /// Whether a name resolves. The name must be in lower case and without the root's dot.
    pub fn allows(&self, name: &str) -> bool {
        self.allowed.iter().any(|glob| glob.matches(name))
    }
}
