//! Whether the exec server answers: one that was stopped is alive, but only looks so.

mod probe;

use std::time::{Duration, Instant};

pub use probe::{watch, Probe};

/// A server that was ready once is stuck after this long without an answer …
const SILENCE: Duration = Duration::from_secs(15);
/// … and one that never was, after this long: a busy machine may take its time to start it.
const START: Duration = Duration::from_secs(60);
/// Fewer unanswered tries prove nothing: after a pause of the whole container there is a long silence without a try.
const MIN_TRIES: u32 = 3;

/// What is known of one run of the exec server.
#[derive(Clone, Copy, Debug)]
pub struct Health {
    started: Instant,
    /// When the last try began that was answered.
    answered: Option<Instant>,
    /// Tries since then that were not.
    unanswered: u32,
}

impl Health {
    /// Of a server that was started just now.
    pub fn new(started: Instant) -> Self {
        Self {
            started,
            answered: None,
            unanswered: 0,
        }
    }

    /// Takes a try into account. One that began before this server did says nothing about it.
    pub fn note(&mut self, probe: Probe) {
        if probe.begun < self.started {
            return;
        }
        if probe.answered {
            self.answered = Some(probe.begun);
            self.unanswered = 0;
        } else {
            self.unanswered = self.unanswered.saturating_add(1);
        }
    }

    /// Whether the server has to be killed.
    pub fn is_stuck(&self, now: Instant) -> bool {
        let (since, patience) = match self.answered {
            Some(answered) => (answered, SILENCE),
            None => (self.started, START),
        };
        self.unanswered >= MIN_TRIES && now.saturating_duration_since(since) >= patience
    }
}

#[cfg(test)]
mod tests;
