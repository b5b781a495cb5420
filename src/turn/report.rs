//! What a harness reports, and who takes it.
use super::actions::{Asked, Called};
use super::state::Session;
use super::step::{Seeds, Step};
use cloister_protocol::Event as E;

impl Session {
    pub(super) fn take_event(&mut self, event: E, seeds: &mut Seeds<'_>, step: &mut Step) {
        match event {
            // Nobody says that containers ended while nothing ran; a new instance says that it is one.
            E::Ready { .. } => self.close_subagents(seeds, step),
            E::Steered { input_id } => self.steered(&input_id, seeds, step),
            E::SteerRefused { input_id } => self.steer_refused(&input_id, seeds, step),
            E::HarnessLost { .. } => self.lost(seeds, step),
            E::TurnStarted { turn_id, .. } => {
                if self.heard_of(&turn_id, step) {
                    self.started(seeds, step);
                }
            }
            E::TurnEnded { turn_id, outcome } => {
                if self.heard_of(&turn_id, step) {
                    self.ended(outcome, seeds, step);
                }
            }
            E::Usage { turn_id, usage } => {
                if self.heard_of(&turn_id, step) {
                    self.used(usage);
                }
            }
            // Of a turn that has ended: its items are closed, and stored events never change.
            E::ItemStarted { turn_id, item } => {
                if self.heard_of(&turn_id, step) {
                    self.begin_item(&item, seeds, step);
                }
            }
            E::TextDelta {
                turn_id,
                item_id,
                delta,
            } => {
                if self.heard_of(&turn_id, step) {
                    self.add_text(&item_id, delta, step);
                }
            }
            E::ReasoningDelta {
                turn_id,
                item_id,
                part,
                delta,
            } => {
                if self.heard_of(&turn_id, step) {
                    self.add_reasoning(&item_id, part as usize, delta, step);
                }
            }
            E::OutputDelta {
                turn_id,
                item_id,
                delta,
            } => {
                if self.heard_of(&turn_id, step) {
                    self.add_output(&item_id, delta, step);
                }
            }
            E::ItemCompleted { turn_id, item } => {
                if self.heard_of(&turn_id, step) {
                    self.complete_item(item, seeds, step);
                }
            }
            E::ToolCall {
                turn_id,
                call_id,
                name,
                arguments,
            } => {
                if self.heard_of(&turn_id, step) {
                    let called = Called {
                        call_id,
                        name,
                        arguments,
                    };
                    self.called(called, seeds, step);
                }
            }
            E::ApprovalRequested {
                turn_id,
                request_id,
                server,
                tool,
                message,
                arguments,
            } => {
                if self.heard_of(&turn_id, step) {
                    let asked = Asked {
                        request_id,
                        server,
                        tool,
                        message,
                        arguments,
                    };
                    self.asked(asked, seeds, step);
                }
            }
            E::ApprovalClosed { request_id } => self.approval_closed(&request_id, seeds, step),
            E::SubagentOpened {
                turn_id: _,
                subagent,
                parent,
                name,
                prompt,
            } => self.open_subagent(subagent, parent, name, prompt, seeds, step),
            E::SubagentClosed { subagent } => self.close_subagent(&subagent, seeds, step),
            E::Subagent {
                subagent,
                turn,
                event,
            } => self.take_subagent_event(&subagent, &turn, event, seeds, step),
        }
    }

    /// Whether a report is of the running turn; then the turn is with its harness.
    fn heard_of(&mut self, turn_id: &str, step: &mut Step) -> bool {
        self.brought(turn_id, false, step);
        self.runs(turn_id)
    }

    pub(super) fn runs(&self, turn_id: &str) -> bool {
        self.running_turn() == Some(turn_id)
    }
}
