//! Empties a folder, whatever is in it.
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{renameat, unlinkat, AtFlags};
use rustix::io::Errno;

use crate::beneath;

/// How many names are read at a time.
const BATCH: u64 = 4096;
/// Deepest folder of an image that is gone into: each level is an open file.
const MAX_DEPTH: usize = 100;

/// Empties the folder `root`, which stays. Nothing outside it is touched: links are removed, not followed.
///
/// However deep the tree is, few folders are open at a time: what is in a folder of `root` is removed, or moved up if it is a
/// folder itself. A folder of a container's image cannot be moved; those are gone into, up to a bound.
///
/// # Errors
/// As the system says, and `TimedOut` after `patience`. What was removed until then is gone.
pub fn clear(root: &Path, patience: Duration) -> io::Result<()> {
    let root = beneath::open_root(root)?;
    let mut clearing = Clearing {
        root: &root,
        end: Instant::now() + patience,
        moved: 0,
    };
    loop {
        let names = beneath::names(&root, BATCH, |_| true)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in &names {
            clearing.remove(&root, name, 0)?;
        }
    }
}

struct Clearing<'root> {
    root: &'root OwnedFd,
    end: Instant,
    /// How many folders were moved up.
    moved: u64,
}

impl Clearing<'_> {
    /// Removes what has this name in `parent`, which is so deep in the root.
    fn remove(&mut self, parent: &OwnedFd, name: &[u8], depth: usize) -> io::Result<()> {
        self.check()?;
        if unlink(parent, name)? {
            return Ok(());
        }
        let folder = beneath::open_folder(parent, name)?;
        loop {
            let inner = beneath::names(&folder, BATCH, |_| true)?;
            if inner.is_empty() {
                break;
            }
            for name in &inner {
                self.check()?;
                if unlink(&folder, name)? {
                    continue;
                }
                match self.move_up(&folder, name) {
                    Err(error) if is_of_image(&error) && depth < MAX_DEPTH => {
                        self.remove(&folder, name, depth + 1)?;
                    }
                    moved => moved?,
                }
            }
        }
        Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
    }

    /// Moves a folder into the root, under a name that is free or an empty folder's.
    fn move_up(&mut self, folder: &OwnedFd, name: &[u8]) -> io::Result<()> {
        loop {
            self.check()?;
            self.moved += 1;
            let new = format!(".cleared-{}", self.moved);
            match renameat(folder, name, self.root, new) {
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                moved => return Ok(moved?),
            }
        }
    }

    fn check(&self) -> io::Result<()> {
        if Instant::now() < self.end {
            Ok(())
        } else {
            Err(io::ErrorKind::TimedOut.into())
        }
    }
}

/// Whether a folder could not be moved because it lies in a lower layer of an overlay.
fn is_of_image(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}

/// Removes a name that is no folder's; false if it is one's.
fn unlink(folder: &OwnedFd, name: &[u8]) -> io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
