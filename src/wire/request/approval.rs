//! Answers to requests for approval.
use cloister_protocol::Decision;

use super::{input::MAX_ID, SessionInput, MAX_TEXT};
use crate::wire::{error::ApiError, fields::Fields};

/// Most fields that a client fills in, and their size together, in bytes.
const MAX_FIELDS: usize = 6;
const MAX_VALUES: usize = 120 << 10;

const DECISIONS: [(&str, Decision); 3] = [
    ("approve", Decision::Approve),
    ("deny", Decision::Deny),
    ("cancel", Decision::Cancel),
];

pub(super) fn mcp(fields: &mut Fields) -> Result<SessionInput, ApiError> {
    let request_id = fields.required_string("request_id", 1, MAX_ID)?;
    let mut response = response(fields)?;
    response.required_one_of("type", &[("mcp_tool_call", ())])?;
    let decision = response.required_one_of("decision", &DECISIONS)?;
    response.finish()?;
    Ok(SessionInput::McpApproval {
        request_id,
        decision,
    })
}

pub(super) fn computer_use(fields: &mut Fields) -> Result<SessionInput, ApiError> {
    let request_id = fields.required_string("request_id", 1, MAX_ID)?;
    let mut response = response(fields)?;
    let kinds = [
        ("browser_origin_access", false),
        ("browser_authentication", true),
    ];
    if response.required_one_of("type", &kinds)? {
        authentication(&mut response)?;
    } else {
        response.required_one_of("decision", &DECISIONS)?;
    }
    response.finish()?;
    Ok(SessionInput::ComputerUseApproval { request_id })
}

fn response(fields: &mut Fields) -> Result<Fields, ApiError> {
    Fields::of(fields.require("response")?, fields.path_of("response"))
}

fn authentication(response: &mut Fields) -> Result<(), ApiError> {
    if !response.required_one_of("action", &[("submit", true), ("cancel", false)])? {
        return Ok(());
    }
    let path = response.path_of("fields");
    let filled = crate::wire::fields::array(response.require("fields")?, &path, MAX_FIELDS)?;
    let mut size = 0;
    for (field, path) in filled {
        let mut field = Fields::of(field, path)?;
        field.required_string("field_id", 1, MAX_ID)?;
        size += field.required_string("value", 0, MAX_TEXT)?.len();
        field.finish()?;
    }
    if size > MAX_VALUES {
        return Err(ApiError::too_many_bytes(&path, MAX_VALUES, size));
    }
    response.string("selected_option", 0, MAX_TEXT).map(drop)
}
