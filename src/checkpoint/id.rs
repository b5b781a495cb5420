use crate::wire::id::Kind;
use serde::{Deserialize, Serialize};

/// Names a checkpoint, from the first try to make it: `ckpt_…`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CheckpointId(String);

/// What is no id of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidCheckpointId;

impl CheckpointId {
    /// A new one.
    pub fn new(random: [u8; 16]) -> Self {
        Self(Kind::Checkpoint.id(random))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CheckpointId {
    type Error = InvalidCheckpointId;
    fn try_from(text: String) -> Result<Self, InvalidCheckpointId> {
        if Kind::Checkpoint.fits(&text) {
            Ok(Self(text))
        } else {
            Err(InvalidCheckpointId)
        }
    }
}

impl From<CheckpointId> for String {
    fn from(id: CheckpointId) -> Self {
        id.0
    }
}

impl std::fmt::Display for InvalidCheckpointId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an id of a checkpoint is ckpt_ and 32 lower-case hex digits")
    }
}
