//! Codex's tools for subagents.

use cloister_protocol::SubagentCall;

use super::cut::cut;
use super::item::MAX_ID_BYTES;
use crate::codex::home::MODELS;

/// Subagents that one call may be about.
const MAX_RECEIVERS: usize = 64;

/// What the tool does; none for a tool that does nothing to a subagent.
pub fn call(tool: &str) -> Option<SubagentCall> {
    match tool {
        "spawnAgent" => Some(SubagentCall::Create),
        "sendInput" | "sendMessage" | "followupTask" => Some(SubagentCall::SendInput),
        "wait" => Some(SubagentCall::Wait),
        "interruptAgent" => Some(SubagentCall::Interrupt),
        "resumeAgent" => Some(SubagentCall::Resume),
        "closeAgent" => Some(SubagentCall::Close),
        // `listAgents`, and tools of later versions.
        _ => None,
    }
}

/// The threads that the call is about.
pub fn receivers(threads: Vec<String>) -> Vec<String> {
    let short = |thread: String| cut(thread, MAX_ID_BYTES);
    threads.into_iter().take(MAX_RECEIVERS).map(short).collect()
}

/// The model that was asked for. Codex fills in our own name, which means nothing outside.
pub fn model(name: Option<&str>) -> Option<String> {
    name.filter(|name| !name.is_empty() && !MODELS.contains(name))
        .map(|name| cut(name.to_owned(), MAX_ID_BYTES))
}
