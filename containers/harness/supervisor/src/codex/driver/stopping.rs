//! From `interrupt` to the end of everything that ran.
//!
//! The session's own thread and each of its open subagents is stopped by itself, one after the other: `turn/interrupt`,
//! if a turn runs in it, then `thread/backgroundTerminals/clean`.

use cloister_protocol::{Event, Outcome};

use super::{Call, Driver, Interrupt, State};
use crate::codex::calls;

impl Driver {
    pub(super) fn interrupt(&mut self, turn_id: &str) {
        if let Some(turn) = self
            .turn
            .as_mut()
            .filter(|t| t.id == turn_id && t.interrupt == Interrupt::No)
        {
            turn.interrupt = Interrupt::Wanted;
            self.send_interrupt();
        }
    }

    /// Sends a wanted interrupt, if Codex's id of the turn is known.
    pub(super) fn send_interrupt(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if let (Interrupt::Wanted, State::Running { thread, codex }) = (turn.interrupt, &turn.state)
        {
            turn.interrupt = Interrupt::Sent;
            let (thread, codex) = (thread.clone(), codex.clone());
            self.interrupted.insert(&codex);
            self.stop(thread, Some(&codex));
            self.stop_subagents();
        }
    }

    /// Stops all subagents for good: the agent that knew them is replaced.
    pub(super) fn close_subagents(&mut self) {
        self.stop_subagents();
        for subagent in self.subagents.close_all() {
            self.emit(Event::SubagentClosed { subagent });
        }
    }

    fn stop_subagents(&mut self) {
        let open = self.subagents.open();
        let open: Vec<_> = open
            .map(|(thread, turn)| (thread.to_owned(), turn.map(str::to_owned)))
            .collect();
        for (thread, turn) in open {
            self.stop(thread, turn.as_deref());
        }
    }

    /// Stops what runs in a thread; the turn, if there is one, does not end before.
    pub(super) fn stop(&mut self, thread: String, codex: Option<&str>) {
        let turn_id = self.turn.as_mut().map(|turn| {
            turn.stopping += 1;
            turn.id.clone()
        });
        let turn_id = turn_id.unwrap_or_default();
        match codex {
            Some(codex) => {
                let params = calls::turn_interrupt(&thread, codex);
                self.call(
                    Call::Interrupt { turn_id, thread },
                    "turn/interrupt",
                    params,
                );
            }
            None => self.clean(turn_id, &thread),
        }
    }

    fn clean(&mut self, turn_id: String, thread: &str) {
        self.call(
            Call::Clean { turn_id },
            "thread/backgroundTerminals/clean",
            calls::clean_terminals(thread),
        );
    }

    /// Codex has taken the interrupt, or there was nothing to interrupt.
    pub(super) fn interrupt_answered(&mut self, turn_id: &str, thread: String, accepted: bool) {
        let own = self.is_own(&thread);
        let Some(turn) = self.turn.as_mut().filter(|t| t.id == turn_id) else {
            // In its own thread a newer turn may run by now.
            if !own {
                self.clean(turn_id.to_owned(), &thread);
            }
            return;
        };
        match turn.state {
            // Too early for Codex; `turn/started` will come.
            State::Running { .. } if own && !accepted => {
                turn.stopping -= 1;
                turn.interrupt = Interrupt::Wanted;
            }
            State::Opening { .. }
            | State::Starting { .. }
            | State::Running { .. }
            | State::Ended { .. } => self.clean(turn_id.to_owned(), &thread),
        }
    }

    pub(super) fn cleaned(&mut self, turn_id: &str, accepted: bool) {
        let Some(turn) = self.turn.as_mut().filter(|t| t.id == turn_id) else {
            return;
        };
        turn.stopping = turn.stopping.saturating_sub(1);
        if turn.stopping > 0 || turn.interrupt != Interrupt::Sent {
            return;
        }
        // A turn that still runs was not interrupted: once more when it has begun.
        let running = !matches!(turn.state, State::Ended { .. });
        turn.interrupt = if running && !accepted {
            Interrupt::Wanted
        } else {
            Interrupt::Done
        };
        self.end_if_stopped(false);
    }

    /// Ends the turn if Codex is done with it, has answered what it was told, and nothing of it has to be stopped any more.
    pub(super) fn end_if_stopped(&mut self, whatever: bool) {
        let Some(turn) = &mut self.turn else { return };
        let State::Ended { outcome } = &turn.state else {
            return;
        };
        let stopped = matches!(turn.interrupt, Interrupt::No | Interrupt::Done);
        // What a turn was told and has taken belongs to it: so that is said first.
        if whatever || (stopped && !self.requests.is_steering()) {
            let outcome: Outcome = outcome.clone();
            self.end(outcome);
        } else if turn.interrupt == Interrupt::Wanted {
            // It ended by itself before it could be interrupted, but may have left something running.
            turn.interrupt = Interrupt::Sent;
            let thread = self.mapper.last_thread().map(str::to_owned);
            if let Some(thread) = thread {
                self.stop(thread, None);
            }
            self.stop_subagents();
        }
    }
}
