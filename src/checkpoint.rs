//! Checkpoints: native history, workspace and artifacts of a session, stored together and committed under one generation.
//!
//! Everything is stored in streams of parts, one object each, under keys that [`key`] makes and no container ever sees. A
//! checkpoint that is being made is an attempt: its objects are known before they exist, and garbage unless it is committed.
mod digest;
mod grant;
mod id;
pub mod key;
mod manifest;
mod publish;
mod saved;

pub use digest::Digest;
pub use grant::{Allowed, Ask, GrantError, Grants, Length, Part, Stored, Task, Terms, Verb};
pub use id::CheckpointId;
pub use manifest::{Manifest, ManifestError, Stream, MAX_MANIFEST_BYTES, MAX_THREAD};
pub use publish::{path_name, wanted, InvalidAnnouncement};
pub use saved::{Checkpoint, Garbage, Saved, SavedArtifact, Unsaved};
