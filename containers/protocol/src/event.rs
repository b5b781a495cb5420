//! What the supervisor tells the Worker. All of it is hostile input there.
use crate::{Item, Json};
use serde::{Deserialize, Serialize};

/// One frame from the supervisor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromSupervisor {
    /// Answer to `attach`.
    Attached {
        /// [`VERSION`](crate::VERSION) of the supervisor.
        protocol: u32,
        /// Highest sequence number so far; 0 for none.
        last: u64,
    },
    /// A numbered event, kept until acknowledged.
    Event {
        /// Rises by one, from 1.
        seq: u64,
        /// What happened.
        event: Event,
    },
    /// Answer to `ping`.
    Pong,
    /// Answer to `save_history`. A message of its own.
    HistorySaved {
        /// The grant that the command named.
        grant: String,
        /// Whether all of it is stored.
        success: bool,
    },
}

/// What happened in the harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The harness runs and takes turns. Always the first event.
    Ready {
        /// Name and version of the harness, such as `codex 0.171.0`.
        harness: String,
    },
    /// The harness took the turn.
    TurnStarted {
        /// The turn.
        turn_id: String,
        /// The harness's own thread, to continue in the next turn.
        thread: String,
    },
    /// An item begins.
    ItemStarted {
        /// The turn it belongs to.
        turn_id: String,
        /// The item as far as it is known.
        item: Item,
    },
    /// More text of a message.
    TextDelta {
        /// The turn.
        turn_id: String,
        /// The item.
        item_id: String,
        /// The text to append.
        delta: String,
    },
    /// More text of a reasoning summary.
    ReasoningDelta {
        /// The turn.
        turn_id: String,
        /// The item.
        item_id: String,
        /// Index of the summary part, from 0.
        part: u32,
        /// The text to append.
        delta: String,
    },
    /// More output of a command. Deltas may be incomplete: the completed item holds the authority.
    OutputDelta {
        /// The turn.
        turn_id: String,
        /// The item.
        item_id: String,
        /// The output to append.
        delta: String,
    },
    /// An item is final. May arrive after the end of its turn.
    ItemCompleted {
        /// The turn it belongs to.
        turn_id: String,
        /// The whole item.
        item: Item,
    },
    /// One model call's tokens.
    Usage {
        /// The turn.
        turn_id: String,
        /// Tokens of this call alone.
        usage: TokenUsage,
    },
    /// The input of this `steer` became part of the turn.
    Steered {
        /// As in the command.
        input_id: String,
    },
    /// The input of this `steer` was not taken; it may become the next turn's.
    SteerRefused {
        /// As in the command.
        input_id: String,
    },
    /// The agent calls a function of the client; a `tool_result` is awaited, unless the function is asynchronous.
    ToolCall {
        /// The turn.
        turn_id: String,
        /// Names the call, within the session.
        call_id: String,
        /// The function.
        name: String,
        /// What it is called with.
        arguments: Json,
    },
    /// A call of an MCP tool waits for the client's approval.
    ApprovalRequested {
        /// The turn.
        turn_id: String,
        /// Names the request, within this harness.
        request_id: String,
        /// Label of the MCP server.
        server: String,
        /// The tool, if the harness says which.
        tool: Option<String>,
        /// What is asked.
        message: String,
        /// What the tool would be called with, if the harness says so.
        arguments: Option<Json>,
    },
    /// A request for approval is no longer open.
    ApprovalClosed {
        /// The request.
        request_id: String,
    },
    /// A subagent came to be.
    SubagentOpened {
        /// The running turn.
        turn_id: String,
        /// The harness's id of the subagent.
        subagent: String,
        /// The subagent that opened it; none for the session's own agent.
        parent: Option<String>,
        /// Its name, if it has one.
        name: Option<String>,
        /// What it was told first.
        prompt: Option<String>,
    },
    /// A subagent was closed.
    SubagentClosed {
        /// The harness's id of the subagent.
        subagent: String,
    },
    /// What a subagent does.
    Subagent {
        /// The harness's id of the subagent.
        subagent: String,
        /// The harness's id of the subagent's turn.
        turn: String,
        /// What happened in that turn.
        event: SubagentEvent,
    },
    /// The turn is over; its history is on disk.
    TurnEnded {
        /// The turn.
        turn_id: String,
        /// How it ended.
        outcome: Outcome,
    },
    /// The harness ended and will not return; the supervisor ends after this is acknowledged.
    HarnessLost {
        /// Exit code, if it exited by itself.
        exit_code: Option<i32>,
    },
}

/// What happens in a subagent's turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SubagentEvent {
    /// It began.
    Started,
    /// An item began.
    ItemStarted(Item),
    /// An item is final.
    ItemCompleted(Item),
    /// One model call's tokens.
    Usage(TokenUsage),
    /// It is over.
    Ended(Outcome),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// The agent finished.
    Completed,
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed {
        /// Why.
        code: FailureCode,
    },
}

/// Why a turn failed: the part of the API's closed set that a harness can know. No text: it could carry anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum FailureCode {
    ContextLengthExceeded,
    MaxOutputTokens,
    UsageLimitExceeded,
    RateLimitExceeded,
    ServerOverloaded,
    CyberPolicy,
    ConnectionFailed,
    ServerError,
    AuthenticationError,
    InvalidRequest,
    SandboxError,
    FlexUnavailable,
    MisalignmentPolicyViolation,
    ResourceNotFound,
    ActiveTurnNotSteerable,
    RequestTimeout,
    InternalError,
}

/// Tokens of one model call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenUsage {
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Input tokens read from the cache.
    pub cached_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Output tokens spent on reasoning.
    pub reasoning_tokens: u64,
}
