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
//! Neither side trusts the other's sizes: a frame over [`MAX_FRAME_BYTES`] closes the link.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod command;
mod event;
mod item;

pub use command::{AgentSettings, Command, Effort, Input, Summary, Verbosity};
pub use event::{Event, FailureCode, FromSupervisor, Outcome, TokenUsage};
pub use item::{FileChange, FileChangeKind, Item, ItemKind, ItemStatus, Phase};

/// Version of this protocol; the supervisor names it when a link attaches, and the Worker refuses any other.
pub const VERSION: u32 = 1;
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
/// Largest frame either side sends or accepts, in bytes. Fits a row of a Durable Object (2 MB).
pub const MAX_FRAME_BYTES: usize = 1_900_000;
/// Largest command output in an item or delta, in bytes of UTF-8; the supervisor cuts what is longer.
pub const MAX_OUTPUT_BYTES: usize = 128 << 10;
/// Largest text of a message or of one reasoning part, in bytes of UTF-8; the supervisor cuts what is longer.
pub const MAX_TEXT_BYTES: usize = 128 << 10;
