//! What a folder may hold at most.
use crate::entry::{Entry, Kind};

/// Limits of an archive. Packing keeps them as unpacking does, so that what was packed can be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files, folders and links together.
    pub entries: u64,
    /// What is stored of all files, bytes. Holes do not count, the lists of them do: 16 bytes for each part between two.
    pub bytes: u64,
    /// Size of one file, bytes, holes and all.
    pub file_bytes: u64,
    /// Names in a path.
    pub depth: usize,
    /// Length of a path and of a link's target, bytes.
    pub path_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 1_000_000,
            bytes: 8 << 30,
            file_bytes: 1 << 30,
            depth: 128,
            path_bytes: 4096,
        }
    }
}

/// A limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::entries`].
    Entries,
    /// [`Limits::bytes`].
    Bytes,
    /// [`Limits::file_bytes`].
    FileBytes,
    /// [`Limits::depth`].
    Depth,
    /// [`Limits::path_bytes`].
    PathBytes,
    /// 64 MiB for the paths of the files that have several names. Only packing has it.
    Links,
}

/// What has come so far, of what may come.
pub(crate) struct Tally<'limits> {
    limits: &'limits Limits,
    pub entries: u64,
    pub bytes: u64,
}

impl<'limits> Tally<'limits> {
    pub fn new(limits: &'limits Limits) -> Self {
        Self {
            limits,
            entries: 0,
            bytes: 0,
        }
    }

    /// How many entries may still come.
    pub fn entries_left(&self) -> u64 {
        self.limits.entries.saturating_sub(self.entries)
    }

    /// Counts an entry before anything is done with it.
    pub fn admit(&mut self, entry: &Entry) -> Result<(), Limit> {
        let limits = self.limits;
        let (target, size, stored) = match &entry.kind {
            Kind::Folder => (0, 0, 0),
            Kind::Symlink(target) | Kind::Link(target) => (target.len(), 0, 0),
            Kind::File(content) if content.has_holes() => {
                let list = 16 * content.extents.len() as u64;
                (0, content.size, content.stored() + list)
            }
            Kind::File(content) => (0, content.size, content.size),
        };
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(stored);
        if self.entries > limits.entries {
            Err(Limit::Entries)
        } else if entry.path.len().max(target) > limits.path_bytes {
            Err(Limit::PathBytes)
        } else if entry.path.split(|byte| *byte == b'/').count() > limits.depth {
            Err(Limit::Depth)
        } else if size > limits.file_bytes {
            Err(Limit::FileBytes)
        } else if self.bytes > limits.bytes {
            Err(Limit::Bytes)
        } else {
            Ok(())
        }
    }
}
