//! Subagents: agents that a session's agent makes to help it.
use serde::{Deserialize, Serialize};

/// A subagent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subagent {
    /// `agent_…`.
    pub id: String,
    /// Always the same word.
    pub object: SubagentObject,
    /// Its session.
    pub session_id: String,
    /// The agent that made it: the session's, or another subagent.
    pub parent_agent_id: String,
    /// What it is called, if it has a name.
    pub name: Option<String>,
    /// What it was told first, if that is known.
    pub instructions: Option<Vec<AgentContent>>,
    /// Where it stands.
    pub status: SubagentStatus,
    /// When it was made, in seconds.
    pub opened_at: u64,
    /// When it was closed.
    pub closed_at: Option<u64>,
}

/// `agent.session.subagent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubagentObject {
    /// The word.
    #[default]
    #[serde(rename = "agent.session.subagent")]
    Subagent,
}

/// Where a subagent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubagentStatus {
    /// It can be given work.
    Active,
    /// It cannot.
    Closed,
}

/// What one agent says to another. The API's encrypted kind does not occur here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", from = "StoredContent")]
pub enum AgentContent {
    /// Text.
    OutputText {
        /// The text.
        text: String,
    },
}

/// [`AgentContent`] as it is read back.
#[derive(Deserialize)]
struct StoredContent {
    text: String,
}

impl From<StoredContent> for AgentContent {
    fn from(stored: StoredContent) -> AgentContent {
        AgentContent::OutputText { text: stored.text }
    }
}
