//! What is being unpacked.
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{
    chownat, fchmod, fchown, fstat, futimens, linkat, mkdirat, openat, statat, symlinkat,
    utimensat, AtFlags, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid, UTIME_OMIT,
};
use rustix::process::geteuid;

use super::{read_fault, UnpackError};
use crate::beneath;
use crate::entry::{Content, Meta};
use crate::format::{padding, BLOCK};

/// The folders that are not finished, from the root to the last one made, and what must be known of the others.
pub(super) struct Tree {
    root: Level,
    levels: Vec<Level>,
    /// Files made here, by device and inode: those that may be linked to.
    made: HashSet<(u64, u64)>,
    privileged: bool,
    buffer: Vec<u8>,
}

struct Level {
    folder: OwnedFd,
    name: Vec<u8>,
    /// Name of the last entry in it; the next comes after that.
    last: Vec<u8>,
    /// None for the root, which is not ours.
    meta: Option<Meta>,
}

impl Tree {
    pub fn new(root: OwnedFd) -> Self {
        Self {
            root: Level {
                folder: root,
                name: Vec::new(),
                last: Vec::new(),
                meta: None,
            },
            levels: Vec::new(),
            made: HashSet::new(),
            privileged: geteuid().is_root(),
            buffer: vec![0; 128 << 10],
        }
    }

    pub fn folder(&mut self, path: &[u8], meta: &Meta) -> Result<(), UnpackError> {
        let (parent, name) = self.parent(path)?;
        // Ours alone until it is finished.
        mkdirat(parent, name, Mode::RWXU).map_err(write_fault)?;
        let folder = beneath::open_folder(parent, name).map_err(UnpackError::Write)?;
        self.levels.push(Level {
            folder,
            name: name.to_vec(),
            last: Vec::new(),
            meta: Some(*meta),
        });
        Ok(())
    }

    pub fn file(
        &mut self,
        path: &[u8],
        meta: &Meta,
        content: &Content,
        input: &mut impl Read,
    ) -> Result<(), UnpackError> {
        let (parent, name) = self.parent(path)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(parent, name, flags, Mode::RUSR | Mode::WUSR).map_err(write_fault)?;
        let file = File::from(file);
        for extent in &content.extents {
            let mut offset = extent.offset;
            let end = extent.offset + extent.bytes;
            while offset < end {
                let most = self.buffer.len() as u64;
                // No more than the buffer has.
                let piece = &mut self.buffer[..(end - offset).min(most) as usize];
                input.read_exact(piece).map_err(read_fault)?;
                file.write_all_at(piece, offset)
                    .map_err(UnpackError::Write)?;
                offset += piece.len() as u64;
            }
        }
        let mut zeros = [0; BLOCK];
        let padding = &mut zeros[..padding(content.stored())];
        input.read_exact(padding).map_err(read_fault)?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(UnpackError::Invalid("padding"));
        }
        if content.has_holes() {
            file.set_len(content.size).map_err(UnpackError::Write)?;
        }
        self.made.insert(id(&fstat(&file).map_err(write_fault)?));
        self.dress(&file, meta)
    }

    pub fn symlink(&mut self, path: &[u8], meta: &Meta, target: &[u8]) -> Result<(), UnpackError> {
        if target.is_empty() || target.contains(&0) {
            return Err(UnpackError::Invalid("target"));
        }
        let privileged = self.privileged;
        let (parent, name) = self.parent(path)?;
        symlinkat(target, parent, name).map_err(write_fault)?;
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        if privileged {
            let (owner, group) = owner(meta);
            chownat(parent, name, owner, group, flags).map_err(write_fault)?;
        }
        utimensat(parent, name, &times(meta), flags).map_err(write_fault)
    }

    /// Gives a file that was made here a further name.
    pub fn link(&mut self, path: &[u8], target: &[u8]) -> Result<(), UnpackError> {
        const BAD: UnpackError = UnpackError::Invalid("link");
        if !beneath::is_plain(target) {
            return Err(BAD);
        }
        let found = beneath::open_parent(self.root.folder.as_fd(), target);
        let (folder, old) = found.map_err(|_| BAD)?;
        let stat = statat(&folder, old, AtFlags::SYMLINK_NOFOLLOW).map_err(|_| BAD)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile
            || !self.made.contains(&id(&stat))
        {
            return Err(BAD);
        }
        let (parent, name) = self.parent(path)?;
        // Without the flag that would follow a symbolic link.
        linkat(&folder, old, parent, name, AtFlags::empty()).map_err(write_fault)
    }

    /// Finishes the folders that are left.
    pub fn finish(mut self) -> Result<(), UnpackError> {
        self.leave(0)
    }

    /// The folder of an entry, which is the next in order, and its name there.
    fn parent<'path>(&mut self, path: &'path [u8]) -> Result<(&OwnedFd, &'path [u8]), UnpackError> {
        if !beneath::is_plain(path) {
            return Err(UnpackError::Invalid("path"));
        }
        let mut names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let name = names.pop().unwrap_or_default();
        let open = self.levels.iter().zip(&names);
        let common = open
            .take_while(|(level, name)| level.name == **name)
            .count();
        if common < names.len() {
            return Err(UnpackError::Invalid("no_folder"));
        }
        self.leave(common)?;
        let level = self.levels.last_mut().unwrap_or(&mut self.root);
        if level.last.as_slice() >= name {
            return Err(UnpackError::Invalid("order"));
        }
        level.last = name.to_vec();
        Ok((&level.folder, name))
    }

    /// Finishes folders until so many are open.
    fn leave(&mut self, depth: usize) -> Result<(), UnpackError> {
        while self.levels.len() > depth {
            if let Some(Level {
                folder,
                meta: Some(meta),
                ..
            }) = self.levels.pop()
            {
                self.dress(&folder, &meta)?;
            }
        }
        Ok(())
    }

    /// Sets owner, mode and time, by handle, in the order in which none undoes another.
    fn dress(&self, made: impl AsFd, meta: &Meta) -> Result<(), UnpackError> {
        if self.privileged {
            let (owner, group) = owner(meta);
            fchown(&made, owner, group).map_err(write_fault)?;
        }
        fchmod(&made, Mode::from_raw_mode(meta.mode)).map_err(write_fault)?;
        futimens(&made, &times(meta)).map_err(write_fault)
    }
}

fn id(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn owner(meta: &Meta) -> (Option<Uid>, Option<Gid>) {
    (Some(Uid::from_raw(meta.uid)), Some(Gid::from_raw(meta.gid)))
}

fn times(meta: &Meta) -> Timestamps {
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: meta.mtime.seconds,
            tv_nsec: meta.mtime.nanos.into(),
        },
    }
}

fn write_fault(error: impl Into<io::Error>) -> UnpackError {
    UnpackError::Write(error.into())
}
