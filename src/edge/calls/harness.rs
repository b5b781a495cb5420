use crate::tenant::TenantHash;
use cloister_protocol::{AgentSettings, Input};
use serde::{Deserialize, Serialize};

/// What is asked of a HarnessDO.
#[derive(Serialize, Deserialize)]
pub enum HarnessCall {
    /// Runs a turn: `()`. Answers when the harness has the turn; the same turn again changes nothing.
    Run(Box<RunTurn>),
    /// Adds input to the running turn: `()`. Whether it was taken comes as an event.
    Steer {
        /// The turn.
        turn_id: String,
        /// Names the input in the event.
        input_id: String,
        /// The input.
        input: Vec<Input>,
    },
    /// Stops a turn: `()`. Its end comes as an event.
    Interrupt {
        /// The turn.
        turn_id: String,
    },
    /// Ends both containers, whatever they do: `()`.
    Destroy,
}

/// One turn and whose it is.
#[derive(Clone, Serialize, Deserialize)]
pub struct RunTurn {
    /// Tenant of the session.
    pub tenant: TenantHash,
    /// Public id of the session.
    pub session_id: String,
    /// Public id of its environment.
    pub environment_id: String,
    /// Preset that the agent named.
    pub preset: String,
    /// Public id of the turn.
    pub turn_id: String,
    /// Settings of the agent.
    pub agent: AgentSettings,
    /// What the user said.
    pub input: Vec<Input>,
}

/// Header with the preset of the running turn, in the answer to `GET /authorize?epoch=`: the container instance of that epoch
/// may act now. Without it, it may not.
pub const PRESET_HEADER: &str = "x-preset";
