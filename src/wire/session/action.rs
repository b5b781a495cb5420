//! What a session waits for.
use cloister_protocol::Json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a client must do for a turn to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "StoredAction")]
pub enum RequiredAction {
    /// Carry out a function, and send its result.
    FunctionCall {
        /// The turn that waits.
        turn_id: String,
        /// Names the call.
        call_id: String,
        /// The function.
        name: String,
        /// What it is called with.
        arguments: Json,
    },
    /// Allow a call of an MCP tool, or not.
    McpApprovalRequest {
        /// The turn that waits.
        turn_id: String,
        /// Names the request.
        request_id: String,
        /// What is asked.
        request: McpToolCallRequest,
    },
}

impl RequiredAction {
    /// The turn that waits.
    pub fn turn_id(&self) -> &str {
        match self {
            RequiredAction::FunctionCall { turn_id, .. }
            | RequiredAction::McpApprovalRequest { turn_id, .. } => turn_id,
        }
    }
}

/// A call of an MCP tool that waits to be allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "mcp_tool_call")]
pub struct McpToolCallRequest {
    /// Label of the server.
    pub server_label: String,
    /// The tool, if it is known.
    pub name: Option<String>,
    /// The question, for people.
    pub message: String,
    /// What the tool would be called with, if that is known.
    pub arguments: Option<Json>,
}

/// [`RequiredAction`] as it is read back.
#[derive(Deserialize)]
struct StoredAction {
    turn_id: String,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<Json>,
    request_id: Option<String>,
    request: Option<McpToolCallRequest>,
}

impl TryFrom<StoredAction> for RequiredAction {
    type Error = &'static str;

    fn try_from(stored: StoredAction) -> Result<RequiredAction, &'static str> {
        let turn_id = stored.turn_id;
        if let Some(request) = stored.request {
            return Ok(RequiredAction::McpApprovalRequest {
                turn_id,
                request_id: stored.request_id.ok_or("request_id")?,
                request,
            });
        }
        Ok(RequiredAction::FunctionCall {
            turn_id,
            call_id: stored.call_id.ok_or("call_id")?,
            name: stored.name.ok_or("name")?,
            // Arguments that are null read as none.
            arguments: stored
                .arguments
                .unwrap_or_else(|| RawValue::NULL.to_owned().into()),
        })
    }
}
