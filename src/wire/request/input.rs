//! What a client says to a session.
use serde_json::{Map, Value};

use super::{MAX_LIST, MAX_TEXT};
use crate::wire::{
    error::ApiError,
    fields::{array, string, Fields},
    item::InputContent,
    json::type_name,
};

/// The body of `POST …/events`.
#[derive(Clone, Debug, PartialEq)]
pub struct EventsCreate {
    /// In order. Empty is accepted, and changes nothing.
    pub events: Vec<SessionInput>,
}

/// One input. Tool results and approvals are not built yet, and refused.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionInput {
    /// Messages for the agent. Never empty.
    Message {
        /// The messages.
        input: Vec<UserMessage>,
    },
    /// Stop the running turn.
    Cancel,
}

/// A user's message. Images are not built yet, and refused.
#[derive(Clone, Debug, PartialEq)]
pub struct UserMessage {
    /// Its parts. Never empty.
    pub content: Vec<InputContent>,
}

impl EventsCreate {
    /// Reads a body.
    pub fn read(body: Map<String, Value>) -> Result<EventsCreate, ApiError> {
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

/// The kinds of input the API has.
#[derive(Clone, Copy)]
enum Kind {
    Message,
    Cancel,
    Unsupported(&'static str),
}

const TOOL_RESULT: &str = "agent.session.input.tool_result";
const MCP_RESULT: &str = "agent.session.input.mcp_approval_request_result";
const COMPUTER_RESULT: &str = "agent.session.input.computer_use_approval_request_result";

const KINDS: [(&str, Kind); 5] = [
    ("agent.session.input.message", Kind::Message),
    ("agent.session.input.cancel", Kind::Cancel),
    (TOOL_RESULT, Kind::Unsupported(TOOL_RESULT)),
    (MCP_RESULT, Kind::Unsupported(MCP_RESULT)),
    (COMPUTER_RESULT, Kind::Unsupported(COMPUTER_RESULT)),
];

fn session_input(event: Value, path: String) -> Result<SessionInput, ApiError> {
    let mut fields = Fields::of(event, path)?;
    let input = match fields.required_one_of("type", &KINDS)? {
        Kind::Message => {
            let path = fields.path_of("input");
            SessionInput::Message {
                input: messages(fields.require("input")?, &path)?,
            }
        }
        Kind::Cancel => SessionInput::Cancel,
        Kind::Unsupported(name) => {
            return Err(ApiError::unsupported_value(&fields.path_of("type"), name))
        }
    };
    fields.finish()?;
    Ok(input)
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
        Some(other) => Err(ApiError::wrong_type(
            path,
            "a string or an array",
            type_name(&other),
        )),
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
    let parts = some(array(fields.require("content")?, &path, MAX_LIST)?, &path)?;
    let content = parts
        .into_iter()
        .map(|(part, path)| part_of(part, path))
        .collect::<Result<_, _>>()?;
    fields.finish()?;
    Ok(UserMessage { content })
}

fn part_of(value: Value, path: String) -> Result<InputContent, ApiError> {
    let mut fields = Fields::of(value, path)?;
    if !fields.required_one_of("type", &[("input_text", true), ("input_image", false)])? {
        return Err(ApiError::unsupported_value(
            &fields.path_of("type"),
            "input_image",
        ));
    }
    let text = fields.required_string("text", 1, MAX_TEXT)?;
    fields.finish()?;
    Ok(InputContent::InputText { text })
}

/// A list that must not be empty.
fn some<T>(list: Vec<T>, path: &str) -> Result<Vec<T>, ApiError> {
    if list.is_empty() {
        Err(ApiError::wrong_length(path, "array", 1, MAX_LIST, 0))
    } else {
        Ok(list)
    }
}
