//! Opening what lies beneath a folder, name by name, and through no symbolic link.
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{fstat, openat, Dir, FileType, Mode, OFlags, Stat, CWD};

/// A folder that is not a symbolic link; what leads to it may be one.
///
/// # Errors
/// As the system says.
pub fn open_root(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, FOLDER, Mode::empty())?)
}

/// The folder `name` of `folder`.
///
/// # Errors
/// As the system says: `ENOTDIR` for whatever is not a folder.
pub fn open_folder(folder: impl AsFd, name: &[u8]) -> io::Result<OwnedFd> {
    Ok(openat(folder, name, FOLDER, Mode::empty())?)
}

/// The regular file `name` of `folder`, for reading. None if it is something else.
///
/// # Errors
/// As the system says: `ELOOP` for a symbolic link.
pub fn open_file(folder: impl AsFd, name: &[u8]) -> io::Result<Option<(File, Stat)>> {
    // Without waiting, should it have become a pipe by now.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty())?);
    let stat = fstat(&file)?;
    Ok((FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some((file, stat)))
}

/// The folder that holds what `path` names beneath `root`, and the last name. `path` must be [plain](is_plain).
///
/// # Errors
/// As the system says.
pub fn open_parent<'path>(
    root: BorrowedFd<'_>,
    path: &'path [u8],
) -> io::Result<(OwnedFd, &'path [u8])> {
    let mut folder = root.try_clone_to_owned()?;
    let mut names = path.split(|byte| *byte == b'/').peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            return Ok((folder, name));
        }
        folder = open_folder(&folder, name)?;
    }
    Err(io::ErrorKind::InvalidInput.into())
}

/// Names in a folder, without `.` and `..`, in no order. Ends early after one more than `most`.
///
/// # Errors
/// As the system says.
pub fn names(
    folder: impl AsFd,
    most: u64,
    mut wanted: impl FnMut(&[u8]) -> bool,
) -> io::Result<Vec<Vec<u8>>> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." && wanted(name) {
            names.push(name.to_vec());
            if names.len() as u64 > most {
                break;
            }
        }
    }
    Ok(names)
}

/// Whether a path is relative and means only what it says: no empty, `.` or `..` part, no NUL, no name over 255 bytes.
#[must_use]
pub fn is_plain(path: &[u8]) -> bool {
    !path.contains(&0)
        && path
            .split(|byte| *byte == b'/')
            .all(|name| !matches!(name, b"" | b"." | b"..") && name.len() <= 255)
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
