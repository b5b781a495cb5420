//! What events carry. The members of each are on the wire as they are here, by name and in order.
use serde::Serialize;

use super::frame::{Frame, Member};
use crate::wire::{
    item::{Content, Item, OutputStatus, Summary},
    session::{Session, TokenUsage},
    subagent::Subagent,
    turn::Turn,
};

macro_rules! payloads {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $member:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // The wire names say it.
        pub struct $name { $($(#[$about])* pub $member: $type,)* }

        impl $name {
            pub(super) fn write_members(&self, frame: &mut Frame<'_>) {
                $(self.$member.write(stringify!($member), frame);)*
            }
        }
    )*};
}

payloads! {
    /// Something about the session, with all of it.
    SessionEvent {
        session: Box<Session>,
    }

    /// A turn begins.
    TurnEvent {
        session_id: String,
        turn_id: String,
        turn: Box<Turn>,
    }

    /// A turn has ended.
    TurnEndEvent {
        session_id: String,
        turn_id: String,
        turn: Box<Turn>,
        usage: Option<TokenUsage>,
    }

    /// An item is there, or done.
    ItemEvent {
        session_id: String,
        turn_id: String,
        item: Box<Item>,
        /// Null for what is no output, as a user's message; never null when done.
        output_index: Option<u32>,
    }

    /// A part of a message is there, or done.
    ContentPartEvent {
        session_id: String,
        turn_id: String,
        item_id: String,
        output_index: u32,
        content_index: u32,
        part: Content,
    }

    /// More of a message's text.
    OutputTextDeltaEvent {
        session_id: String,
        turn_id: String,
        item_id: String,
        output_index: u32,
        content_index: u32,
        delta: String,
    }

    /// All of a message's text.
    OutputTextDoneEvent {
        session_id: String,
        turn_id: String,
        item_id: String,
        output_index: u32,
        content_index: u32,
        text: String,
    }

    /// A part of a reasoning summary is there.
    SummaryPartEvent {
        session_id: String,
        turn_id: String,
        item_id: String,
        output_index: u32,
        summary_index: u32,
        part: Summary,
    }

    /// A part of a reasoning summary is done.
    SummaryPartDoneEvent {
        session_id: String,
        turn_id: String,
        item_id: String,
        output_index: u32,
        summary_index: u32,
        part: Summary,
        /// Null, or `incomplete` when it was cut short.
        status: Option<OutputStatus>,
    }

    /// More of a reasoning summary's text.
    SummaryTextDeltaEvent {
        session_id: String,
        turn_id: String,
        item_id: String,
        output_index: u32,
        summary_index: u32,
        delta: String,
    }

    /// All of a reasoning summary's text.
    SummaryTextDoneEvent {
        session_id: String,
        turn_id: String,
        item_id: String,
        output_index: u32,
        summary_index: u32,
        text: String,
    }

    /// More of a command's output.
    CommandOutputDeltaEvent {
        session_id: String,
        turn_id: String,
        item_id: String,
        output_index: u32,
        delta: String,
    }

    /// Something about the environment.
    EnvironmentEvent {
        session_id: String,
        turn_id: Option<String>,
        environment: EnvironmentState,
    }

    /// The environment's files are gone: it was made anew.
    EnvironmentResetEvent {
        session_id: String,
        turn_id: Option<String>,
        environment_id: String,
        /// How often this has happened, this time included.
        reset_count: u32,
    }

    /// Something about a subagent, with all of it.
    SubagentEvent {
        subagent: Box<Subagent>,
    }

    /// Something that ends the session's work.
    ErrorEvent {
        session_id: String,
        error: StreamError,
    }
}

/// An environment in an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct EnvironmentState {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: EnvironmentKind,
    pub status: EnvironmentStatus,
    pub error: Option<EnvironmentError>,
}

/// The kind of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum EnvironmentKind {
    OpenaiHosted,
}

/// Where an environment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct EnvironmentError {
    #[serde(rename = "type")]
    pub kind: String,
    pub code: String,
    pub message: String,
}

/// What ended a session's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct StreamError {
    #[serde(rename = "type")]
    pub kind: String,
    pub code: Option<String>,
    pub message: String,
    pub param: Option<String>,
}
