//! Events until the Worker has stored them.
//!
//! Each event gets the next number and is kept, already serialized, until it is acknowledged. The outbox does not
//! refuse events; it says when it is [full](Outbox::is_full), and then nothing more is read from the harness.

use std::collections::VecDeque;

use cloister_protocol::{Event, FromSupervisor, MAX_FRAME_BYTES};
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Unacknowledged bytes above which the harness has to wait.
const FULL_BYTES: usize = 16 << 20;

/// The numbered, unacknowledged events.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Frames with the numbers `last - frames.len() + 1 ..= last`.
    frames: VecDeque<Utf8Bytes>,
    last: u64,
    bytes: usize,
}

/// Why an event or acknowledgement was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboxError {
    /// The frame would be larger than the protocol allows.
    TooLarge,
    /// The acknowledgement is about an event that does not exist.
    Ahead,
}

impl Outbox {
    /// Numbers and keeps `event`.
    pub fn push(&mut self, event: Event) -> Result<(), OutboxError> {
        let seq = self.last + 1;
        let frame = FromSupervisor::Event { seq, event };
        let frame = serde_json::to_string(&frame).map_err(|_| OutboxError::TooLarge)?;
        if frame.len() > MAX_FRAME_BYTES {
            return Err(OutboxError::TooLarge);
        }
        self.last = seq;
        self.bytes += frame.len();
        self.frames.push_back(frame.into());
        Ok(())
    }

    /// Forgets everything up to `seq`. An old number changes nothing.
    pub fn acknowledge(&mut self, seq: u64) -> Result<(), OutboxError> {
        if seq > self.last {
            return Err(OutboxError::Ahead);
        }
        while self.first() <= seq {
            match self.frames.pop_front() {
                Some(frame) => self.bytes -= frame.len(),
                None => break,
            }
        }
        Ok(())
    }

    /// The frame after number `seq`, with its own number. The text is shared, not copied.
    pub fn after(&self, seq: u64) -> Option<(u64, Utf8Bytes)> {
        let next = self.first().max(seq.saturating_add(1));
        let index = usize::try_from(next - self.first()).ok()?;
        self.frames.get(index).map(|frame| (next, frame.clone()))
    }

    /// Highest number so far; 0 for none.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Whether everything is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether the harness has to wait.
    pub fn is_full(&self) -> bool {
        self.bytes >= FULL_BYTES
    }

    /// Number of the oldest kept frame, or of the next one if none is kept.
    fn first(&self) -> u64 {
        self.last - self.frames.len() as u64 + 1
    }
}

#[cfg(test)]
mod tests;
