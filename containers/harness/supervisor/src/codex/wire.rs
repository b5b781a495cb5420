//! Messages of `codex app-server` as far as we read them. Unknown fields and methods are skipped: only what is named
//! here can have an effect. The names are Codex's own.

use serde::Deserialize;
use serde_json::value::RawValue;

/// One line: an answer, a request of Codex or a notification. Parameters stay raw until the method is known.
#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    /// Of an answer or a request.
    #[serde(borrow, default)]
    pub id: Option<&'a RawValue>,
    /// Of a request or a notification.
    #[serde(default)]
    pub method: Option<String>,
    /// Of a request or a notification.
    #[serde(borrow, default)]
    pub params: Option<&'a RawValue>,
    /// Of an answer.
    #[serde(borrow, default)]
    pub result: Option<&'a RawValue>,
    /// Of an answer.
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

/// Result of `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialized {
    /// `<client>/<version> (…)`.
    pub user_agent: String,
}

/// Result of `thread/start` and `thread/resume`.
#[derive(Debug, Deserialize)]
pub struct ThreadOpened {
    /// The thread.
    pub thread: Id,
}

/// Result of `turn/start`.
#[derive(Debug, Deserialize)]
pub struct TurnAccepted {
    /// The turn.
    pub turn: Id,
}

/// Anything with an id.
#[derive(Debug, Deserialize)]
pub struct Id {
    /// The id.
    pub id: String,
}

/// `turn/started` and `turn/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnChanged {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn: Turn,
}

/// A turn.
#[derive(Debug, Deserialize)]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub status: String,
    /// Why it failed.
    #[serde(default)]
    pub error: Option<TurnError>,
}

/// Why a turn failed. Its texts are not read: they could carry anything.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnError {
    /// A name, or an object with a name as its only key.
    #[serde(default)]
    pub codex_error_info: Option<serde_json::Value>,
}

/// `item/started` and `item/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemChanged {
    /// The thread.
    pub thread_id: String,
    /// The turn the item belongs to.
    pub turn_id: String,
    /// The item.
    pub item: Item,
}

/// The three kinds of delta.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delta {
    /// The thread.
    pub thread_id: String,
    /// The turn the item belongs to.
    pub turn_id: String,
    /// The item.
    pub item_id: String,
    /// What to append.
    pub delta: String,
    /// Of a reasoning summary: which part.
    #[serde(default)]
    pub summary_index: Option<u32>,
}

/// `thread/tokenUsage/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageUpdated {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// Tokens.
    pub token_usage: TokenUsage,
}

/// Tokens; the running total is not read.
#[derive(Debug, Deserialize)]
pub struct TokenUsage {
    /// Of the last model call.
    pub last: Tokens,
}

/// Tokens of one model call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Tokens {
    pub input_tokens: u64,
    pub cached_input_tokens: u64,
    pub output_tokens: u64,
    pub reasoning_output_tokens: u64,
}

/// An item.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[allow(missing_docs)]
pub enum Item {
    AgentMessage {
        id: String,
        text: String,
        #[serde(default)]
        phase: Option<String>,
    },
    Reasoning {
        id: String,
        #[serde(default)]
        summary: Vec<String>,
    },
    CommandExecution {
        id: String,
        command: String,
        #[serde(default)]
        cwd: Option<String>,
        status: String,
        #[serde(default)]
        aggregated_output: Option<String>,
        #[serde(default)]
        exit_code: Option<i32>,
        #[serde(default)]
        duration_ms: Option<u64>,
    },
    FileChange {
        id: String,
        changes: Vec<FileUpdate>,
        status: String,
    },

    // Known and not passed on. The Worker makes the user's messages itself.
    UserMessage,
    HookPrompt,
    FunctionCallOutput,
    Plan,
    McpToolCall,
    DynamicToolCall,
    CollabAgentToolCall,
    SubAgentActivity,
    WebSearch,
    ImageView,
    ImageGeneration,
    Sleep,
    EnteredReviewMode,
    ExitedReviewMode,
    ContextCompaction,
    /// Not known.
    #[serde(other)]
    Other,
}

/// One changed file; the diff is not read.
#[derive(Debug, Deserialize)]
pub struct FileUpdate {
    /// Its path.
    pub path: String,
    /// What happened.
    pub kind: FileUpdateKind,
}

/// What happened to a file.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[allow(missing_docs)]
pub enum FileUpdateKind {
    Add,
    Delete,
    Update {
        /// The new path, if it was moved. Codex spells this one with an underscore.
        #[serde(default)]
        move_path: Option<String>,
    },
}
