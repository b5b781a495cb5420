//! The manifest: what a checkpoint is made of. It is written last, and its digest is what is committed.
use super::{CheckpointId, Digest, Part, SavedArtifact};
use cloister_protocol::backup::{MAX_ANNOUNCED_FILES, MAX_PARTS, PART_BYTES};
use serde::{Deserialize, Serialize};

/// Largest manifest, bytes: streams of [`MAX_PARTS`] and artifacts with the longest paths.
pub const MAX_MANIFEST_BYTES: u64 = 4 << 20;
/// Version of the form below.
const VERSION: u32 = 1;
/// Bytes of a harness's name of its thread.
pub const MAX_THREAD: usize = 256;

/// A checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    version: u32,
    /// The session, `sess_…`.
    pub session: String,
    /// Its id.
    pub id: CheckpointId,
    /// The harness's thread that the history continues.
    pub thread: Option<String>,
    /// The native history, an archive.
    pub history: Stream,
    /// The workspace, an archive; none without a sandbox.
    pub workspace: Option<Stream>,
    /// Files that were stored beside it. Whether they are published the session says.
    pub artifacts: Vec<SavedArtifact>,
}

/// Stored bytes, in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The checkpoint that they were stored with: this, or an earlier one of the session.
    pub checkpoint: CheckpointId,
    /// At least one; all but the last have [`PART_BYTES`].
    pub parts: Vec<Part>,
}

/// Why a manifest is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestError {
    /// It is not what was committed.
    Digest,
    /// It is not of this form, or breaks one of its rules.
    Invalid,
    /// A later version of this program made it.
    Version,
}

impl ManifestError {
    /// Stable code for logs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::Invalid => "invalid",
            Self::Version => "version",
        }
    }
}

impl Manifest {
    /// A manifest of this version.
    pub fn new(
        session: String,
        id: CheckpointId,
        thread: Option<String>,
        history: Stream,
        workspace: Option<Stream>,
        artifacts: Vec<SavedArtifact>,
    ) -> Self {
        Self {
            version: VERSION,
            session,
            id,
            thread,
            history,
            workspace,
            artifacts,
        }
    }

    /// Reads one of `session` whose digest was committed as `digest`.
    pub fn read(bytes: &[u8], digest: &Digest, session: &str) -> Result<Self, ManifestError> {
        if bytes.len() as u64 > MAX_MANIFEST_BYTES || Digest::of(bytes) != *digest {
            return Err(ManifestError::Digest);
        }
        Self::parse(bytes, session)
    }

    /// Reads one whose digest is known to be right.
    pub fn parse(bytes: &[u8], session: &str) -> Result<Self, ManifestError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        // Another version may have other members.
        let Versioned { version } =
            serde_json::from_slice(bytes).map_err(|_| ManifestError::Invalid)?;
        if version != VERSION {
            return Err(ManifestError::Version);
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|_| ManifestError::Invalid)?;
        let streams = [Some(&manifest.history), manifest.workspace.as_ref()];
        let sound = manifest.session == session
            && streams.into_iter().flatten().all(Stream::is_sound)
            && manifest.artifacts.len() <= MAX_ANNOUNCED_FILES
            && manifest
                .thread
                .as_ref()
                .is_none_or(|thread| thread.len() <= MAX_THREAD);
        if sound {
            Ok(manifest)
        } else {
            Err(ManifestError::Invalid)
        }
    }

    /// As it is stored, and the digest of that.
    pub fn write(&self) -> serde_json::Result<(Vec<u8>, Digest)> {
        let bytes = serde_json::to_vec(self)?;
        let digest = Digest::of(&bytes);
        Ok((bytes, digest))
    }
}

impl Stream {
    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    fn is_sound(&self) -> bool {
        let Some((last, full)) = self.parts.split_last() else {
            return false;
        };
        let most = PART_BYTES as u64;
        self.parts.len() <= MAX_PARTS
            && full.iter().all(|part| part.bytes == most)
            && (1..=most).contains(&last.bytes)
    }
}

#[cfg(test)]
mod tests;
