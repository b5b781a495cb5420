//! Codex's items as items of the protocol.
//!
//! Every text is cut so that an event with the item fits a frame even if JSON needs six bytes for each of its bytes:
//! 6 × (128 KiB output + 32 KiB command + 4 KiB folder + ids) < 1 MiB, and JSON is handed on as it is:
//! 3 × 256 KiB < 1 MiB.

use cloister_protocol::{
    FileChange, FileChangeKind, Item, ItemKind, ItemStatus, Phase, MAX_OUTPUT_BYTES, MAX_TEXT_BYTES,
};

use super::cut::cut;
use super::json::bounded_or_null;
use super::{subagent, web};
use crate::codex::wire;

/// Ids and names.
pub const MAX_ID_BYTES: usize = 256;
/// What a subagent is told.
const MAX_PROMPT_BYTES: usize = 64 << 10;
const MAX_COMMAND_BYTES: usize = 32 << 10;
const MAX_PATH_BYTES: usize = 4 << 10;
const MAX_CHANGES: usize = 1000;
/// All paths of one item together.
const MAX_PATHS_BYTES: usize = 128 << 10;

/// Which notification an item came with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// `item/started`.
    Started,
    /// `item/completed`.
    Completed,
}

/// The item, if the protocol has its kind.
pub fn item(item: wire::Item, stage: Stage) -> Option<Item> {
    // Messages and reasoning have no status of their own.
    let plain = match stage {
        Stage::Started => ItemStatus::InProgress,
        Stage::Completed => ItemStatus::Completed,
    };
    let (item_id, status, kind) = match item {
        wire::Item::AgentMessage { id, text, phase } => {
            // A part of an answer must not pass for the whole.
            let status = if text.len() > MAX_TEXT_BYTES {
                ItemStatus::InProgress
            } else {
                plain
            };
            let kind = ItemKind::Message {
                text: cut(text, MAX_TEXT_BYTES),
                phase: phase.as_deref().and_then(named_phase),
            };
            (id, status, kind)
        }
        wire::Item::Reasoning { id, summary } => (
            id,
            plain,
            ItemKind::Reasoning {
                summary: parts(summary),
            },
        ),
        wire::Item::CommandExecution {
            id,
            command,
            cwd,
            status,
            aggregated_output,
            exit_code,
            duration_ms,
        } => {
            // A negative one means that the command was killed.
            let exit_code = exit_code.filter(|code| *code >= 0);
            let kind = ItemKind::Command {
                command: cut(command, MAX_COMMAND_BYTES),
                cwd: cwd.map(|cwd| cut(cwd, MAX_PATH_BYTES)),
                output: aggregated_output.map(|output| cut(output, MAX_OUTPUT_BYTES)),
                exit_code,
                duration_ms,
            };
            // Codex says "failed" of any exit code but 0.
            let ended = stage == Stage::Completed && status == "failed" && exit_code.is_some();
            let status = if ended {
                ItemStatus::Completed
            } else {
                named_status(&status, stage)
            };
            (id, status, kind)
        }
        wire::Item::FileChange {
            id,
            changes,
            status,
        } => (
            id,
            named_status(&status, stage),
            ItemKind::FileChanges {
                changes: files(changes),
            },
        ),
        wire::Item::McpToolCall(call) => {
            let kind = ItemKind::McpCall {
                server: cut(call.server, MAX_ID_BYTES),
                name: cut(call.tool, MAX_ID_BYTES),
                arguments: bounded_or_null(call.arguments),
                output: call.result.map(bounded_or_null),
                error: call.error.map(bounded_or_null),
            };
            (call.id, named_status(&call.status, stage), kind)
        }
        wire::Item::WebSearch { id, query, action } => (
            id,
            plain,
            ItemKind::WebSearch {
                action: web::action(query, action),
            },
        ),
        wire::Item::CollabAgentToolCall {
            id,
            tool,
            status,
            sender_thread_id,
            receiver_thread_ids,
            prompt,
            model,
        } => {
            let kind = ItemKind::SubagentCall {
                call: subagent::call(&tool)?,
                sender: Some(cut(sender_thread_id, MAX_ID_BYTES)),
                receivers: subagent::receivers(receiver_thread_ids),
                prompt: prompt.map(|prompt| cut(prompt, MAX_PROMPT_BYTES)),
                model: subagent::model(model.as_deref()),
                // Codex always names one; whether it was asked for cannot be told.
                effort: None,
            };
            (id, named_status(&status, stage), kind)
        }
        wire::Item::UserMessage
        | wire::Item::HookPrompt
        | wire::Item::FunctionCallOutput
        | wire::Item::Plan
        | wire::Item::DynamicToolCall
        | wire::Item::SubAgentActivity
        | wire::Item::ImageView
        | wire::Item::ImageGeneration
        | wire::Item::Sleep
        | wire::Item::EnteredReviewMode
        | wire::Item::ExitedReviewMode
        | wire::Item::ContextCompaction
        | wire::Item::Other => return None,
    };
    Some(Item {
        id: id(item_id),
        status,
        kind,
    })
}

/// An item's id; the same cut everywhere, so that deltas still find their item.
pub fn id(id: String) -> String {
    cut(id, MAX_ID_BYTES)
}

fn named_phase(name: &str) -> Option<Phase> {
    match name {
        "commentary" => Some(Phase::Commentary),
        "final_answer" => Some(Phase::FinalAnswer),
        _ => None,
    }
}

fn named_status(name: &str, stage: Stage) -> ItemStatus {
    match (name, stage) {
        (_, Stage::Started) => ItemStatus::InProgress,
        ("completed", Stage::Completed) => ItemStatus::Completed,
        // "failed", "declined", and whatever else a final item may say.
        (_, Stage::Completed) => ItemStatus::Failed,
    }
}

/// The parts of a summary, bounded together.
fn parts(summary: Vec<String>) -> Vec<String> {
    let mut left = MAX_TEXT_BYTES;
    let mut parts = Vec::new();
    for part in summary.into_iter().take(MAX_CHANGES) {
        let part = cut(part, left);
        left -= part.len();
        parts.push(part);
    }
    parts
}

/// The changed files. A move is a deletion and an addition.
fn files(updates: Vec<wire::FileUpdate>) -> Vec<FileChange> {
    let mut changes = Vec::new();
    for wire::FileUpdate { path, kind } in updates {
        match kind {
            wire::FileUpdateKind::Add => changes.push((path, FileChangeKind::Added)),
            wire::FileUpdateKind::Delete => changes.push((path, FileChangeKind::Deleted)),
            wire::FileUpdateKind::Update { move_path: None } => {
                changes.push((path, FileChangeKind::Updated))
            }
            wire::FileUpdateKind::Update {
                move_path: Some(to),
            } => {
                changes.push((path, FileChangeKind::Deleted));
                changes.push((to, FileChangeKind::Added));
            }
        }
    }
    let mut left = MAX_PATHS_BYTES;
    let mut bounded = Vec::new();
    for (path, kind) in changes.into_iter().take(MAX_CHANGES) {
        // Half a path would name another file.
        if path.len() <= MAX_PATH_BYTES && path.len() <= left {
            left -= path.len();
            bounded.push(FileChange { path, kind });
        }
    }
    bounded
}
