//! What an agent may call.
use cloister_protocol::Json;
use serde::{Deserialize, Serialize};

/// A tool, as it is answered and stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "StoredTool")]
pub enum Tool {
    /// A function of the client's.
    Function(FunctionTool),
    /// Deferred functions are found by a search. Only in saved agents: a session's tools do not have it.
    ToolSearch,
}

impl Tool {
    /// Whether a session's tools have it.
    pub fn is_shown_in_sessions(&self) -> bool {
        match self {
            Tool::Function(_) => true,
            Tool::ToolSearch => false,
        }
    }
}

/// A function that the client carries out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionTool {
    /// Its name; no other function of the agent has it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A JSON Schema of its arguments, whose root is an object.
    pub parameters: Json,
    /// Whether the model is told of it only when it searches for tools.
    pub defer_loading: bool,
    /// Whether the agent goes on before there is a result. Left out when not.
    #[serde(default, rename = "async", skip_serializing_if = "std::ops::Not::not")]
    pub asynchronous: bool,
}

/// [`Tool`] as it is read back.
#[derive(Deserialize)]
struct StoredTool {
    name: Option<String>,
    #[serde(default)]
    description: String,
    parameters: Option<Json>,
    #[serde(default)]
    defer_loading: bool,
    #[serde(default, rename = "async")]
    asynchronous: bool,
}

impl TryFrom<StoredTool> for Tool {
    type Error = &'static str;

    fn try_from(stored: StoredTool) -> Result<Tool, &'static str> {
        let Some(name) = stored.name else {
            return Ok(Tool::ToolSearch);
        };
        Ok(Tool::Function(FunctionTool {
            name,
            description: stored.description,
            parameters: stored.parameters.ok_or("parameters")?,
            defer_loading: stored.defer_loading,
            asynchronous: stored.asynchronous,
        }))
    }
}
