//! What an archive says of a file, a folder or a link.
use rustix::fs::Stat;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Relative to the root.
    pub path: Vec<u8>,
    pub kind: Kind,
    pub meta: Meta,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File(Content),
    /// With its target, which is never looked at.
    Symlink(Vec<u8>),
    /// A further name of the file that was packed at this path.
    Link(Vec<u8>),
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// Holes and all, bytes.
    pub size: u64,
    /// The parts that are stored, in order, with holes before, between and after them.
    pub extents: Vec<Extent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub offset: u64,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Permissions, with the set-user, set-group and sticky bits.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub mtime: Time,
}

/// Since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    pub seconds: i64,
    /// Below a billion, always forward.
    pub nanos: u32,
}

impl Content {
    /// A file without holes.
    pub fn dense(size: u64) -> Self {
        let extent = Extent {
            offset: 0,
            bytes: size,
        };
        Self {
            size,
            extents: if size == 0 { vec![] } else { vec![extent] },
        }
    }

    pub fn has_holes(&self) -> bool {
        self.stored() != self.size
    }

    /// Bytes of data.
    pub fn stored(&self) -> u64 {
        self.extents.iter().map(|extent| extent.bytes).sum()
    }
}

impl Meta {
    pub fn of(stat: &Stat) -> Self {
        Self {
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            mtime: Time {
                seconds: stat.st_mtime,
                nanos: u32::try_from(stat.st_mtime_nsec).unwrap_or(0),
            },
        }
    }
}
