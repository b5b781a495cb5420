//! Packs a folder.
mod content;
mod walk;

use std::io::{self, Write};
use std::path::Path;

use crate::{beneath, format, Excludes, Limit, Limits, WINDOW_LOG};
use walk::Walk;

/// zstd's, found by measuring: the store is not faster than this, and there are two processors at most.
const LEVEL: i32 = 1;

/// What was packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// Files, folders and links.
    pub entries: u64,
    /// What is stored of all files, bytes before compression, as [`Limits::bytes`] counts.
    pub bytes: u64,
    /// Sockets, pipes and devices, which are never stored.
    pub skipped: u64,
    /// Files that changed or went away while they were read. What is stored of them may be half old, half new.
    pub changed: u64,
}

/// Why a folder was not packed.
#[derive(Debug)]
pub enum PackError {
    /// The folder exceeds a limit.
    TooLarge(Limit),
    /// The folder cannot be read.
    Read(io::Error),
    /// The archive cannot be written.
    Write(io::Error),
}

/// Packs what is in the folder `root`, but not what it is itself: its mode, owner and time.
///
/// # Errors
/// See [`PackError`]; what was written to `out` until then is of no use.
pub fn pack(
    root: &Path,
    excludes: &Excludes,
    limits: &Limits,
    out: impl Write,
) -> Result<Packed, PackError> {
    let root = beneath::open_root(root).map_err(PackError::Read)?;
    let mut encoder = zstd::Encoder::new(out, LEVEL).map_err(PackError::Write)?;
    encoder.window_log(WINDOW_LOG).map_err(PackError::Write)?;
    let packed = Walk::new(excludes, limits, &mut encoder).run(root)?;
    encoder.write_all(&format::END).map_err(PackError::Write)?;
    let mut out = encoder.finish().map_err(PackError::Write)?;
    out.flush().map_err(PackError::Write)?;
    Ok(packed)
}
