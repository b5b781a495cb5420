//! The link between the Worker and the supervisor: JSON text frames over one WebSocket that the Worker opens.
//!
//! The protocol knows nothing of a particular harness; the supervisor translates. Events carry a sequence number that
//! rises by one, and the supervisor keeps each until it is acknowledged, so a link may be cut and opened again at any
//! point without loss or repetition:
//!
//! ```text
//! Worker                                supervisor
//!   attach {epoch, acknowledged: 7} ──▶
//!                                   ◀── attached {last: 9}
//!                                   ◀── event {seq: 8, …}, event {seq: 9, …}
//!   start_turn {turn_id, …}         ──▶
//!                                   ◀── event {seq: 10, …}
//!   acknowledge {seq: 10}           ──▶
//! ```
//!
//! A message of the supervisor holds one frame or several events, each on a line: what is ready goes together, since each
//! message costs the Worker far more than each event. Commands come one a message.
//!
//! Neither side trusts the other's sizes: a frame over [`MAX_FRAME_BYTES`], or a command over [`MAX_COMMAND_BYTES`], closes
//! the link.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod backup;
mod command;
mod event;
mod item;
mod json;
pub mod self_test;
pub mod trust;

pub use command::{AgentSettings, Command, Decision, Effort, Function, Input, Summary, Verbosity};
pub use event::{Event, FailureCode, FromSupervisor, Outcome, SubagentEvent, TokenUsage};
pub use item::{
    FileChange, FileChangeKind, Item, ItemKind, ItemStatus, Phase, SubagentCall, WebAction,
};
pub use json::Json;

/// Version of this protocol; the supervisor names it when a link attaches, and the Worker refuses any other.
pub const VERSION: u32 = 3;
/// TCP port of the supervisor in the harness container. The link is a WebSocket at the path `/link`.
pub const SUPERVISOR_PORT: u16 = 8700;
/// TCP port of the exec server in the sandbox container.
pub const EXEC_PORT: u16 = 8300;
/// Name under which the harness reaches the model, on HTTP port 80.
pub const MODEL_HOST: &str = "model.internal";
/// Name under which the harness reaches the exec server of its session's sandbox, on HTTP port 80.
pub const EXEC_HOST: &str = "exec.internal";
/// Environment variable of the harness container: the epoch that its exec URL carries.
pub const EPOCH_VARIABLE: &str = "CLOISTER_EPOCH";
/// Folder of the sandbox where commands start, and the only one that outlives it.
pub const WORKSPACE: &str = "/workspace";
/// Largest message of the supervisor, in bytes. What it means fits a row of a Durable Object (2 MB).
pub const MAX_FRAME_BYTES: usize = 1_900_000;
/// Largest command of the Worker, in bytes: an agent's settings and an input, each of which fits a row.
pub const MAX_COMMAND_BYTES: usize = 4_000_000;
/// Largest arguments, result or schema of a tool call that an event carries, in bytes of JSON; what is larger is
/// replaced by null.
pub const MAX_JSON_BYTES: usize = 256 << 10;
/// Deepest nesting of JSON that is handed on.
pub const MAX_JSON_DEPTH: usize = 64;
/// Largest command output in an item or delta, in bytes of UTF-8; the supervisor cuts what is longer.
pub const MAX_OUTPUT_BYTES: usize = 128 << 10;
/// Largest text of a message or of all parts of a reasoning summary, in bytes of UTF-8; the supervisor cuts what is longer, and
/// a message that is cut ends as [`ItemStatus::InProgress`]: it is not whole.
pub const MAX_TEXT_BYTES: usize = 256 << 10;
