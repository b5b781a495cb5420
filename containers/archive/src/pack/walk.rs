//! The way through the folder.
use std::collections::HashMap;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{fstat, readlinkat, statat, AtFlags, FileType, Stat};
use rustix::io::Errno;

use super::{content, PackError, Packed};
use crate::entry::{Entry, Kind, Meta};
use crate::limits::Tally;
use crate::{beneath, format, Excludes, Limit, Limits};

/// Most bytes of paths that are kept to find the further names of files.
const MAX_LINKS: usize = 64 << 20;

pub(super) struct Walk<'a, Out> {
    excludes: &'a Excludes,
    out: &'a mut Out,
    tally: Tally<'a>,
    packed: Packed,
    links: Links,
    buffer: Vec<u8>,
}

/// A folder that is being packed.
struct Level {
    folder: OwnedFd,
    path: Vec<u8>,
    /// What is left of it, last name first.
    names: Vec<Vec<u8>>,
}

/// First paths of files that have several names.
#[derive(Default)]
struct Links {
    paths: HashMap<(u64, u64), Vec<u8>>,
    bytes: usize,
}

impl<'a, Out: Write> Walk<'a, Out> {
    pub fn new(excludes: &'a Excludes, limits: &'a Limits, out: &'a mut Out) -> Self {
        Self {
            excludes,
            out,
            tally: Tally::new(limits),
            packed: Packed::default(),
            links: Links::default(),
            buffer: vec![0; 128 << 10],
        }
    }

    pub fn run(mut self, root: OwnedFd) -> Result<Packed, PackError> {
        let mut levels = vec![self.enter(root, Vec::new())?];
        while let Some(level) = levels.last_mut() {
            match level.names.pop() {
                None => {
                    levels.pop();
                }
                Some(name) => {
                    let path = join(&level.path, &name);
                    let inner = self.visit(&level.folder, &name, path)?;
                    levels.extend(inner);
                }
            }
        }
        Ok(Packed {
            entries: self.tally.entries,
            bytes: self.tally.bytes,
            ..self.packed
        })
    }

    fn enter(&mut self, folder: OwnedFd, path: Vec<u8>) -> Result<Level, PackError> {
        let wanted = |name: &[u8]| !self.excludes.matches(&join(&path, name));
        let left = self.tally.entries_left();
        let found = beneath::names(&folder, left, wanted);
        let mut names = self.there(found)?.unwrap_or_default();
        if names.len() as u64 > left {
            return Err(PackError::TooLarge(Limit::Entries));
        }
        names.sort_unstable_by(|one, other| other.cmp(one));
        Ok(Level {
            folder,
            path,
            names,
        })
    }

    /// Packs what has this name. If it is a folder, what is in it is yet to be packed.
    fn visit(
        &mut self,
        folder: &OwnedFd,
        name: &[u8],
        path: Vec<u8>,
    ) -> Result<Option<Level>, PackError> {
        let Some(stat) = self.there(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW))? else {
            return Ok(None);
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.folder(folder, name, path),
            FileType::RegularFile => self.file(folder, name, path).map(|()| None),
            FileType::Symlink => {
                let target = readlinkat(folder, name, Vec::new());
                if let Some(target) = self.there(target)? {
                    self.write(path, Kind::Symlink(target.into_bytes()), &stat)?;
                }
                Ok(None)
            }
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => {
                self.packed.skipped += 1;
                Ok(None)
            }
        }
    }

    fn folder(
        &mut self,
        folder: &OwnedFd,
        name: &[u8],
        path: Vec<u8>,
    ) -> Result<Option<Level>, PackError> {
        let Some(inner) = self.there(beneath::open_folder(folder, name))? else {
            return Ok(None);
        };
        let stat = fstat(&inner).map_err(|error| PackError::Read(error.into()))?;
        self.write(path.clone(), Kind::Folder, &stat)?;
        self.enter(inner, path).map(Some)
    }

    fn file(&mut self, folder: &OwnedFd, name: &[u8], path: Vec<u8>) -> Result<(), PackError> {
        let Some(opened) = self.there(beneath::open_file(folder, name))? else {
            return Ok(());
        };
        let Some((file, stat)) = opened else {
            self.packed.changed += 1;
            return Ok(());
        };
        if stat.st_nlink > 1 {
            let id = (stat.st_dev, stat.st_ino);
            if let Some(first) = self.links.paths.get(&id) {
                return self.write(path, Kind::Link(first.clone()), &stat);
            }
            self.links.bytes += path.len();
            if self.links.bytes > MAX_LINKS {
                return Err(PackError::TooLarge(Limit::Links));
            }
            self.links.paths.insert(id, path.clone());
        }
        let content = content::survey(&file, &stat).map_err(PackError::Read)?;
        self.write(path, Kind::File(content.clone()), &stat)?;
        let steady = content::copy(&file, &stat, &content, &mut self.buffer, self.out)?;
        self.packed.changed += u64::from(!steady);
        Ok(())
    }

    fn write(&mut self, path: Vec<u8>, kind: Kind, stat: &Stat) -> Result<(), PackError> {
        let meta = Meta::of(stat);
        let entry = Entry { path, kind, meta };
        self.tally.admit(&entry).map_err(PackError::TooLarge)?;
        let blocks = format::encode(&entry);
        self.out.write_all(&blocks).map_err(PackError::Write)
    }

    /// What was found; none if it went away, or became something else, since its folder was read.
    fn there<T>(&mut self, found: Result<T, impl Into<io::Error>>) -> Result<Option<T>, PackError> {
        const GONE: [Errno; 5] = [
            Errno::NOENT,
            Errno::NOTDIR,
            Errno::LOOP,
            Errno::INVAL,
            Errno::NXIO,
        ];
        match found.map_err(Into::into) {
            Ok(found) => Ok(Some(found)),
            Err(error)
                if GONE
                    .iter()
                    .any(|gone| Errno::from_io_error(&error) == Some(*gone)) =>
            {
                self.packed.changed += 1;
                Ok(None)
            }
            Err(error) => Err(PackError::Read(error)),
        }
    }
}

fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        name.to_vec()
    } else {
        [folder, name].join(&b'/')
    }
}
