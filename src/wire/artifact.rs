//! Files that a turn published.
use serde::{Deserialize, Serialize};

/// An artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// `artifact_…`.
    pub id: String,
    /// Always the same.
    pub object: ArtifactObject,
    /// The session.
    pub session_id: String,
    /// The turn that published it.
    pub turn_id: String,
    /// The environment whose sandbox had it.
    pub environment_id: String,
    /// Absolute path of the file there.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// Unix seconds.
    pub created_at: u64,
}

/// The object's type on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArtifactObject {
    /// The only one.
    #[default]
    #[serde(rename = "agent.session.artifact")]
    Artifact,
}
