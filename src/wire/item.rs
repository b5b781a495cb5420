//! Items: the entries of a conversation.
use serde::{Deserialize, Serialize};

/// An item of a session. `id` and `turn_id` come right after `type`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item {
    /// Words of the user or of the agent.
    Message(Message),
    /// A summary of the model's reasoning.
    Reasoning(Reasoning),
    /// A command in the sandbox.
    CommandExecution(CommandExecution),
}

impl Item {
    /// The item's id.
    pub fn id(&self) -> &str {
        match self {
            Item::Message(item) => &item.id,
            Item::Reasoning(item) => &item.id,
            Item::CommandExecution(item) => &item.id,
        }
    }

    /// The id of its turn.
    pub fn turn_id(&self) -> &str {
        match self {
            Item::Message(item) => &item.turn_id,
            Item::Reasoning(item) => &item.turn_id,
            Item::CommandExecution(item) => &item.turn_id,
        }
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// `msg_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// Who speaks.
    pub role: Role,
    /// Where it stands; a user's is always completed.
    pub status: OutputStatus,
    /// Aside or answer; a user's is null.
    pub phase: Option<Phase>,
    /// What is said.
    pub content: Vec<Content>,
}

impl Message {
    /// A user's message.
    pub fn of_user(id: String, turn_id: String, content: Vec<InputContent>) -> Message {
        let content = content
            .into_iter()
            .map(|InputContent::InputText { text }| Content::InputText { text })
            .collect();
        Message {
            id,
            turn_id,
            role: Role::User,
            status: OutputStatus::Completed,
            phase: None,
            content,
        }
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The client.
    User,
    /// The agent.
    Assistant,
}

/// What an agent's message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// An aside while it works.
    Commentary,
    /// The answer. Clients collect these.
    FinalAnswer,
}

/// Where output stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStatus {
    /// More will come.
    InProgress,
    /// Whole.
    Completed,
    /// Cut short.
    Incomplete,
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Running.
    InProgress,
    /// Ended.
    Completed,
    /// Could not be done.
    Failed,
    /// Cut short.
    Incomplete,
}

/// A part of a message as it is read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// A user's text.
    InputText {
        /// The text.
        text: String,
    },
    /// An agent's text.
    OutputText {
        /// The text.
        text: String,
    },
}

/// A part of a message as a client sends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InputContent {
    /// Text.
    InputText {
        /// The text, verbatim.
        text: String,
    },
}

/// A summary of reasoning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// `rs_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// Where it stands.
    pub status: Option<OutputStatus>,
    /// Its parts.
    pub summary: Vec<Summary>,
}

/// A part of a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Summary {
    /// Text.
    SummaryText {
        /// The text.
        text: String,
    },
}

/// A command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandExecution {
    /// `exec_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// The command line.
    pub command: String,
    /// Where it runs.
    pub cwd: Option<String>,
    /// What it printed, when it has ended.
    pub output: Option<String>,
    /// Its exit code, when it has ended.
    pub exit_code: Option<i32>,
    /// How long it took, when it has ended.
    pub duration_ms: Option<u64>,
    /// Where it stands.
    pub status: CallStatus,
}
