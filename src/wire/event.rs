//! Events: what a session's stream carries. They are written, and never read back.
//!
//! [`Event::frame`] writes one as it is stored and sent. Its JSON begins with `type` and `event_id`, which the log gives it.
//! `obfuscation` is never sent.
mod frame;
mod payload;

use self::frame::Frame;
pub use self::payload::{
    CommandOutputDeltaEvent, ContentPartEvent, EnvironmentError, EnvironmentEvent, EnvironmentKind,
    EnvironmentResetEvent, EnvironmentState, EnvironmentStatus, ErrorEvent, ItemEvent,
    OutputTextDeltaEvent, OutputTextDoneEvent, SessionEvent, StreamError, SubagentEvent,
    SummaryPartDoneEvent, SummaryPartEvent, SummaryTextDeltaEvent, SummaryTextDoneEvent,
    TurnEndEvent, TurnEvent,
};

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident($event:ident) = $name:literal),* $(,)?) => {
        /// An event.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // The wire names say it.
        pub enum Event { $($(#[$doc])* $variant($event),)* }

        impl Event {
            /// The event's `type`.
            pub fn name(&self) -> &'static str {
                match self { $(Event::$variant(_) => $name,)* }
            }

            fn write_members(&self, frame: &mut Frame<'_>) {
                match self { $(Event::$variant(event) => event.write_members(frame),)* }
            }
        }
    };
}

events! {
    /// On a creation stream only, and first there.
    SessionCreated(SessionEvent) = "agent.session.created",
    SessionInProgress(SessionEvent) = "agent.session.in_progress",
    SessionRequiresAction(SessionEvent) = "agent.session.requires_action",
    SessionIdle(SessionEvent) = "agent.session.idle",
    SessionFailed(SessionEvent) = "agent.session.failed",
    SessionBudgetReached(SessionEvent) = "agent.session.budget_reached",
    TurnCreated(TurnEvent) = "agent.session.turn.created",
    TurnInProgress(TurnEvent) = "agent.session.turn.in_progress",
    TurnCompleted(TurnEndEvent) = "agent.session.turn.completed",
    TurnFailed(TurnEndEvent) = "agent.session.turn.failed",
    TurnCancelled(TurnEndEvent) = "agent.session.turn.cancelled",
    ItemAdded(ItemEvent) = "agent.session.turn.item.added",
    ItemDone(ItemEvent) = "agent.session.turn.item.done",
    ContentPartAdded(ContentPartEvent) = "agent.session.turn.content_part.added",
    ContentPartDone(ContentPartEvent) = "agent.session.turn.content_part.done",
    OutputTextDelta(OutputTextDeltaEvent) = "agent.session.turn.output_text.delta",
    OutputTextDone(OutputTextDoneEvent) = "agent.session.turn.output_text.done",
    SummaryPartAdded(SummaryPartEvent) = "agent.session.turn.reasoning_summary_part.added",
    SummaryPartDone(SummaryPartDoneEvent) = "agent.session.turn.reasoning_summary_part.done",
    SummaryTextDelta(SummaryTextDeltaEvent) = "agent.session.turn.reasoning_summary_text.delta",
    SummaryTextDone(SummaryTextDoneEvent) = "agent.session.turn.reasoning_summary_text.done",
    /// The one with another prefix.
    CommandOutputDelta(CommandOutputDeltaEvent) = "agent.output.command_execution_output.delta",
    EnvironmentPending(EnvironmentEvent) = "agent.session.environment.pending",
    EnvironmentReady(EnvironmentEvent) = "agent.session.environment.ready",
    EnvironmentConnected(EnvironmentEvent) = "agent.session.environment.connected",
    EnvironmentDisconnected(EnvironmentEvent) = "agent.session.environment.disconnected",
    EnvironmentSuspended(EnvironmentEvent) = "agent.session.environment.suspended",
    EnvironmentExpired(EnvironmentEvent) = "agent.session.environment.expired",
    EnvironmentFailed(EnvironmentEvent) = "agent.session.environment.failed",
    EnvironmentReset(EnvironmentResetEvent) = "agent.session.environment.reset",
    SubagentCreated(SubagentEvent) = "agent.session.subagent.created",
    SubagentActive(SubagentEvent) = "agent.session.subagent.active",
    SubagentClosed(SubagentEvent) = "agent.session.subagent.closed",
    /// Consumers give up on it, so never for what can be recovered from.
    Error(ErrorEvent) = "error",
}

impl Event {
    /// Appends the event as a frame of server-sent events: `event: …`, `data: …` and an empty line. There is no other line
    /// break in it, whatever the event holds.
    pub fn frame(&self, event_id: &str, out: &mut String) {
        let mut frame = Frame::begin(out, self.name(), event_id);
        self.write_members(&mut frame);
        frame.end();
    }
}

#[cfg(test)]
mod tests;
