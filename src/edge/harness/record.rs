use crate::checkpoint::{Checkpoint, CheckpointId};
use crate::edge::calls::Notice;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Name of the row with the [`Record`].
pub const STATE: &str = "state";
/// Names of the rows with the running turn's [`RunTurn`](crate::edge::calls::RunTurn): apart, since they are large and do not
/// change, and the agent apart from the input, since both fill a row.
pub const AGENT: &str = "agent";
pub const INPUT: &str = "input";
/// Name of the row with the patterns of what the running turn's checkpoint leaves out.
pub const EXCLUDE: &str = "exclude";
/// Name of the row with the [`Prepared`] end of the running turn.
pub const PREPARED: &str = "prepared";
/// What the names of rows with commands for the running turn begin with; then comes their number, and what they name.
pub const COMMAND: &str = "command:";

/// What is stored of a harness, but for what its turn was asked to do.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Record {
    /// Epoch of the newest container instance; 0 before the first.
    pub epoch: u64,
    /// Number of the newest link to it.
    pub link: u64,
    /// The harness's own thread, in this instance.
    pub thread: Option<String>,
    /// The checkpoint that this instance was stored as; none from the beginning of the next turn on.
    pub holds: Option<CheckpointId>,
    /// How many commands were stored for the running turn.
    pub commands: u64,
    /// The running turn.
    pub turn: Option<ActiveTurn>,
    /// The newest turns that are over.
    pub over: VecDeque<String>,
    /// Whose it is, from the newest turn.
    pub owner: Option<Owner>,
    /// Since when nothing runs, Unix milliseconds.
    pub idle_since: u64,
}

/// The session and the sandbox of a harness, by the names of their objects.
#[derive(Clone, Serialize, Deserialize)]
pub struct Owner {
    /// Name of the SessionDO, under which the session's objects are stored.
    pub session: String,
    /// Public id of the session.
    pub session_id: String,
    /// Name of the SandboxDO; none for a session that only talks.
    pub sandbox: Option<String>,
}

/// A turn that SessionDO asked for and whose end it has not stored.
#[derive(Clone, Serialize, Deserialize)]
pub struct ActiveTurn {
    /// The turn.
    pub turn_id: String,
    /// Preset of the agent.
    pub preset: String,
    /// How the provider serves it; none leaves it to the provider.
    pub service_tier: Option<String>,
    /// What its containers held when it began.
    pub checkpoint: Option<Checkpoint>,
    /// Whether a sandbox was made for it.
    #[serde(default)]
    pub new_sandbox: bool,
    /// Epoch of the instance that was made ready for it.
    pub prepared: Option<u64>,
    /// Epoch of the instance that was told to start it; from then on its outcome is unknown if that instance is lost.
    pub sent_to: Option<u64>,
    /// It is to be interrupted.
    pub interrupt: bool,
}

/// The end of a turn as it goes to SessionDO: if the harness and this object's memory are gone, it can still be told.
#[derive(Serialize, Deserialize)]
pub struct Prepared {
    /// The turn.
    pub turn_id: String,
    /// Epoch of the instance that ended it.
    pub epoch: u64,
    /// What has become of its checkpoint.
    pub notice: Notice,
    /// The frame with its end.
    pub frame: String,
}

impl Record {
    /// The running turn, if it is this one.
    pub fn turn_named(&mut self, id: &str) -> Option<&mut ActiveTurn> {
        self.turn.as_mut().filter(|turn| turn.turn_id == id)
    }
}
