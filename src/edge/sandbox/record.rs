use crate::checkpoint::CheckpointId;
use serde::{Deserialize, Serialize};

/// Name of the row with the [`Record`].
pub const STATE: &str = "state";

/// What is stored of a sandbox.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Epoch of the newest container instance; 0 before the first.
    pub epoch: u64,
    /// When it is destroyed, Unix milliseconds.
    pub expires_at: u64,
    /// What is known of that instance; none while it is started or restored, and before the first.
    pub live: Option<Live>,
}

/// A container whose workspace is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// Random name of the instance, the first half of its marker.
    pub instance: String,
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
