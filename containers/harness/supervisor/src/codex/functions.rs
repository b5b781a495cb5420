//! The client's functions, as Codex's dynamic tools.
//!
//! A deferred function lies in a namespace of its own, as Codex wants it: the model finds it by a tool search and calls it
//! with the namespace.

use cloister_protocol::Function;
use serde_json::{json, Value};

use super::calls;

/// Namespace of the functions that are told only when they are searched for.
const DEFERRED: &str = "client_functions";
/// Tools of Codex; a function of that name would hide or double one.
const RESERVED: [&str; 12] = [
    "apply_patch",
    "exec_command",
    "list_mcp_resource_templates",
    "list_mcp_resources",
    "multi_agent_v1",
    "read_mcp_resource",
    "request_user_input",
    "shell",
    "tool_search",
    "update_plan",
    "view_image",
    "write_stdin",
];

/// The `dynamicTools` of a thread.
pub fn specs(functions: &[Function]) -> Vec<Value> {
    let mut specs: Vec<Value> = functions.iter().filter(|f| !f.deferred).map(spec).collect();
    let deferred: Vec<Value> = functions.iter().filter(|f| f.deferred).map(spec).collect();
    if !deferred.is_empty() {
        specs.push(json!({
            "type": "namespace", "name": DEFERRED, "description": "Functions of the client.", "tools": deferred,
        }));
    }
    specs
}

fn spec(function: &Function) -> Value {
    let mut spec = json!({
        "type": "function", "name": function.name, "description": function.description,
        "inputSchema": calls::value(&function.parameters),
    });
    if function.deferred {
        spec["deferLoading"] = true.into();
    }
    spec
}

/// Whether one of the functions has a name that Codex needs for itself.
pub fn are_reserved(functions: &[Function]) -> bool {
    functions
        .iter()
        .any(|f| RESERVED.contains(&f.name.as_str()) || f.name == DEFERRED)
}

/// The function that is called.
pub fn find<'a>(
    functions: &'a [Function],
    namespace: Option<&str>,
    name: &str,
) -> Option<&'a Function> {
    functions
        .iter()
        .find(|f| f.name == name && namespace == f.deferred.then_some(DEFERRED))
}
