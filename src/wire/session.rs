//! Sessions, their agent and their environment, as they are answered and stored.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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

/// What a client must do. No kind is built yet, so there is no value of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequiredAction {}

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
    /// What it may call.
    pub tools: Vec<Tool>,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextOptions {
    /// In which form.
    pub format: TextFormat,
    /// How much.
    pub verbosity: Verbosity,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TextFormat {
    /// Prose.
    #[default]
    Text,
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
pub enum ServiceTier {
    /// As the deployment chooses.
    #[default]
    Auto,
    /// The ordinary tier.
    Default,
}

/// Whether an agent may have subagents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MultiAgent {
    /// Whether it may.
    pub enabled: bool,
    /// How many at once; null when it may not.
    pub max_concurrent_subagents: Option<u32>,
}

/// A tool. No kind is built yet, so there is no value of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tool {}

/// How long the provider keeps a prompt's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptCacheOptions {
    /// How long; left out is the model's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<CacheTtl>,
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

/// Where commands run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Environment {
    /// Nowhere.
    None,
    /// In a sandbox of this deployment. The name is the wire's.
    OpenaiHosted(Box<HostedEnvironment>),
}

/// A sandbox's configuration, without what is secret in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostedEnvironment {
    /// `env_…`.
    pub id: String,
    /// Directories the agent finds capabilities in.
    pub capability_directories: Vec<String>,
    /// Files put there.
    pub files: Vec<HostedPart>,
    /// What it may reach.
    pub network: Network,
    /// Packages installed.
    pub packages: Packages,
    /// Plugins installed.
    pub plugins: Vec<HostedPart>,
    /// Skills installed.
    pub skills: Vec<HostedPart>,
}

/// A file, plugin or skill. None is built yet, so there is no value of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostedPart {}

/// What a sandbox may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The mode.
    pub access: NetworkAccess,
    /// The hosts, when it is restricted.
    pub allowed_domains: Vec<String>,
}

/// A network mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkAccess {
    /// Public hosts.
    Enabled,
    /// Nothing.
    Disabled,
    /// Listed hosts.
    Restricted,
}

/// Packages installed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packages {
    /// From npm.
    pub npm: Vec<String>,
    /// From PyPI.
    pub python: Vec<String>,
    /// From the distribution.
    pub system: Vec<String>,
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

/// The answer to a deletion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionDeleted {
    /// What was deleted.
    pub id: String,
    /// Always `agent.session.deleted`.
    pub object: &'static str,
    /// Always true.
    pub deleted: bool,
}

impl SessionDeleted {
    /// The answer for a session.
    pub fn new(id: String) -> SessionDeleted {
        SessionDeleted {
            id,
            object: "agent.session.deleted",
            deleted: true,
        }
    }
}
