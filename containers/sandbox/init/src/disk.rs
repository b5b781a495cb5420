//! What the sandbox has written to disk.
//!
//! The tree is hostile: it may be deep, huge, full of links, and change during the walk. The walk goes by folder handles
//! and follows no link, so names of any length hide nothing; depth and number of files are bounded, and reaching a bound
//! is an answer like any other.

mod watch;

pub use watch::watch;

use std::collections::HashSet;
use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{openat, statat, statvfs, AtFlags, Dir, FileType, Mode, OFlags, Stat, CWD};

use crate::limits::Limits;

/// Folders deeper than this are not what anybody needs.
const MAX_DEPTH: usize = 200;

/// What a walk has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes in blocks; a file with several names counts once.
    pub bytes: u64,
    /// Files and folders.
    pub files: u64,
    /// Whether there were folders too deep to look into.
    pub too_deep: bool,
}

/// Why the disk is overused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// More bytes than allowed.
    Bytes,
    /// More files than allowed, or nested too deeply.
    Files,
    /// Hardly any space is left.
    Free,
}

impl Usage {
    /// The excess over `limits` since `before`.
    pub fn excess(self, before: Self, limits: &Limits) -> Option<Excess> {
        if self.bytes.saturating_sub(before.bytes) > limits.disk_bytes {
            return Some(Excess::Bytes);
        }
        let files = self.files.saturating_sub(before.files);
        (files > limits.files || self.too_deep).then_some(Excess::Files)
    }
}

/// What the file systems themselves tell. They may have other users too, so it only hints at what a walk would find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Bytes and files in use, by root.
    used: Vec<(u64, u64)>,
    /// Least number of free bytes.
    free: u64,
}

impl Hint {
    /// The hint about `roots`. What cannot be asked counts as empty.
    pub fn of(roots: &[&str]) -> Self {
        let mut hint = Self {
            used: Vec::new(),
            free: u64::MAX,
        };
        for root in roots {
            let Ok(s) = statvfs(*root) else { continue };
            let bytes = s
                .f_blocks
                .saturating_sub(s.f_bfree)
                .saturating_mul(s.f_frsize);
            hint.used.push((bytes, s.f_files.saturating_sub(s.f_ffree)));
            hint.free = hint.free.min(s.f_bavail.saturating_mul(s.f_frsize));
        }
        hint
    }

    /// Whether enough has changed since `before` to make a walk worth its while: a hundredth of a limit.
    pub fn differs(&self, before: &Self, limits: &Limits) -> bool {
        let much = |((bytes, files), (bytes_before, files_before)): (&(u64, u64), &(u64, u64))| {
            bytes.abs_diff(*bytes_before) > limits.disk_bytes / 100
                || files.abs_diff(*files_before) > limits.files / 100
        };
        self.used.len() != before.used.len() || self.used.iter().zip(&before.used).any(much)
    }

    /// Whether less is free than must be.
    pub fn is_full(&self, limits: &Limits) -> bool {
        self.free < limits.free_bytes
    }
}

/// Walks `roots`, each within its own file system, and stops after `max_files`. Roots that are not there are skipped.
pub fn walk(roots: &[&str], max_files: u64) -> Usage {
    let mut walk = Walk {
        usage: Usage::default(),
        max_files,
        seen: HashSet::new(),
    };
    for root in roots {
        if let Ok(fd) = openat(CWD, *root, FOLDER, Mode::empty()) {
            walk.tree(fd);
        }
    }
    walk.usage
}

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

struct Walk {
    usage: Usage,
    max_files: u64,
    /// Folders, and files with several names.
    seen: HashSet<(u64, u64)>,
}

impl Walk {
    fn tree(&mut self, root: OwnedFd) {
        let Ok(stat) = rustix::fs::fstat(&root) else {
            return;
        };
        let device = stat.st_dev;
        // It may lie inside an earlier one, which has been there already.
        if !self.seen.insert((device, stat.st_ino)) {
            return;
        }
        let Ok(root) = Dir::new(root) else { return };
        let mut open = vec![root];
        while let Some(folder) = open.last_mut() {
            if self.usage.files >= self.max_files {
                return;
            }
            let Some(Ok(entry)) = folder.read() else {
                open.pop();
                continue;
            };
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let Some(child) = self.entry(folder, name, device) else {
                continue;
            };
            if open.len() >= MAX_DEPTH {
                self.usage.too_deep = true;
                continue;
            }
            open.push(child);
        }
    }

    /// Counts an entry; a folder to walk into is returned.
    fn entry(&mut self, folder: &Dir, name: &CStr, device: u64) -> Option<Dir> {
        let fd = folder.fd().ok()?;
        let stat: Stat = statat(fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if is_folder && stat.st_dev != device {
            return None;
        }
        if (is_folder || stat.st_nlink > 1) && !self.seen.insert((stat.st_dev, stat.st_ino)) {
            return None;
        }
        self.usage.files += 1;
        self.usage.bytes += u64::try_from(stat.st_blocks)
            .unwrap_or(0)
            .saturating_mul(512);
        if !is_folder {
            return None;
        }
        openat(fd, name, FOLDER, Mode::empty())
            .and_then(Dir::new)
            .ok()
    }
}

#[cfg(test)]
mod tests;
