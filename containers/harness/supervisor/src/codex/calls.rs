//! Requests to `codex app-server`, and answers to its own.

use cloister_protocol::{AgentSettings, Effort, Input, Summary, Verbosity};
use serde_json::{json, Map, Value};

/// Notifications that are large or frequent and that nobody reads.
const UNWANTED: [&str; 8] = [
    "account/rateLimits/updated",
    "item/commandExecution/terminalInteraction",
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/plan/delta",
    "thread/settings/updated",
    "turn/diff/updated",
    "turn/plan/updated",
];

/// A request as one line.
pub fn request(id: u64, method: &str, params: Value) -> String {
    json!({ "id": id, "method": method, "params": params }).to_string()
}

/// The notification that ends the handshake.
pub fn initialized() -> String {
    json!({ "method": "initialized" }).to_string()
}

/// Parameters of `initialize`.
pub fn initialize() -> Value {
    json!({
        "clientInfo": { "name": "cloister", "title": "Cloister", "version": env!("CARGO_PKG_VERSION") },
        "capabilities": { "experimentalApi": true, "requestAttestation": false, "optOutNotificationMethods": UNWANTED },
    })
}

/// Parameters of `thread/start`.
pub fn thread_start(agent: &AgentSettings, workspace: &str) -> Value {
    let mut params = thread_settings(agent, workspace);
    params.insert("environments".into(), environments(workspace));
    params.into()
}

/// Parameters of `thread/resume`. The environment comes with `turn/start`.
pub fn thread_resume(thread: &str, agent: &AgentSettings, workspace: &str) -> Value {
    let mut params = thread_settings(agent, workspace);
    params.insert("threadId".into(), thread.into());
    params.insert("excludeTurns".into(), true.into());
    params.into()
}

fn thread_settings(agent: &AgentSettings, workspace: &str) -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("cwd".into(), workspace.into());
    params.insert("approvalPolicy".into(), "never".into());
    params.insert("sandbox".into(), "danger-full-access".into());
    if let Some(instructions) = &agent.instructions {
        params.insert("developerInstructions".into(), instructions.as_str().into());
    }
    if let Some(verbosity) = agent.verbosity {
        params.insert(
            "config".into(),
            json!({ "model_verbosity": verbosity_name(verbosity) }),
        );
    }
    params
}

fn environments(workspace: &str) -> Value {
    json!([{ "environmentId": "sandbox", "cwd": workspace }])
}

/// Parameters of `turn/start`.
pub fn turn_start(thread: &str, agent: &AgentSettings, input: &[Input], workspace: &str) -> Value {
    let mut params = Map::new();
    params.insert("threadId".into(), thread.into());
    params.insert("input".into(), user_input(input));
    params.insert("environments".into(), environments(workspace));
    if let Some(effort) = agent.effort {
        params.insert("effort".into(), effort_name(effort).into());
    }
    if let Some(summary) = agent.summary {
        params.insert("summary".into(), summary_name(summary).into());
    }
    params.into()
}

/// Parameters of `turn/steer`.
pub fn turn_steer(thread: &str, codex_turn: &str, input: &[Input]) -> Value {
    json!({ "threadId": thread, "expectedTurnId": codex_turn, "input": user_input(input) })
}

/// Parameters of `turn/interrupt`.
pub fn turn_interrupt(thread: &str, codex_turn: &str) -> Value {
    json!({ "threadId": thread, "turnId": codex_turn })
}

/// Parameters of `thread/backgroundTerminals/clean`.
pub fn clean_terminals(thread: &str) -> Value {
    json!({ "threadId": thread })
}

/// Says no to a request of Codex, so that nothing waits for a person who is not there. `id` is given back verbatim.
pub fn refuse(id: &serde_json::value::RawValue, method: &str) -> String {
    let answer = match method {
        "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
            json!({ "result": { "decision": "decline" } })
        }
        "mcpServer/elicitation/request" => {
            json!({ "result": { "action": "decline", "content": null, "_meta": null } })
        }
        _ => json!({ "error": { "code": -32601, "message": "not supported" } }),
    };
    let rest = answer.to_string();
    // `rest` is an object with one member.
    format!("{{\"id\":{},{}", id.get(), &rest[1..])
}

fn user_input(input: &[Input]) -> Value {
    input
        .iter()
        .map(|part| match part {
            Input::Text { text } => json!({ "type": "text", "text": text, "text_elements": [] }),
        })
        .collect()
}

fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::None => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Xhigh => "xhigh",
        Effort::Max => "max",
    }
}

fn summary_name(summary: Summary) -> &'static str {
    match summary {
        Summary::Auto => "auto",
        Summary::Concise => "concise",
        Summary::Detailed => "detailed",
    }
}

fn verbosity_name(verbosity: Verbosity) -> &'static str {
    match verbosity {
        Verbosity::Low => "low",
        Verbosity::Medium => "medium",
        Verbosity::High => "high",
    }
}
