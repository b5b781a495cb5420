//! What agents do with subagents. Ids of agents are the session's agent's or a subagent's.
use serde::Serialize;

use super::CallStatus;
use crate::wire::{session::Effort, subagent::AgentContent};

/// An agent makes a subagent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CreateSubagentCall {
    /// `call_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// The agent that makes it.
    pub agent_id: String,
    /// What the subagent is told.
    pub content: Vec<AgentContent>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The effort that was asked for.
    pub reasoning_effort: Option<Effort>,
    /// Where it stands.
    pub status: CallStatus,
}

/// An agent gives a subagent more to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SendSubagentInputCall {
    /// `call_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// Who speaks.
    pub sender_agent_id: String,
    /// To whom.
    pub recipient_agent_id: String,
    /// What is said.
    pub content: Vec<AgentContent>,
    /// Where it stands.
    pub status: CallStatus,
}

/// An agent waits for subagents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitForSubagentsCall {
    /// `call_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// Who waits.
    pub sender_agent_id: String,
    /// For whom.
    pub recipient_agent_ids: Vec<String>,
    /// Where it stands.
    pub status: CallStatus,
}

/// An agent interrupts, resumes or closes a subagent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubagentCall {
    /// `call_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// Who does it.
    pub sender_agent_id: String,
    /// To whom.
    pub recipient_agent_id: String,
    /// Where it stands.
    pub status: CallStatus,
}

/// An agent's words to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentMessage {
    /// `amsg_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// Who speaks.
    pub sender_agent_id: String,
    /// To whom.
    pub recipient_agent_id: String,
    /// What is said.
    pub content: Vec<AgentContent>,
}
