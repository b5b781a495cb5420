//! Turns.
use serde::{Deserialize, Serialize};

use super::session::{PromptCacheOptions, TokenUsage};

/// A turn: the agent's work on one input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// `turn_…`.
    pub id: String,
    /// Always the same word.
    pub object: TurnObject,
    /// Its session.
    pub session_id: String,
    /// The session's agent.
    pub agent_id: String,
    /// The subagent at work. Null for the root agent, and then sent as null: clients choose turns by it.
    pub subagent_id: Option<String>,
    /// Where it stands.
    pub status: TurnStatus,
    /// When it was accepted, in seconds.
    pub created_at: u64,
    /// When work began.
    pub started_at: Option<u64>,
    /// When it ended.
    pub completed_at: Option<u64>,
    /// Why it failed.
    pub error: Option<TurnError>,
    /// What it used, when that is known.
    pub usage: Option<TokenUsage>,
    /// The cache choice in force, if one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache_options: Option<PromptCacheOptions>,
}

/// `agent.session.turn`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnObject {
    /// The word.
    #[default]
    #[serde(rename = "agent.session.turn")]
    Turn,
}

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// Accepted.
    Queued,
    /// At work.
    InProgress,
    /// Waiting for the client.
    Waiting,
    /// Done.
    Completed,
    /// Failed, see `error`.
    Failed,
    /// Cancelled by the client.
    Cancelled,
}

impl TurnStatus {
    /// Whether nothing will follow.
    pub fn is_terminal(self) -> bool {
        match self {
            TurnStatus::Queued | TurnStatus::InProgress | TurnStatus::Waiting => false,
            TurnStatus::Completed | TurnStatus::Failed | TurnStatus::Cancelled => true,
        }
    }
}

/// Why a turn failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnError {
    /// The code.
    pub code: TurnErrorCode,
    /// For people. Never internal detail.
    pub message: String,
}

/// The codes the API has for failed turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // The names say it.
pub enum TurnErrorCode {
    ContextLengthExceeded,
    MaxOutputTokens,
    SessionBudgetExceeded,
    UsageLimitExceeded,
    ProjectSpendLimitExceeded,
    OrganizationSpendLimitExceeded,
    OrganizationUsageLimitExceeded,
    BillingNotActive,
    CreditBalanceExhausted,
    RateLimitExceeded,
    FlexUnavailable,
    ServerOverloaded,
    CyberPolicy,
    MisalignmentPolicyViolation,
    ConnectionFailed,
    ServerError,
    AuthenticationError,
    InvalidRequest,
    ResourceNotFound,
    SandboxError,
    ExecutorVersionIncompatible,
    ActiveTurnNotSteerable,
    RequestTimeout,
    InternalError,
}
