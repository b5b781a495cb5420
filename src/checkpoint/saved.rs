use super::{CheckpointId, Digest};
use serde::{Deserialize, Serialize};

/// A checkpoint that is whole in the store, to be committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Its id.
    pub id: CheckpointId,
    /// SHA-256 of its manifest.
    pub manifest: Digest,
    /// The checkpoint that holds its workspace: itself, or an earlier one if the sandbox was lost; none without a sandbox.
    pub workspace: Option<CheckpointId>,
    /// What the turn made for the user, in the order of the announcement.
    pub artifacts: Vec<SavedArtifact>,
    /// Places in the announcement of files that were begun and are not whole.
    pub dropped: Vec<u32>,
    /// The sandbox of the turn is gone, and what it had changed with it.
    pub sandbox_lost: bool,
}

/// A stored file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedArtifact {
    /// Its place in the announcement, which its objects are named by.
    pub index: u32,
    /// Absolute path in the sandbox.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 that it was announced with. Tells a changed file from one that was published; nothing else rests on it.
    pub sha256: Digest,
}

/// Why there is no checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unsaved {
    /// The workspace is larger than may be stored, or holds more files.
    TooLarge,
    /// The store, the sandbox or the harness did not do its part.
    Failed,
}

/// The committed checkpoint of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Rises by one with each commit, from 1.
    pub generation: u64,
    /// Its id.
    pub id: CheckpointId,
    /// SHA-256 of its manifest.
    pub manifest: Digest,
    /// The checkpoint that holds its workspace; none without a sandbox.
    pub workspace: Option<CheckpointId>,
}

/// Objects that nobody needs any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Garbage {
    /// What their keys begin with.
    pub prefix: String,
    /// Until when more of them may appear, Unix milliseconds: whoever stores them may still be at it.
    pub until: u64,
}
