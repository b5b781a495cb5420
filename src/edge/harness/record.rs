use serde::{Deserialize, Serialize};

/// Name of the row with the [`Record`].
pub const STATE: &str = "state";
/// Name of the row with the running turn's `RunTurn`: apart, since it is large and does not change.
pub const RUN: &str = "run";

/// What is stored of a harness, but for what its turn was asked to do.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Record {
    /// Epoch of the newest container instance; 0 before the first.
    pub epoch: u64,
    /// Number of the newest link to it.
    pub link: u64,
    /// The harness's own thread, in this instance.
    pub thread: Option<String>,
    /// Highest event of this instance that SessionDO has stored.
    pub stored: u64,
    /// The running turn.
    pub turn: Option<ActiveTurn>,
    /// Whose it is, from the newest turn.
    pub owner: Option<Owner>,
    /// Since when nothing runs, Unix milliseconds.
    pub idle_since: u64,
}

/// The session and the sandbox of a harness, by the names of their objects.
#[derive(Clone, Serialize, Deserialize)]
pub struct Owner {
    /// Name of the SessionDO.
    pub session: String,
    /// Name of the SandboxDO.
    pub sandbox: String,
}

/// A turn that SessionDO asked for and whose end it has not stored.
#[derive(Clone, Serialize, Deserialize)]
pub struct ActiveTurn {
    /// The turn.
    pub turn_id: String,
    /// Preset of the agent.
    pub preset: String,
    /// Epoch of the instance that was told to start it; from then on its outcome is unknown if that instance is lost.
    pub sent_to: Option<u64>,
    /// It is to be interrupted.
    pub interrupt: bool,
}

impl Record {
    /// The running turn, if it is this one.
    pub fn turn_named(&mut self, id: &str) -> Option<&mut ActiveTurn> {
        self.turn.as_mut().filter(|turn| turn.turn_id == id)
    }
}
