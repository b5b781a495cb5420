//! Messages of `codex app-server` as far as we read them. Unknown fields and methods are skipped: only what is named
//! here can have an effect. The names are Codex's own.

mod item;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

pub use item::{FileUpdate, FileUpdateKind, Item, WebSearchAction};

/// One line: an answer, a request of Codex or a notification. Parameters stay raw until the method is known.
#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    /// Of an answer or a request.
    #[serde(borrow, default)]
    pub id: Option<&'a RawValue>,
    /// Of a request or a notification.
    #[serde(borrow, default)]
    pub method: Option<Cow<'a, str>>,
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

/// An error that answers a request. Its text is only compared, never handed on.
#[derive(Debug, Default, Deserialize)]
pub struct CallError {
    /// As in JSON-RPC.
    #[serde(default)]
    pub code: i64,
    /// In words.
    #[serde(default)]
    pub message: String,
}

/// Result of `thread/start`, `thread/resume` and `thread/read`.
#[derive(Debug, Deserialize)]
pub struct ThreadOpened {
    /// The thread.
    pub thread: Thread,
}

/// A thread.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Its id.
    pub id: String,
    /// The file with its history.
    #[serde(default)]
    pub path: Option<String>,
    /// The thread that opened this one; only subagents have it.
    #[serde(default)]
    pub parent_thread_id: Option<String>,
    /// Name of a subagent.
    #[serde(default)]
    pub agent_nickname: Option<String>,
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
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// The first turn of the work that this one belongs to: of a subagent's turn, the turn of the session's own agent.
    #[serde(default)]
    pub root_turn_id: Option<String>,
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
pub struct ItemChanged<'a> {
    /// The thread.
    pub thread_id: String,
    /// The turn the item belongs to.
    pub turn_id: String,
    /// The item, for [`Item::parse`].
    #[serde(borrow)]
    pub item: &'a RawValue,
}

/// The three kinds of delta.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delta<'a> {
    /// The thread.
    #[serde(borrow)]
    pub thread_id: Cow<'a, str>,
    /// The turn the item belongs to.
    #[serde(borrow)]
    pub turn_id: Cow<'a, str>,
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

/// Tokens.
#[derive(Debug, Deserialize)]
pub struct TokenUsage {
    /// Of the last model call.
    pub last: Tokens,
    /// Of all calls of the thread.
    pub total: Tokens,
}

/// Tokens by their kind.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Tokens {
    pub input_tokens: u64,
    pub cached_input_tokens: u64,
    pub output_tokens: u64,
    pub reasoning_output_tokens: u64,
}

/// `serverRequest/resolved`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestResolved {
    /// Id of Codex's own request, verbatim.
    pub request_id: Box<RawValue>,
}

/// Parameters of Codex's request `item/tool/call`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The thread.
    pub thread_id: String,
    /// The turn.
    pub turn_id: String,
    /// Set for a function that had to be searched for.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The function.
    pub tool: String,
    /// What it is called with.
    pub arguments: Box<RawValue>,
}

/// Parameters of Codex's request `mcpServer/elicitation/request`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elicitation {
    /// The thread.
    pub thread_id: String,
    /// The turn, where Codex knows it.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// Label of the MCP server.
    pub server_name: String,
    /// What is asked.
    #[serde(default)]
    pub message: String,
    /// Tells an approval by Codex from a question of the server.
    #[serde(rename = "_meta", default)]
    pub meta: Option<ElicitationMeta>,
}

/// What Codex adds to an approval. A server may send the same.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ElicitationMeta {
    /// `mcp_tool_call` for the approval of a call.
    pub codex_approval_kind: Option<String>,
    /// The tool.
    pub tool_name: Option<String>,
    /// What it would be called with.
    pub tool_params: Option<Box<RawValue>>,
}
