//! Items of a turn: what the agent said and did.
use serde::{Deserialize, Serialize};

/// One item. The same `id` names it from `item_started` to `item_completed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// The harness's own id, unique within its thread.
    pub id: String,
    /// Where it stands.
    pub status: ItemStatus,
    /// What it is.
    pub kind: ItemKind,
}

/// Where an item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// Begun.
    InProgress,
    /// Ended as intended; a command's exit code may still be any.
    Completed,
    /// Could not be done, or was declined.
    Failed,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ItemKind {
    /// The agent's words.
    Message {
        /// All of the text so far.
        text: String,
        /// Whether it is an aside or the answer, where the harness says so.
        phase: Option<Phase>,
    },
    /// A summary of the model's reasoning.
    Reasoning {
        /// Its parts.
        summary: Vec<String>,
    },
    /// A command in the sandbox.
    Command {
        /// The command line.
        command: String,
        /// Where it ran.
        cwd: Option<String>,
        /// What it printed, when it has ended.
        output: Option<String>,
        /// Its exit code, when it has ended.
        exit_code: Option<i32>,
        /// How long it took, in milliseconds, when it has ended.
        duration_ms: Option<u64>,
    },
    /// Edits of files in the sandbox.
    FileChanges {
        /// The files.
        changes: Vec<FileChange>,
    },
}

/// Whether a message is an aside or the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Phase {
    Commentary,
    FinalAnswer,
}

/// One edited file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileChange {
    /// Absolute path in the sandbox.
    pub path: String,
    /// What happened to it.
    pub kind: FileChangeKind,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum FileChangeKind {
    Added,
    Updated,
    Deleted,
}
