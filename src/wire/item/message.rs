//! What the user and the agent say, and what the model thinks.
use serde::{Deserialize, Serialize};

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
            .map(|part| match part {
                InputContent::InputText { text } => Content::InputText { text },
                InputContent::InputImage { image_url } => Content::InputImage { image_url },
            })
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The client.
    User,
    /// The agent.
    Assistant,
}

/// What an agent's message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// An aside while it works.
    Commentary,
    /// The answer. Clients collect these.
    FinalAnswer,
}

/// Where output stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStatus {
    /// More will come.
    InProgress,
    /// Whole.
    Completed,
    /// Cut short.
    Incomplete,
}

/// A part of a message as it is read back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// A user's text.
    InputText {
        /// The text.
        text: String,
    },
    /// A user's image.
    InputImage {
        /// Where it is, or all of it.
        image_url: String,
    },
    /// An agent's text.
    OutputText {
        /// The text.
        text: String,
    },
}

/// A part of a message, or of a function's result, as a client sends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "StoredInput")]
pub enum InputContent {
    /// Text.
    InputText {
        /// The text, verbatim.
        text: String,
    },
    /// An image.
    InputImage {
        /// An `http`, `https` or `data` URL.
        image_url: String,
    },
}

/// [`InputContent`] as it is read back.
#[derive(Deserialize)]
struct StoredInput {
    text: Option<String>,
    image_url: Option<String>,
}

impl TryFrom<StoredInput> for InputContent {
    type Error = &'static str;

    fn try_from(stored: StoredInput) -> Result<InputContent, &'static str> {
        match (stored.text, stored.image_url) {
            (Some(text), None) => Ok(InputContent::InputText { text }),
            (None, Some(image_url)) => Ok(InputContent::InputImage { image_url }),
            (None, None) | (Some(_), Some(_)) => Err("either text or image_url"),
        }
    }
}

/// A summary of reasoning.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Summary {
    /// Text.
    SummaryText {
        /// The text.
        text: String,
    },
}
