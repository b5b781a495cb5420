use super::GrantCall;
use crate::checkpoint::Checkpoint;
use crate::tenant::TenantHash;
use cloister_protocol::{AgentSettings, Decision, Input};
use serde::{Deserialize, Serialize};

/// What is asked of a HarnessDO.
#[derive(Serialize, Deserialize)]
pub enum HarnessCall {
    /// Runs a turn: a [`Started`], or a refusal; one because of its environment says so. Answers when the harness has the turn.
    /// The same turn again changes nothing: while it is on its way the call waits, and then it is answered as it was.
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
    /// The client's result of a function call: `()`.
    ToolResult {
        /// The turn.
        turn_id: String,
        /// The call.
        call_id: String,
        /// Whether the function did its work.
        success: bool,
        /// What it gave.
        output: Vec<Input>,
    },
    /// The client's answer to a request for approval: `()`.
    Approval {
        /// The turn.
        turn_id: String,
        /// The request.
        request_id: String,
        /// The answer.
        decision: Decision,
    },
    /// Stops a turn: `()`. Its end comes as an event.
    Interrupt {
        /// The turn.
        turn_id: String,
    },
    /// The container spends a grant.
    Grant(GrantCall),
    /// Ends both containers: `()`.
    Destroy {
        /// Only if no other turn than this runs in them; none: whatever they do.
        turn_id: Option<String>,
    },
}

/// A turn is with its harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Whether the sandbox was made for this turn. False for a session that only talks, and for a turn that is over.
    pub new_sandbox: bool,
}

/// One turn and whose it is.
#[derive(Clone, Serialize, Deserialize)]
pub struct RunTurn {
    /// Tenant of the session.
    pub tenant: TenantHash,
    /// Public id of the session.
    pub session_id: String,
    /// Public id of its environment; none for a session that only talks.
    pub environment_id: Option<String>,
    /// Preset that the agent named.
    pub preset: String,
    /// How the provider serves it; none leaves it to the provider.
    pub service_tier: Option<String>,
    /// What the session's containers must hold when the turn begins; none if no turn has ended.
    pub checkpoint: Option<Checkpoint>,
    /// What of the workspace is not kept: patterns.
    pub exclude: Vec<String>,
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
/// Header with the turn's service tier in that answer, if it has one.
pub const TIER_HEADER: &str = "x-service-tier";
