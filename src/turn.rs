//! The session's state machine: what happens to a session, and what follows from it.
//!
//! [`Session::step`] takes one input and changes the state; it does no I/O and reads no clock. What follows is data in a
//! [`Step`]: events for the log, items and turns to store, and effects for the outbox; what changed of the state itself is in
//! [`Session::take_changes`]. The caller stores all of it in one transaction, and only then carries the effects out. An effect
//! may be carried out more than once: each names its turn, input, call or request, and the harness ignores what it has.
//!
//! ```text
//! idle ──message──▶ in_progress (turn queued ─▶ in_progress ◀──▶ waiting, requires_action) ──end──▶ idle
//!                        │ message: steers the turn; a refused steer waits and becomes the next turn
//!                        │ cancel: interrupts it; if the harness does not stop in time, its containers end
//!                        │ deadline: interrupts it, and it fails with `request_timeout`
//!                        ▼ finished: its checkpoint is made; whatever comes waits; committed with its end, or it fails
//! in_progress ──its environment cannot be made──▶ failed, for good: nothing is taken any more, and nothing follows
//! ```
mod actions;
mod cells;
mod environment;
mod failure;
mod items;
mod lifecycle;
mod log;
mod network;
mod report;
mod saving;
mod scribe;
mod settings;
mod state;
mod step;
mod stored;
mod subagents;

pub use log::{event_id, place_of, stream_name, Chunk, Ends};
pub use state::{bytes_of, Identity, Said, Session, UserMessage};
pub use step::{ArtifactWrite, Effect, Input, ItemWrite, Refused, Seeds, Step, ToolResult};
pub use stored::{CellKind, CellWrite, TextWrite};

/// Largest input that may wait, and so largest input of one turn, in bytes of JSON: with what else a row of a Durable Object
/// (2 MB) holds.
pub const MAX_INPUT_BYTES: usize = 1_500_000;
/// Largest agent of a session, in bytes of JSON: as much as a row holds beside what the session may wait for.
pub const MAX_AGENT_BYTES: usize = 1_000_000;
/// Bytes of events that a session's log holds before the oldest go.
pub const MAX_LOG_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests;
