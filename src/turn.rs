//! The session's state machine: what happens to a session, and what follows from it.
//!
//! [`Session::step`] takes one input and changes the state; it does no I/O and reads no clock. What follows is data in a
//! [`Step`]: events for the log, items and turns to store, and effects for the outbox. The caller stores all of it in one
//! transaction, and only then carries the effects out. An effect may be carried out more than once: each names its turn,
//! and the harness ignores what it has.
//!
//! ```text
//! idle ──message──▶ in_progress (turn queued ─▶ in_progress) ──end──▶ idle
//!                        │ message: steers the turn; a refused steer waits and becomes the next turn
//!                        │ cancel: interrupts it; if the harness does not stop in time, its containers end
//!                        ▼ deadline: interrupts it, and it fails with `request_timeout`
//! ```
mod items;
mod state;
mod step;

pub use state::{Identity, Session, UserMessage};
pub use step::{Effect, Input, ItemWrite, Seeds, Step};

/// Largest input of one turn, in bytes of JSON: with what else a row of a Durable Object (2 MB) and a frame to the
/// supervisor hold.
pub const MAX_INPUT_BYTES: usize = 1_500_000;

#[cfg(test)]
mod tests;
