//! Items of a turn: what the agent said and did.
use crate::{Effort, Json};
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
#[serde(rename_all = "snake_case", deny_unknown_fields)]
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
    /// A call of a tool of an MCP server.
    McpCall {
        /// Label of the server.
        server: String,
        /// The tool.
        name: String,
        /// What it is called with.
        arguments: Json,
        /// What it gave, when it has ended.
        output: Option<Json>,
        /// Why it failed, when it has.
        error: Option<Json>,
    },
    /// A search of the web by the provider.
    WebSearch {
        /// What was done, when it is known.
        action: Option<WebAction>,
    },
    /// A call about subagents.
    SubagentCall {
        /// What is done.
        call: SubagentCall,
        /// The subagent that calls; none for the session's own agent.
        sender: Option<String>,
        /// The subagents it is about; unknown ones are left out.
        receivers: Vec<String>,
        /// What the subagent is told.
        prompt: Option<String>,
        /// The model that was asked for.
        model: Option<String>,
        /// The effort that was asked for.
        effort: Option<Effort>,
    },
}

/// What a web search did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WebAction {
    /// It searched.
    Search {
        /// The query.
        query: Option<String>,
        /// All of them.
        queries: Option<Vec<String>>,
    },
    /// It opened a page.
    OpenPage {
        /// The page.
        url: Option<String>,
    },
    /// It looked for something in a page.
    FindInPage {
        /// The page.
        url: Option<String>,
        /// What it looked for.
        pattern: Option<String>,
    },
    /// Something else.
    Other,
}

/// A call about subagents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SubagentCall {
    Create,
    SendInput,
    Wait,
    Interrupt,
    Resume,
    Close,
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
