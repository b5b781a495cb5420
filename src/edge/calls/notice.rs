use crate::checkpoint::{CheckpointId, Saved, Unsaved};
use serde::{Deserialize, Serialize};

/// What HarnessDO itself has to say with frames that it hands on: the first line of each message, which is empty if there is
/// nothing. Nothing that a supervisor sends can become one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Notice {
    /// A checkpoint is about to be stored: its objects may exist from now on.
    Saving {
        /// The turn that has ended.
        turn_id: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// The checkpoint is whole. It is committed with the end of the turn, which follows in the same message.
    Saved {
        /// The turn that has ended.
        turn_id: String,
        /// The checkpoint.
        saved: Box<Saved>,
    },
    /// There is no checkpoint.
    Unsaved {
        /// The turn that has ended.
        turn_id: String,
        /// Why.
        why: Unsaved,
    },
}
