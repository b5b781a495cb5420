//! Requests to `codex app-server`, and answers to its own.

pub mod answers;

use cloister_protocol::{AgentSettings, Effort, Input, Json, Summary, Verbosity};
use serde_json::{json, Map, Value};

use super::{functions, home};

/// Most subagents that Codex is ever allowed at once.
const MAX_SUBAGENTS: u32 = 64;
/// How deep subagents may open subagents.
const MAX_SUBAGENT_DEPTH: u32 = 3;

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
    params.insert("environments".into(), environments(agent, workspace));
    let functions = functions::specs(&agent.functions);
    if !functions.is_empty() {
        params.insert("dynamicTools".into(), functions.into());
    }
    params.into()
}

/// Parameters of `thread/resume`. The environment comes with `turn/start`, the functions are in the history.
pub fn thread_resume(thread: &str, agent: &AgentSettings, workspace: &str) -> Value {
    let mut params = thread_settings(agent, workspace);
    params.insert("threadId".into(), thread.into());
    params.insert("excludeTurns".into(), true.into());
    params.into()
}

/// Parameters of `thread/inject_items`.
pub fn inject_items(thread: &str, items: Vec<Value>) -> Value {
    json!({ "threadId": thread, "items": items })
}

/// Parameters of `thread/read`.
pub fn thread_read(thread: &str) -> Value {
    json!({ "threadId": thread, "includeTurns": false })
}

fn thread_settings(agent: &AgentSettings, workspace: &str) -> Map<String, Value> {
    let mut params = Map::new();
    params.insert("cwd".into(), workspace.into());
    params.insert("model".into(), home::model(agent).into());
    params.insert("approvalPolicy".into(), approval_policy());
    params.insert("sandbox".into(), "danger-full-access".into());
    if let Some(instructions) = &agent.instructions {
        params.insert("developerInstructions".into(), instructions.as_str().into());
    }
    let mut config = Map::new();
    if let Some(verbosity) = agent.verbosity {
        config.insert("model_verbosity".into(), verbosity_name(verbosity).into());
    }
    if let Some(subagents) = agent.subagents {
        config.insert("agents.enabled".into(), true.into());
        config.insert(
            "agents.max_threads".into(),
            subagents.clamp(1, MAX_SUBAGENTS).into(),
        );
        config.insert("agents.max_depth".into(), MAX_SUBAGENT_DEPTH.into());
    }
    if !config.is_empty() {
        params.insert("config".into(), config.into());
    }
    params
}

/// Nothing is asked but whether a tool of an MCP server may be called, where its configuration wants that.
fn approval_policy() -> Value {
    json!({ "granular": {
        "sandbox_approval": false, "rules": false, "skill_approval": false, "request_permissions": false,
        "mcp_elicitations": true,
    } })
}

fn environments(agent: &AgentSettings, workspace: &str) -> Value {
    if agent.sandbox {
        json!([{ "environmentId": "sandbox", "cwd": workspace }])
    } else {
        json!([])
    }
}

/// Parameters of `turn/start`.
pub fn turn_start(thread: &str, agent: &AgentSettings, input: &[Input], workspace: &str) -> Value {
    let mut params = Map::new();
    params.insert("threadId".into(), thread.into());
    params.insert("input".into(), user_input(input));
    params.insert("model".into(), home::model(agent).into());
    params.insert("environments".into(), environments(agent, workspace));
    if let Some(effort) = agent.effort {
        params.insert("effort".into(), effort_name(effort).into());
    }
    if let Some(summary) = agent.summary {
        params.insert("summary".into(), summary_name(summary).into());
    }
    if let Some(schema) = &agent.output_schema {
        params.insert("outputSchema".into(), value(schema));
    }
    params.into()
}

/// JSON that is handed on as it is.
pub fn value(json: &Json) -> Value {
    // It is valid, and its sender keeps it flat enough.
    serde_json::from_str(json.as_str()).unwrap_or_default()
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

fn user_input(input: &[Input]) -> Value {
    input
        .iter()
        .map(|part| match part {
            Input::Text(text) => json!({ "type": "text", "text": text, "text_elements": [] }),
            Input::Image(url) => json!({ "type": "image", "url": url }),
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
