//! Items of Codex.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

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
    /// Raw JSON does not go through a tagged enum: [`Item::parse`] makes this one.
    #[serde(skip)]
    McpToolCall(McpToolCall),
    CollabAgentToolCall {
        id: String,
        tool: String,
        status: String,
        sender_thread_id: String,
        #[serde(default)]
        receiver_thread_ids: Vec<String>,
        #[serde(default)]
        prompt: Option<String>,
        #[serde(default)]
        model: Option<String>,
    },
    WebSearch {
        id: String,
        #[serde(default)]
        query: String,
        #[serde(default)]
        action: Option<WebSearchAction>,
    },

    // Known and not passed on. The Worker makes the user's messages and the function calls itself.
    UserMessage,
    HookPrompt,
    FunctionCallOutput,
    Plan,
    DynamicToolCall,
    SubAgentActivity,
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

impl Item {
    /// Reads an item; none if it is not what it says to be.
    pub fn parse(raw: &RawValue) -> Option<Self> {
        let tag: Tag = serde_json::from_str(raw.get()).ok()?;
        match tag.kind.as_ref() {
            "mcpToolCall" => serde_json::from_str(raw.get()).ok().map(Self::McpToolCall),
            _ => serde_json::from_str(raw.get()).ok(),
        }
    }
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

/// A call of a tool of an MCP server.
#[derive(Debug, Deserialize)]
#[allow(missing_docs)]
pub struct McpToolCall {
    pub id: String,
    pub server: String,
    pub tool: String,
    pub status: String,
    pub arguments: Box<RawValue>,
    #[serde(default)]
    pub result: Option<Box<RawValue>>,
    #[serde(default)]
    pub error: Option<Box<RawValue>>,
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

/// What a web search did.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[allow(missing_docs)]
pub enum WebSearchAction {
    Search {
        #[serde(default)]
        query: Option<String>,
        #[serde(default)]
        queries: Option<Vec<String>>,
    },
    OpenPage {
        #[serde(default)]
        url: Option<String>,
    },
    FindInPage {
        #[serde(default)]
        url: Option<String>,
        #[serde(default)]
        pattern: Option<String>,
    },
    #[serde(other)]
    Other,
}
