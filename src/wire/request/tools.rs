//! The tools of an agent.
use std::collections::BTreeSet;

use super::{schema, MAX_LIST, MAX_TEXT};
use crate::wire::{
    error::{echo, ApiError},
    fields::Fields,
    json::Value,
    session::{FunctionTool, Tool},
};

/// Largest list of tools, in bytes of compact JSON.
const MAX_TOOLS: usize = 3 << 20;

/// Longest name of a function, in characters.
const MAX_FUNCTION_NAME: usize = 128;

/// The kinds of tools the API has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Function,
    ToolSearch,
    WebSearch,
    Unsupported(&'static str),
}

const KINDS: [(&str, Kind); 7] = [
    ("function", Kind::Function),
    ("tool_search", Kind::ToolSearch),
    (
        "programmatic_tool_calling",
        Kind::Unsupported("programmatic_tool_calling"),
    ),
    ("mcp", Kind::Unsupported("mcp")),
    ("web_search", Kind::WebSearch),
    ("computer_use", Kind::Unsupported("computer_use")),
    ("automations", Kind::Unsupported("automations")),
];

/// Takes the tools. Null is none.
pub(super) fn read(fields: &mut Fields) -> Result<Vec<Tool>, ApiError> {
    let path = fields.path_of("tools");
    let Some(list) = fields.take("tools") else {
        return Ok(Vec::new());
    };
    let size = list.to_json().as_str().len();
    if size > MAX_TOOLS {
        return Err(ApiError::too_many_bytes(&path, MAX_TOOLS, size));
    }
    read_list(list, &path)
}

fn read_list(list: Value, path: &str) -> Result<Vec<Tool>, ApiError> {
    let mut tools = Vec::new();
    let mut names = BTreeSet::new();
    let mut searches = (false, false);
    // A list that is wrong whatever is built is told so first.
    let mut refused = None;
    for (tool, path) in crate::wire::fields::array(list, path, MAX_LIST)? {
        let mut fields = Fields::of(tool, path.clone())?;
        let unsupported = |fields: &Fields, name| {
            Some(ApiError::unsupported_value(&fields.path_of("type"), name))
        };
        match fields.required_one_of("type", &KINDS)? {
            Kind::Function => {
                let function = function(&mut fields)?;
                if !names.insert(function.name.clone()) {
                    return Err(duplicate(
                        &format!("function tool name: {}", echo(&function.name)),
                        &path,
                    ));
                }
                tools.push(Tool::Function(function));
            }
            Kind::ToolSearch => {
                if std::mem::replace(&mut searches.0, true) {
                    return Err(duplicate("tool_search tool", &path));
                }
                tools.push(Tool::ToolSearch);
            }
            Kind::WebSearch => {
                if std::mem::replace(&mut searches.1, true) {
                    return Err(duplicate("web_search tool", &path));
                }
                refused = refused.or_else(|| unsupported(&fields, "web_search"));
                continue;
            }
            Kind::Unsupported(name) => {
                refused = refused.or_else(|| unsupported(&fields, name));
                continue;
            }
        }
        fields.finish()?;
    }
    refused.map_or(Ok(tools), Err)
}

fn function(fields: &mut Fields) -> Result<FunctionTool, ApiError> {
    let name = fields.required_string("name", 1, MAX_FUNCTION_NAME)?;
    // What model providers take. Any other name would fail in the middle of a turn.
    if !name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    {
        let path = fields.path_of("name");
        let text = format!(
            "Invalid '{path}': expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        );
        return Err(ApiError::invalid(text).at(&path));
    }
    fields.not_null("defer_loading", "a boolean")?;
    fields.not_null("async", "a boolean")?;
    Ok(FunctionTool {
        name,
        description: fields.required_string("description", 0, MAX_TEXT)?,
        parameters: schema::read(fields, "parameters")?,
        defer_loading: fields.boolean("defer_loading")?.unwrap_or_default(),
        asynchronous: fields.boolean("async")?.unwrap_or_default(),
    })
}

fn duplicate(what: &str, path: &str) -> ApiError {
    ApiError::invalid(format!("duplicate {what}")).at(path)
}
