//! Events on their way to the Worker, in order.
//!
//! The opening of a subagent waits until Codex has said who it is, and everything after it waits too.

use std::collections::VecDeque;

use cloister_protocol::Event;

/// Events that wait; with more, the openings are told without a name.
const MAX_WAITING: usize = 1024;

/// The events that wait.
#[derive(Debug, Default)]
pub struct Events(VecDeque<Waiting>);

#[derive(Debug)]
enum Waiting {
    Event(Event),
    /// Of the subagent of this thread, as far as it is known.
    Opening(String, Event),
}

impl Events {
    /// Adds an event; what may go out now is given to `out`.
    pub fn push(&mut self, event: Event, mut out: impl FnMut(Event)) {
        if self.0.is_empty() {
            return out(event);
        }
        self.0.push_back(Waiting::Event(event));
        if self.0.len() > MAX_WAITING {
            let all = std::mem::take(&mut self.0);
            for Waiting::Event(event) | Waiting::Opening(_, event) in all {
                out(event);
            }
        }
    }

    /// Adds the opening of a subagent, to be settled later.
    pub fn open(&mut self, thread: &str, event: Event) {
        self.0.push_back(Waiting::Opening(thread.to_owned(), event));
    }

    /// The opening of that thread is `event`.
    pub fn settle(&mut self, thread: &str, event: Event, mut out: impl FnMut(Event)) {
        let index = self
            .0
            .iter()
            .position(|waiting| matches!(waiting, Waiting::Opening(t, _) if t == thread));
        if let Some(index) = index {
            self.0[index] = Waiting::Event(event);
        }
        while let Some(Waiting::Event(_)) = self.0.front() {
            if let Some(Waiting::Event(event)) = self.0.pop_front() {
                out(event);
            }
        }
    }
}
