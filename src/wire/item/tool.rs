//! What the agent calls.
use std::fmt;

use cloister_protocol::Json;
use serde::{
    de::{value::SeqAccessDeserializer, Deserializer, Error, SeqAccess, Visitor},
    Deserialize, Serialize,
};

use super::{InputContent, OutputStatus};

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

/// A call of a function of the client's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionCall {
    /// `fc_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// Names the call in the client's answer. Clients carry out what they first see in an `item.added`.
    pub call_id: String,
    /// The function.
    pub name: String,
    /// What it is called with.
    pub arguments: Json,
    /// Where it stands.
    pub status: CallStatus,
}

/// The client's answer to a function call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionCallOutput {
    /// `fco_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// The call.
    pub call_id: String,
    /// What the function gave, if anything.
    pub output: Option<ToolOutput>,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// Where it stands.
    pub status: CallStatus,
}

/// What a function gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ToolOutput {
    /// Text.
    Text(String),
    /// Text and images.
    Content(Vec<InputContent>),
}

// By hand, because the derived one would hold the value in between.
impl<'de> Deserialize<'de> for ToolOutput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ToolOutput, D::Error> {
        struct TextOrList;

        impl<'de> Visitor<'de> for TextOrList {
            type Value = ToolOutput;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ToolOutput, E> {
                Ok(ToolOutput::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<ToolOutput, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(parts)).map(ToolOutput::Content)
            }
        }

        deserializer.deserialize_any(TextOrList)
    }
}

/// A command.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// A call of a tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct McpCall {
    /// `mcp_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// Label of the server.
    pub server_label: String,
    /// The tool.
    pub name: String,
    /// What it is called with.
    pub arguments: Json,
    /// What it gave, when it has ended.
    pub output: Option<Json>,
    /// Why it failed, if it did.
    pub error: Option<Json>,
    /// Where it stands.
    pub status: CallStatus,
}

/// A search of the web.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WebSearchCall {
    /// `ws_…`.
    pub id: String,
    /// Its turn.
    pub turn_id: String,
    /// Where it stands.
    pub status: OutputStatus,
    /// What was done, when that is known.
    pub action: Option<WebAction>,
}

/// What was done in a search of the web.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WebAction {
    /// A search.
    Search {
        /// The query.
        query: Option<String>,
        /// All of them.
        queries: Option<Vec<String>>,
    },
    /// A page was opened.
    OpenPage {
        /// The page.
        url: Option<String>,
    },
    /// Something was looked for in a page.
    FindInPage {
        /// The page.
        url: Option<String>,
        /// What was looked for.
        pattern: Option<String>,
    },
    /// Something else.
    Other,
}
