//! Sessions, their agent and their environment, as they are answered and stored.
mod action;
mod agent;
mod environment;
mod tool;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::{
    action::{McpToolCallRequest, RequiredAction},
    agent::{
        Agent, Compaction, Effort, Experimental, MultiAgent, ReasoningOptions, ServiceTier,
        SummaryMode, TextFormat, TextOptions, Verbosity,
    },
    environment::{Environment, HostedEnvironment, HostedPart, Network, NetworkAccess, Packages},
    tool::{FunctionTool, Tool},
};

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// `sess_…`.
    pub id: String,
    /// Always the same word.
    pub object: SessionObject,
    /// When it was created, in seconds.
    pub created_at: u64,
    /// When anything last happened in it.
    pub last_active_at: u64,
    /// Where it stands.
    pub status: SessionStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// Who works in it.
    pub agent: Agent,
    /// Where commands run.
    pub environment: Environment,
    /// The client's own notes.
    pub metadata: BTreeMap<String, String>,
    /// What the client must do for the work to go on.
    pub required_actions: Vec<RequiredAction>,
    /// The sum over its turns, when it is known.
    pub usage: Option<TokenUsage>,
    /// The vaults it may use.
    pub vault_ids: Vec<String>,
    /// The cache choice, if one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_options: Option<PromptCacheOptions>,
    /// Who decides on approvals, if the client said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// What it may spend, if the client said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spend_control: Option<SpendControl>,
}

/// `agent.session`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionObject {
    /// The word.
    #[default]
    #[serde(rename = "agent.session")]
    Session,
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// Nothing runs.
    Idle,
    /// A turn runs.
    InProgress,
    /// A turn waits for the client.
    RequiresAction,
    /// It will not run again.
    Failed,
    /// Its budget is spent.
    BudgetReached,
}

/// Who decides on approvals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Review {
    /// The client.
    #[default]
    None,
}

/// What a session may spend, in cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendControl {
    /// At most this; null is no limit.
    pub limit: Option<u64>,
    /// So far, rounded down; null when it is not known.
    pub consumed: Option<u64>,
}

/// How long the provider keeps a prompt's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptCacheOptions {
    /// How long.
    pub ttl: CacheTtl,
}

/// How long a cache is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheTtl {
    /// Half an hour.
    #[serde(rename = "30m")]
    HalfHour,
    /// Twelve hours.
    #[serde(rename = "12h")]
    HalfDay,
}

/// Tokens used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Read.
    pub input_tokens: u64,
    /// Of those.
    pub input_tokens_details: InputTokensDetails,
    /// Written.
    pub output_tokens: u64,
    /// Of those.
    pub output_tokens_details: OutputTokensDetails,
    /// Both.
    pub total_tokens: u64,
}

/// Of the tokens read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputTokensDetails {
    /// From a cache.
    pub cached_tokens: u64,
}

/// Of the tokens written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputTokensDetails {
    /// For reasoning.
    pub reasoning_tokens: u64,
}

#[cfg(test)]
mod tests;
