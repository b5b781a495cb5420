//! How a container stores and fetches streams of bytes: parts of an archive, and files that a turn made.
//!
//! A container has no name for any stored object. It is given a grant, which stands for one object, one verb and one use,
//! and spends it at `http://backup.internal/<grant>`:
//!
//! | request | answer |
//! |---|---|
//! | `PUT`, a body of announced length, [`DIGEST_HEADER`] | 200; [`NEXT_HEADER`] if another part may follow |
//! | `GET` | 200, the part, [`DIGEST_HEADER`]; [`NEXT_HEADER`] if another part follows |
//! | `POST`, an [`Announcement`] | 200, a [`Wanted`] |
//!
//! Every part but the last of a stream has [`PART_BYTES`]. Anything else is refused with 403 and a code, and so is a grant
//! that was used, has expired, or is another container's.
use serde::{Deserialize, Serialize};

/// Name under which both containers reach the store, on HTTP port 80.
pub const BACKUP_HOST: &str = "backup.internal";
/// Size of every part of a stream but the last, which is smaller or as large, and not empty.
pub const PART_BYTES: usize = 16 << 20;
/// Most parts of a stream.
pub const MAX_PARTS: usize = 1024;
/// Header with a part's SHA-256, 64 lower-case hex digits.
pub const DIGEST_HEADER: &str = "x-cloister-sha256";
/// Header with the grant for the stream's next part.
pub const NEXT_HEADER: &str = "x-cloister-next";
/// Environment variable of the harness container: the grant with which it fetches its history before it starts.
pub const RESTORE_VARIABLE: &str = "CLOISTER_RESTORE";
/// Largest announcement, bytes of JSON.
pub const MAX_ANNOUNCEMENT_BYTES: usize = 1 << 20;
/// Most files of one announcement.
pub const MAX_ANNOUNCED_FILES: usize = 1000;
/// Longest path of an announced file, bytes.
pub const MAX_ANNOUNCED_PATH: usize = 1024;
/// Largest announced file, bytes.
pub const MAX_ARTIFACT_BYTES: u64 = 200 << 20;
/// Most bytes of all files of one announcement that are wanted.
pub const MAX_PUBLISHED_BYTES: u64 = 500 << 20;
/// Folder whose files are announced at the end of a turn.
pub const OUTPUTS: &str = "/workspace/outputs";

/// Files that may be published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Announcement {
    /// Each once, by path.
    pub files: Vec<AnnouncedFile>,
}

/// A regular file below [`OUTPUTS`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnouncedFile {
    /// Path relative to [`OUTPUTS`], without empty, `.` and `..` parts.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of what it holds, 64 lower-case hex digits.
    pub sha256: String,
}

/// Which of the announced files are wanted: new and changed ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// In the order of the announcement.
    pub files: Vec<WantedFile>,
}

/// A file to be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedFile {
    /// Index in the announcement, from 0.
    pub index: u32,
    /// Grant for its first part.
    pub grant: String,
}
