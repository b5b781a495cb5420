use crate::checkpoint::CheckpointId;
use serde::{Deserialize, Serialize};

/// Name of the row with the [`Record`].
pub const STATE: &str = "state";
/// Name of the row with the policy that the tenant chose.
pub const POLICY: &str = "policy";
/// Names of the rows with the tenant's variables and set-up commands, sealed.
pub const ENV: &str = "env";
pub const SETUP: &str = "setup";

/// What is stored of a sandbox, but for how it is made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Epoch of the newest container instance; 0 before the first.
    pub epoch: u64,
    /// When it is destroyed, Unix milliseconds.
    pub expires_at: u64,
    /// What is known of that instance; none while it is started or restored, and before the first.
    pub live: Option<Live>,
    /// Its network.
    #[serde(default)]
    pub network: Network,
}

/// What may be reached now, and since when.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Network {
    /// Rises with each instance, at the beginning and the end of set-up, and when the policy is replaced.
    pub epoch: u64,
    /// What was begun under an older epoch than this ends, whatever it is.
    pub floor: u64,
    /// Which policy is in force.
    pub phase: Phase,
    /// When the tenant's policy was set, Unix milliseconds.
    pub updated_at: u64,
}

/// Which policy is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// None: nothing is reachable.
    #[default]
    Closed,
    /// That of set-up.
    SetUp,
    /// The tenant's.
    Open,
}

/// A container whose workspace is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// Random name of the instance, the first half of its marker.
    pub instance: String,
    /// The turn that it was made for.
    #[serde(default)]
    pub made_for: String,
    /// The turn that has it, or had it last.
    pub turn_id: String,
    /// The checkpoint that it was stored as after that turn; none from the beginning of the turn on.
    pub holds: Option<CheckpointId>,
}

impl Live {
    /// What the marker in the sandbox must be.
    pub fn marker(&self) -> String {
        let holds = self.holds.as_ref().map_or("-", CheckpointId::as_str);
        format!("{}/{holds}", self.instance)
    }
}
