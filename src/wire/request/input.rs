//! What a client says to a session.
use cloister_protocol::Decision;

use super::{approval, image, MAX_LIST, MAX_TEXT};
use crate::wire::{
    error::ApiError,
    fields::{array, string, Fields},
    item::{InputContent, ToolOutput},
    json::{Object, Value},
};

/// Longest id that a client repeats, in characters. Ours and the harness's are shorter.
pub(super) const MAX_ID: usize = 256;

/// The body of `POST …/events`.
#[derive(Clone, Debug, PartialEq)]
pub struct EventsCreate {
    /// In order. Empty is accepted, and changes nothing.
    pub events: Vec<SessionInput>,
}

/// One input.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionInput {
    /// Messages for the agent. Never empty.
    Message {
        /// The messages.
        input: Vec<UserMessage>,
    },
    /// Stop the running turn.
    Cancel,
    /// What a function gave.
    ToolResult {
        /// The turn of the call.
        turn_id: String,
        /// The call.
        call_id: String,
        /// Whether the function did its work.
        success: bool,
        /// What it gave.
        output: Option<ToolOutput>,
        /// Why it failed.
        error: Option<String>,
    },
    /// An answer to a request to call an MCP tool.
    McpApproval {
        /// The request.
        request_id: String,
        /// The answer.
        decision: Decision,
    },
    /// An answer to a request of the computer tool. No agent has that tool, so no such request is open, and what is
    /// answered, which may be a password, goes no further.
    ComputerUseApproval {
        /// The request.
        request_id: String,
    },
}

/// A user's message.
#[derive(Clone, Debug, PartialEq)]
pub struct UserMessage {
    /// Its parts. Never empty.
    pub content: Vec<InputContent>,
}

impl EventsCreate {
    /// Reads a body.
    pub fn read(body: Object) -> Result<EventsCreate, ApiError> {
        let mut fields = Fields::body(body);
        let events = array(fields.require("events")?, "events", MAX_LIST)?;
        let events = events
            .into_iter()
            .map(|(event, path)| session_input(event, path))
            .collect::<Result<_, _>>()?;
        fields.finish()?;
        Ok(EventsCreate { events })
    }
}

type Read = fn(&mut Fields) -> Result<SessionInput, ApiError>;

const KINDS: [(&str, Read); 5] = [
    ("agent.session.input.message", message),
    ("agent.session.input.cancel", cancel),
    ("agent.session.input.tool_result", tool_result),
    (
        "agent.session.input.mcp_approval_request_result",
        approval::mcp,
    ),
    (
        "agent.session.input.computer_use_approval_request_result",
        approval::computer_use,
    ),
];

fn session_input(event: Value, path: String) -> Result<SessionInput, ApiError> {
    let mut fields = Fields::of(event, path)?;
    let read = fields.required_one_of("type", &KINDS)?;
    let input = read(&mut fields)?;
    fields.finish()?;
    Ok(input)
}

fn message(fields: &mut Fields) -> Result<SessionInput, ApiError> {
    let path = fields.path_of("input");
    let input = messages(fields.require("input")?, &path)?;
    Ok(SessionInput::Message { input })
}

fn cancel(_: &mut Fields) -> Result<SessionInput, ApiError> {
    Ok(SessionInput::Cancel)
}

fn tool_result(fields: &mut Fields) -> Result<SessionInput, ApiError> {
    let path = fields.path_of("output");
    let output = match fields.take("output") {
        None => None,
        Some(text @ Value::String(_)) => Some(ToolOutput::Text(string(text, &path, 1, MAX_TEXT)?)),
        Some(list @ Value::Array(_)) => Some(ToolOutput::Content(parts(list, &path)?)),
        Some(other) => return Err(not_text_nor_list(&path, &other)),
    };
    Ok(SessionInput::ToolResult {
        turn_id: fields.required_string("turn_id", 1, MAX_ID)?,
        call_id: fields.required_string("call_id", 1, MAX_ID)?,
        success: fields.required_boolean("success")?,
        output,
        error: fields.string("error", 0, MAX_TEXT)?,
    })
}

/// The input that a session is created with: a string, or messages.
pub(super) fn initial(
    value: Option<Value>,
    path: &str,
) -> Result<Option<Vec<UserMessage>>, ApiError> {
    match value {
        None => Ok(None),
        Some(text @ Value::String(_)) => {
            let text = string(text, path, 1, MAX_TEXT)?;
            Ok(Some(vec![UserMessage {
                content: vec![InputContent::InputText { text }],
            }]))
        }
        Some(list @ Value::Array(_)) => messages(list, path).map(Some),
        Some(other) => Err(not_text_nor_list(path, &other)),
    }
}

fn messages(value: Value, path: &str) -> Result<Vec<UserMessage>, ApiError> {
    some(array(value, path, MAX_LIST)?, path)?
        .into_iter()
        .map(|(message, path)| user_message(message, path))
        .collect()
}

fn user_message(value: Value, path: String) -> Result<UserMessage, ApiError> {
    let mut fields = Fields::of(value, path)?;
    fields.not_null("type", "a string")?;
    fields.one_of("type", &[("message", ())])?;
    fields.required_one_of("role", &[("user", ())])?;
    let path = fields.path_of("content");
    let content = some(parts(fields.require("content")?, &path)?, &path)?;
    fields.finish()?;
    Ok(UserMessage { content })
}

fn parts(value: Value, path: &str) -> Result<Vec<InputContent>, ApiError> {
    array(value, path, MAX_LIST)?
        .into_iter()
        .map(|(part, path)| part_of(part, path))
        .collect()
}

fn part_of(value: Value, path: String) -> Result<InputContent, ApiError> {
    let mut fields = Fields::of(value, path)?;
    let is_image =
        fields.required_one_of("type", &[("input_text", false), ("input_image", true)])?;
    let part = if is_image {
        InputContent::InputImage {
            image_url: image::url(&mut fields, "image_url")?,
        }
    } else {
        InputContent::InputText {
            text: fields.required_string("text", 1, MAX_TEXT)?,
        }
    };
    fields.finish()?;
    Ok(part)
}

fn not_text_nor_list(path: &str, value: &Value) -> ApiError {
    ApiError::wrong_type(path, "a string or an array", value.type_name())
}

/// A list that must not be empty.
fn some<T>(list: Vec<T>, path: &str) -> Result<Vec<T>, ApiError> {
    if list.is_empty() {
        Err(ApiError::wrong_length(path, "array", 1, MAX_LIST, 0))
    } else {
        Ok(list)
    }
}
