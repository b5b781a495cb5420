//! Answers to Codex's own requests. The id of a request is given back verbatim.

use cloister_protocol::{Decision, Input};
use serde_json::value::RawValue;
use serde_json::{json, Value};

/// Says no, so that nothing waits for a person who is not there.
pub fn refuse(id: &RawValue, method: &str) -> String {
    match method {
        "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
            result(id, json!({ "decision": "decline" }))
        }
        "mcpServer/elicitation/request" => approval(id, Decision::Deny),
        _ => answer(
            id,
            "error",
            json!({ "code": -32601, "message": "not supported" }),
        ),
    }
}

/// What a function gave.
pub fn tool_result(id: &RawValue, success: bool, output: &[Input]) -> String {
    let items: Value = output
        .iter()
        .map(|part| match part {
            Input::Text(text) => json!({ "type": "inputText", "text": text }),
            Input::Image(url) => json!({ "type": "inputImage", "imageUrl": url }),
        })
        .collect();
    result(id, json!({ "contentItems": items, "success": success }))
}

/// Whether a tool of an MCP server may be called.
pub fn approval(id: &RawValue, decision: Decision) -> String {
    let (action, content) = match decision {
        Decision::Approve => ("accept", json!({})),
        Decision::Deny => ("decline", Value::Null),
        Decision::Cancel => ("cancel", Value::Null),
    };
    result(
        id,
        json!({ "action": action, "content": content, "_meta": null }),
    )
}

fn result(id: &RawValue, result: Value) -> String {
    answer(id, "result", result)
}

fn answer(id: &RawValue, member: &str, value: Value) -> String {
    format!("{{\"id\":{},\"{member}\":{value}}}", id.get())
}
