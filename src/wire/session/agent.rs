//! A session's agent.
use cloister_protocol::Json;
use serde::{Deserialize, Serialize};

use super::Tool;

/// A session's agent: a copy, so later changes elsewhere do not reach it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// `agent_…`.
    pub id: String,
    /// Null for an agent that was not saved.
    pub name: Option<String>,
    /// The preset, as the client wrote it.
    pub model: String,
    /// What the client wants of the agent.
    pub instructions: Option<String>,
    /// How it thinks.
    pub reasoning: ReasoningOptions,
    /// How it writes.
    pub text: TextOptions,
    /// How it is served.
    pub service_tier: ServiceTier,
    /// Whether it may have subagents.
    pub multi_agent: MultiAgent,
    /// What it may call. Never [`Tool::ToolSearch`].
    pub tools: Vec<Tool>,
    /// How a long history is compacted, if the client said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Compaction>,
    /// What is tried out, if the client said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Experimental>,
}

/// How an agent thinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasoningOptions {
    /// How hard; null is the model's default.
    pub effort: Option<Effort>,
    /// How it is summarised; null is the model's default.
    pub summary: Option<SummaryMode>,
}

/// How hard to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// How reasoning is summarised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum SummaryMode {
    Concise,
    Detailed,
    Auto,
}

/// How an agent writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TextOptions {
    /// In which form.
    pub format: TextFormat,
    /// How much.
    pub verbosity: Verbosity,
}

/// The form of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", from = "StoredFormat")]
pub enum TextFormat {
    /// Prose.
    #[default]
    Text,
    /// JSON.
    JsonSchema {
        /// What it must be like: a JSON Schema whose root is an object.
        schema: Json,
    },
}

/// [`TextFormat`] as it is read back.
#[derive(Deserialize)]
struct StoredFormat {
    schema: Option<Json>,
}

impl From<StoredFormat> for TextFormat {
    fn from(stored: StoredFormat) -> TextFormat {
        match stored.schema {
            None => TextFormat::Text,
            Some(schema) => TextFormat::JsonSchema { schema },
        }
    }
}

/// How much an agent writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum Verbosity {
    Low,
    #[default]
    Medium,
    High,
}

/// How an agent is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum ServiceTier {
    /// As the deployment chooses.
    #[default]
    Auto,
    /// The ordinary tier.
    Default,
    Flex,
    Priority,
    Fast,
    Ultrafast,
}

impl ServiceTier {
    /// The tier's name.
    pub fn name(self) -> &'static str {
        match self {
            ServiceTier::Auto => "auto",
            ServiceTier::Default => "default",
            ServiceTier::Flex => "flex",
            ServiceTier::Priority => "priority",
            ServiceTier::Fast => "fast",
            ServiceTier::Ultrafast => "ultrafast",
        }
    }
}

/// Whether an agent may have subagents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MultiAgent {
    /// Whether it may.
    pub enabled: bool,
    /// How many at once; null when it may not.
    pub max_concurrent_subagents: Option<u32>,
}

/// How a long history is compacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// Whether the agent goes on meanwhile.
    #[serde(rename = "async")]
    pub asynchronous: bool,
}

/// What is tried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experimental {
    /// Whether the agent is told the time.
    pub time_awareness: bool,
}
