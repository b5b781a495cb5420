//! The state of one turn.

use cloister_protocol::{AgentSettings, Function, Input, Outcome};

/// The turn that runs.
#[derive(Debug)]
pub struct Turn {
    /// Its id in the protocol.
    pub id: String,
    /// Where it stands with Codex.
    pub state: State,
    /// Whether it is to be stopped.
    pub interrupt: Interrupt,
    /// Threads that are being stopped.
    pub stopping: usize,
    /// Inputs that wait for Codex's id of the turn.
    pub steers: Vec<(String, Vec<Input>)>,
    /// What the agent may call.
    pub functions: Vec<Function>,
}

impl Turn {
    /// Codex's thread, while the turn runs.
    pub fn thread(&self) -> Option<&str> {
        match &self.state {
            State::Running { thread, .. } => Some(thread),
            State::Opening { .. } | State::Starting { .. } | State::Ended { .. } => None,
        }
    }
}

/// Where a turn stands with Codex.
#[derive(Debug)]
pub enum State {
    Opening {
        agent: Box<AgentSettings>,
        input: Vec<Input>,
        /// What a thread that is begun anew is given first.
        history: Option<Vec<serde_json::Value>>,
    },
    Starting {
        thread: String,
    },
    Running {
        thread: String,
        codex: String,
    },
    /// Codex is done; its processes are being killed.
    Ended {
        outcome: Outcome,
    },
}

/// Whether a turn is to be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    No,
    /// To be sent when Codex's id of the turn is known, or again when the turn has really begun.
    Wanted,
    /// `turn/interrupt` or the cleaning is on its way.
    Sent,
    /// Everything of the turn has been stopped.
    Done,
}
