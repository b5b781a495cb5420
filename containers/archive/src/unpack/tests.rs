#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
//! Hostile archives.
mod compression;
mod headers;
mod places;

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{unpack, UnpackError, Unpacked};
use crate::entry::{Content, Entry, Kind, Meta, Time};
use crate::format::{encode, padding, END};
use crate::Limits;

/// A root, and a folder beside it in which nothing may ever change.
struct Field {
    _folder: TempDir,
    root: PathBuf,
    outside: PathBuf,
}

impl Field {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [root, outside] = ["root", "outside"].map(|name| folder.path().join(name));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "precious").unwrap();
        Self {
            _folder: folder,
            root,
            outside,
        }
    }

    fn state(&self) -> String {
        let mut state = String::new();
        for path in [self.outside.clone(), self.outside.join("file")] {
            let meta = fs::symlink_metadata(&path).unwrap();
            use std::os::unix::fs::MetadataExt;
            let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime_nsec());
            state += &format!("{:o} {} {times:?} ", meta.mode(), meta.nlink());
        }
        let names = fs::read_dir(&self.outside).unwrap().count();
        let parent = fs::read_dir(self.root.parent().unwrap()).unwrap().count();
        let text = fs::read_to_string(self.outside.join("file")).unwrap();
        state + &format!("{names} {parent} {text}")
    }

    /// Unpacks, and looks whether anything outside has changed.
    fn unpack(&self, archive: &[u8], limits: &Limits) -> Result<Unpacked, UnpackError> {
        let before = self.state();
        let unpacked = unpack(&self.root, limits, archive);
        assert_eq!(self.state(), before);
        unpacked
    }
}

fn small() -> Limits {
    Limits {
        entries: 20,
        bytes: 10_000,
        file_bytes: 5_000,
        depth: 4,
        path_bytes: 300,
    }
}

/// Unpacks what is in a frame.
fn tar(tar: &[u8]) -> Result<Unpacked, UnpackError> {
    Field::new().unpack(&frame(tar), &small())
}

fn frame(tar: &[u8]) -> Vec<u8> {
    zstd::encode_all(tar, 1).unwrap()
}

fn code(unpacked: &Result<Unpacked, UnpackError>) -> &'static str {
    match unpacked {
        Ok(_) => "ok",
        Err(UnpackError::Invalid(code)) => code,
        Err(UnpackError::TooLarge(_)) => "too_large",
        Err(UnpackError::Read(_)) => "read",
        Err(UnpackError::Write(_)) => "write",
    }
}

fn entry(path: impl AsRef<[u8]>, kind: Kind) -> Entry {
    Entry {
        path: path.as_ref().to_vec(),
        kind,
        meta: Meta {
            mode: 0o777,
            uid: 0,
            gid: 0,
            mtime: Time {
                seconds: 1_000_000_000,
                nanos: 5,
            },
        },
    }
}

fn folder(path: impl AsRef<[u8]>) -> Vec<u8> {
    encode(&entry(path, Kind::Folder))
}

fn file(path: impl AsRef<[u8]>, content: &[u8]) -> Vec<u8> {
    let kind = Kind::File(Content::dense(content.len() as u64));
    let padding = &END[..padding(content.len() as u64)];
    [&encode(&entry(path, kind)), content, padding].concat()
}

fn symlink(path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> Vec<u8> {
    encode(&entry(path, Kind::Symlink(target.as_ref().to_vec())))
}

fn link(path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> Vec<u8> {
    encode(&entry(path, Kind::Link(target.as_ref().to_vec())))
}

fn archive(entries: &[Vec<u8>]) -> Vec<u8> {
    [entries.concat().as_slice(), &END].concat()
}

fn unpacked(entries: &[Vec<u8>]) -> &'static str {
    code(&tar(&archive(entries)))
}
