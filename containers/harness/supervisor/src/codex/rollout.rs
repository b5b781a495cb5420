//! A thread's history as Codex keeps it: one JSON object a line, `{"type", "payload", …}`.
//!
//! Codex takes a thread's functions, its instructions and whether it may have subagents only when it starts the thread.
//! Should they change, the thread is begun anew with what the model could see of the old one; this module finds that. What
//! Codex tells every thread anew is left out: the developer's messages and the description of the environment.

use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::Value;

/// Longest history that is read, in bytes.
pub const MAX_BYTES: u64 = 256 << 20;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    payload: Value,
}

/// What is needed of a history.
#[derive(Debug, Default, PartialEq)]
pub struct Rollout {
    /// The `dynamicTools` that the thread was started with.
    pub functions: Vec<Value>,
    /// The instructions of the developer that the model has.
    pub instructions: Option<String>,
    /// Whether its last turn had tools for subagents.
    pub subagents: bool,
    /// What the model can see, as items of its API.
    pub items: Vec<Value>,
}

impl Rollout {
    /// Reads a history. Lines that are not understood are skipped: the last one may be cut.
    pub fn read(reader: impl BufRead) -> io::Result<Self> {
        let mut rollout = Self::default();
        for line in reader.split(b'\n') {
            let Ok(mut line) = serde_json::from_slice::<Line>(&line?) else {
                continue;
            };
            match line.kind.as_str() {
                "session_meta" => {
                    if let Value::Array(functions) = line.payload["dynamic_tools"].take() {
                        rollout.functions = functions;
                    }
                }
                "turn_context" => {
                    let version = line.payload["multi_agent_version"].as_str();
                    rollout.subagents = version.is_some_and(|version| version != "disabled");
                }
                "response_item" => {
                    if let Some(text) = instructions(&line.payload) {
                        rollout.instructions = Some(text.to_owned());
                    }
                    rollout.items.push(line.payload);
                }
                "compacted" => match line.payload["replacement_history"].take() {
                    Value::Array(items) => rollout.items = items,
                    // Half a history would be worse than an error.
                    _ => return Err(io::ErrorKind::InvalidData.into()),
                },
                _ => {}
            }
        }
        rollout.items.retain(is_kept);
        Ok(rollout)
    }
}

fn instructions(item: &Value) -> Option<&str> {
    let kinds = &item["internal_chat_message_metadata_passthrough"]["content_item_kinds"];
    let index = kinds
        .as_array()?
        .iter()
        .position(|kind| kind == "generic.developer_instructions")?;
    item["content"][index]["text"].as_str()
}

fn is_kept(item: &Value) -> bool {
    if item["type"] != "message" {
        return true;
    }
    let text = item["content"][0]["text"].as_str().unwrap_or_default();
    item["role"] != "developer" && !text.starts_with("<environment_context>")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn lines(values: &[Value]) -> String {
        values.iter().map(|v| format!("{v}\n")).collect()
    }

    fn message(role: &str, text: &str) -> Value {
        json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] })
    }

    #[test]
    fn what_the_model_can_see() {
        let item = |payload: Value| json!({ "type": "response_item", "payload": payload });
        let mut told = message("developer", "be brief");
        told["internal_chat_message_metadata_passthrough"] =
            json!({ "content_item_kinds": ["generic.developer_instructions"] });
        let before = [
            json!({ "type": "session_meta", "payload": {
                "dynamic_tools": [{ "name": "a" }] } }),
            json!({ "type": "turn_context", "payload": { "multi_agent_version": "v1" } }),
            item(told),
            item(message("user", "<environment_context>…")),
            item(message("user", "one")),
            json!({ "type": "event_msg", "payload": { "type": "task_started" } }),
            item(json!({ "type": "function_call", "call_id": "c" })),
        ];
        let text = lines(&before) + "{\"type\":\"response_it";
        let whole = Rollout::read(text.as_bytes()).unwrap();
        assert_eq!(whole.functions, [json!({ "name": "a" })]);
        assert_eq!(whole.instructions.as_deref(), Some("be brief"));
        assert!(whole.subagents);
        assert_eq!(
            whole.items,
            [
                message("user", "one"),
                json!({ "type": "function_call", "call_id": "c" })
            ]
        );

        let compacted = json!({ "type": "compacted", "payload": {
            "replacement_history": [message("user", "<environment_context>"), message("user", "summary")] } });
        let text = lines(&before) + &lines(&[compacted, item(message("assistant", "two"))]);
        let whole = Rollout::read(text.as_bytes()).unwrap();
        assert_eq!(
            whole.items,
            [message("user", "summary"), message("assistant", "two")]
        );
        let broken = json!({ "type": "compacted", "payload": { "message": "old form" } });
        assert!(Rollout::read(lines(&[broken]).as_bytes()).is_err());
    }
}
