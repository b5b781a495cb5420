//! Events: what a session's stream carries. Stored as they are sent.
//!
//! JSON begins with `type` and `event_id`. `obfuscation` is never sent.
use serde::{Deserialize, Serialize};

use super::{
    item::{Content, Item, OutputStatus, Summary},
    session::{Session, TokenUsage},
    turn::Turn,
};

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[allow(missing_docs)] // The wire names say it.
pub enum Event {
    /// On a creation stream only, and first there.
    #[serde(rename = "agent.session.created")]
    SessionCreated(SessionEvent),
    #[serde(rename = "agent.session.in_progress")]
    SessionInProgress(SessionEvent),
    #[serde(rename = "agent.session.idle")]
    SessionIdle(SessionEvent),
    #[serde(rename = "agent.session.failed")]
    SessionFailed(SessionEvent),
    #[serde(rename = "agent.session.turn.created")]
    TurnCreated(TurnEvent),
    #[serde(rename = "agent.session.turn.in_progress")]
    TurnInProgress(TurnEvent),
    #[serde(rename = "agent.session.turn.completed")]
    TurnCompleted(TurnEndEvent),
    #[serde(rename = "agent.session.turn.failed")]
    TurnFailed(TurnEndEvent),
    #[serde(rename = "agent.session.turn.cancelled")]
    TurnCancelled(TurnEndEvent),
    #[serde(rename = "agent.session.turn.item.added")]
    ItemAdded(ItemEvent),
    #[serde(rename = "agent.session.turn.item.done")]
    ItemDone(ItemEvent),
    #[serde(rename = "agent.session.turn.content_part.added")]
    ContentPartAdded(ContentPartEvent),
    #[serde(rename = "agent.session.turn.content_part.done")]
    ContentPartDone(ContentPartEvent),
    #[serde(rename = "agent.session.turn.output_text.delta")]
    OutputTextDelta(OutputTextDeltaEvent),
    #[serde(rename = "agent.session.turn.output_text.done")]
    OutputTextDone(OutputTextDoneEvent),
    #[serde(rename = "agent.session.turn.reasoning_summary_part.added")]
    SummaryPartAdded(SummaryPartEvent),
    #[serde(rename = "agent.session.turn.reasoning_summary_part.done")]
    SummaryPartDone(SummaryPartDoneEvent),
    #[serde(rename = "agent.session.turn.reasoning_summary_text.delta")]
    SummaryTextDelta(SummaryTextDeltaEvent),
    #[serde(rename = "agent.session.turn.reasoning_summary_text.done")]
    SummaryTextDone(SummaryTextDoneEvent),
    /// The one with another prefix.
    #[serde(rename = "agent.output.command_execution_output.delta")]
    CommandOutputDelta(CommandOutputDeltaEvent),
    #[serde(rename = "agent.session.environment.pending")]
    EnvironmentPending(EnvironmentEvent),
    #[serde(rename = "agent.session.environment.ready")]
    EnvironmentReady(EnvironmentEvent),
    #[serde(rename = "agent.session.environment.connected")]
    EnvironmentConnected(EnvironmentEvent),
    #[serde(rename = "agent.session.environment.disconnected")]
    EnvironmentDisconnected(EnvironmentEvent),
    #[serde(rename = "agent.session.environment.failed")]
    EnvironmentFailed(EnvironmentEvent),
    /// Consumers give up on it, so never for what can be recovered from.
    #[serde(rename = "error")]
    Error(ErrorEvent),
}

/// `session: …`, a full snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SessionEvent {
    pub event_id: String,
    pub session: Box<Session>,
}

/// A turn begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TurnEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub turn: Box<Turn>,
}

/// A turn has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TurnEndEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub turn: Box<Turn>,
    pub usage: Option<TokenUsage>,
}

/// An item is there, or done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ItemEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub item: Box<Item>,
    /// Null for what is no output, as a user's message; never null when done.
    pub output_index: Option<u32>,
}

/// A part of a message is there, or done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ContentPartEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub output_index: u32,
    pub content_index: u32,
    pub part: Content,
}

