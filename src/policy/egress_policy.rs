//! A policy as it is held and stored.
use super::config::{PolicyConfig, PolicyError};
use super::limits::MAX_LAYERS;
use super::mode::Mode;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a sandbox may reach: a policy, and those that narrow it. A request is allowed if each of them allows it.
///
/// Stored with serde, under a version. What is read back is parsed like what a client sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct EgressPolicy {
    /// The policy itself, then those that narrow it; never empty, none twice.
    layers: Vec<Arc<Mode>>,
}

/// The only version so far.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    layers: Vec<PolicyConfig>,
}

impl EgressPolicy {
    /// Reads what a client or an operator wrote, or tells all that is wrong with it.
    pub fn parse(config: &PolicyConfig) -> Result<Self, PolicyError> {
        Ok(Self::of(Mode::parse(config)?))
    }

    /// A policy of one layer.
    pub(super) fn of(mode: Mode) -> Self {
        Self {
            layers: vec![Arc::new(mode)],
        }
    }

    /// The policy that denies all.
    pub fn deny_all() -> Self {
        Self::of(Mode::DenyAll)
    }

    /// What both allow. It is exact whatever the modes, since both are asked. Narrowing by the same again changes nothing;
    /// more than [`MAX_LAYERS`] deny all.
    #[must_use]
    pub fn narrow(&self, by: &Self) -> Self {
        let mut layers = self.layers.clone();
        for layer in &by.layers {
            if !layers.contains(layer) {
                layers.push(Arc::clone(layer));
            }
        }
        if layers.len() > MAX_LAYERS {
            return Self::deny_all();
        }
        Self { layers }
    }

    /// The policy itself as it is written, without those that narrow it.
    pub fn to_config(&self) -> PolicyConfig {
        let own = self.layers.first().map(|mode| mode.to_config());
        own.unwrap_or_else(|| Mode::DenyAll.to_config())
    }

    /// The policy itself, then those that narrow it.
    pub fn layers(&self) -> &[Arc<Mode>] {
        &self.layers
    }

    /// Bytes of all entries and rules of all layers: what it costs to hold it grows with this.
    pub fn text_bytes(&self) -> usize {
        let configs = self.layers.iter().map(|mode| mode.to_config());
        configs.map(|config| config.text_bytes()).sum()
    }

    /// What it allows, in a sentence for people; long lists are cut.
    pub fn describe(&self) -> String {
        let layers: Vec<String> = self.layers.iter().map(|mode| mode.to_string()).collect();
        format!("Reachable: {}.", layers.join("; and of those, "))
    }
}

impl From<EgressPolicy> for Stored {
    fn from(policy: EgressPolicy) -> Self {
        Self {
            version: VERSION,
            layers: policy.layers.iter().map(|mode| mode.to_config()).collect(),
        }
    }
}

impl TryFrom<Stored> for EgressPolicy {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        if stored.version != VERSION {
            return Err(format!("version {} of a policy", stored.version));
        }
        if !(1..=MAX_LAYERS).contains(&stored.layers.len()) {
            return Err("number of layers".to_owned());
        }
        let mut layers = Vec::with_capacity(stored.layers.len());
        for config in &stored.layers {
            let layer = Mode::parse(config).map_err(|error| error.to_string())?;
            layers.push(Arc::new(layer));
        }
        Ok(Self { layers })
    }
}