/// More of a message's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct OutputTextDeltaEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub output_index: u32,
    pub content_index: u32,
    pub delta: String,
}

/// All of a message's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct OutputTextDoneEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub output_index: u32,
    pub content_index: u32,
    pub text: String,
}

/// A part of a reasoning summary is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SummaryPartEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub output_index: u32,
    pub summary_index: u32,
    pub part: Summary,
}

/// A part of a reasoning summary is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SummaryPartDoneEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub output_index: u32,
    pub summary_index: u32,
    pub part: Summary,
    /// Null, or `incomplete` when it was cut short.
    pub status: Option<OutputStatus>,
}

/// More of a reasoning summary's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SummaryTextDeltaEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub output_index: u32,
    pub summary_index: u32,
    pub delta: String,
}

/// All of a reasoning summary's text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SummaryTextDoneEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub output_index: u32,
    pub summary_index: u32,
    pub text: String,
}

/// More of a command's output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct CommandOutputDeltaEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: String,
    pub item_id: String,
    pub output_index: u32,
    pub delta: String,
}

/// Something about the environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct EnvironmentEvent {
    pub event_id: String,
    pub session_id: String,
    pub turn_id: Option<String>,
    pub environment: EnvironmentState,
}

/// An environment in an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct EnvironmentState {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: EnvironmentKind,
    pub status: EnvironmentStatus,
    pub error: Option<EnvironmentError>,
}

/// The kind of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum EnvironmentKind {
    OpenaiHosted,
}

/// Where an environment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum EnvironmentStatus {
    Pending,
    Ready,
    Connected,
    Disconnected,
    Suspended,
    Expired,
    Failed,
}

/// Why an environment failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct EnvironmentError {
    #[serde(rename = "type")]
    pub kind: String,
    pub code: String,
    pub message: String,
}

/// Something that ends the session's work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ErrorEvent {
    pub event_id: String,
    pub session_id: String,
    pub error: StreamError,
}

/// What ended it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct StreamError {
    #[serde(rename = "type")]
    pub kind: String,
    pub code: Option<String>,
    pub message: String,
    pub param: Option<String>,
}

macro_rules! for_each_variant {
    ($($variant:ident $name:literal),* $(,)?) => {
        impl Event {
            /// The event's `type`.
            pub fn name(&self) -> &'static str {
                match self { $(Event::$variant(_) => $name,)* }
            }

            /// The event's id.
            pub fn id(&self) -> &str {
                match self { $(Event::$variant(event) => &event.event_id,)* }
            }
        }
    };
}

for_each_variant! {
    SessionCreated "agent.session.created",
    SessionInProgress "agent.session.in_progress",
    SessionIdle "agent.session.idle",
    SessionFailed "agent.session.failed",
    TurnCreated "agent.session.turn.created",
    TurnInProgress "agent.session.turn.in_progress",
    TurnCompleted "agent.session.turn.completed",
    TurnFailed "agent.session.turn.failed",
    TurnCancelled "agent.session.turn.cancelled",
    ItemAdded "agent.session.turn.item.added",
    ItemDone "agent.session.turn.item.done",
    ContentPartAdded "agent.session.turn.content_part.added",
    ContentPartDone "agent.session.turn.content_part.done",
    OutputTextDelta "agent.session.turn.output_text.delta",
    OutputTextDone "agent.session.turn.output_text.done",
    SummaryPartAdded "agent.session.turn.reasoning_summary_part.added",
    SummaryPartDone "agent.session.turn.reasoning_summary_part.done",
    SummaryTextDelta "agent.session.turn.reasoning_summary_text.delta",
    SummaryTextDone "agent.session.turn.reasoning_summary_text.done",
    CommandOutputDelta "agent.output.command_execution_output.delta",
    EnvironmentPending "agent.session.environment.pending",
    EnvironmentReady "agent.session.environment.ready",
    EnvironmentConnected "agent.session.environment.connected",
    EnvironmentDisconnected "agent.session.environment.disconnected",
    EnvironmentFailed "agent.session.environment.failed",
    Error "error",
}

#[cfg(test)]
mod tests;
