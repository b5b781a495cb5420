//! Files that the turn made to be seen.
//!
//! They may change at any time. What is stored is what was announced, or it is not complete: a file whose bytes are not the
//! announced ones any more is left before its last part.
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use cloister_archive::beneath;
use cloister_archive::store::{Store, StoreError};
use cloister_protocol::backup::{
    AnnouncedFile, Announcement, MAX_ANNOUNCED_FILES, MAX_ANNOUNCED_PATH, MAX_ANNOUNCEMENT_BYTES,
    MAX_ARTIFACT_BYTES,
};
use rustix::fs::{statat, AtFlags, FileType};
use sha2::{Digest, Sha256};

/// The folder's name in the workspace.
const NAME: &[u8] = b"outputs";
/// How many names are looked at.
const MAX_NAMES: u64 = 1_000_000;
/// What an announcement takes beside its files.
const FRAME: usize = r#"{"files":[]}"#.len();

/// Announces the files, and stores those that are wanted.
pub fn publish(root: &Path, store: &Store, grant: &str) -> Result<(), StoreError> {
    let folder = beneath::open_root(root).and_then(|root| beneath::open_folder(root, NAME));
    let files = match &folder {
        Ok(folder) => describe(folder, find(folder)),
        // None, or something else of that name.
        Err(_) => Vec::new(),
    };
    let announcement = Announcement { files };
    let wanted = store.announce(grant, &announcement)?;
    for wanted in wanted.files {
        let file = announcement.files.get(wanted.index as usize);
        if let (Some(file), Ok(folder)) = (file, &folder) {
            // One that cannot be stored is not whole, and is announced again after the next turn. The others go on.
            let _ = upload(folder, file, store, &wanted.grant);
        }
    }
    Ok(())
}

/// Paths of regular files, the first ones in the order of their bytes. What cannot be read is left out.
fn find(folder: &OwnedFd) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = MAX_NAMES;
    // Paths, not handles: there may be more folders than a process may have open.
    let mut folders = vec![String::new()];
    while let Some(path) = folders.pop() {
        let open = if path.is_empty() {
            folder.try_clone()
        } else {
            beneath::open_parent(folder.as_fd(), path.as_bytes())
                .and_then(|(parent, name)| beneath::open_folder(parent, name))
        };
        let Ok(open) = open else { continue };
        let Ok(names) = beneath::names(&open, left, |_| true) else {
            continue;
        };
        left = left.saturating_sub(names.len() as u64);
        for name in names {
            let Ok(text) = std::str::from_utf8(&name) else {
                continue;
            };
            let path = if path.is_empty() {
                text.to_owned()
            } else {
                format!("{path}/{text}")
            };
            let stat = statat(&open, text, AtFlags::SYMLINK_NOFOLLOW);
            let kind = stat.map(|stat| FileType::from_raw_mode(stat.st_mode));
            if path.len() > MAX_ANNOUNCED_PATH {
                continue;
            } else if kind == Ok(FileType::Directory) {
                folders.push(path);
            } else if kind == Ok(FileType::RegularFile) {
                found.insert(path);
                if found.len() > MAX_ANNOUNCED_FILES {
                    found.pop_last();
                }
            }
        }
    }
    found
}

/// What the files hold, as far as an announcement may say.
fn describe(folder: &OwnedFd, paths: BTreeSet<String>) -> Vec<AnnouncedFile> {
    let mut files = Vec::new();
    let mut size = FRAME;
    for path in paths {
        let mut hash = Sha256::new();
        let read = read(folder, &path, MAX_ARTIFACT_BYTES + 1, |bytes| {
            hash.update(bytes);
            Ok::<_, Infallible>(())
        });
        let Ok(Some(bytes)) = read else { continue };
        if bytes > MAX_ARTIFACT_BYTES {
            continue;
        }
        let file = AnnouncedFile {
            path,
            bytes,
            sha256: hex(hash),
        };
        // And a comma.
        size += serde_json::to_vec(&file).map_or(MAX_ANNOUNCEMENT_BYTES, |json| json.len()) + 1;
        if size > MAX_ANNOUNCEMENT_BYTES {
            break;
        }
        files.push(file);
    }
    files
}

fn upload(
    folder: &OwnedFd,
    file: &AnnouncedFile,
    store: &Store,
    grant: &str,
) -> Result<(), StoreError> {
    let mut hash = Sha256::new();
    let mut upload = store.upload(grant);
    let read = read(folder, &file.path, file.bytes, |bytes| {
        hash.update(bytes);
        let written = upload.write_all(bytes);
        written.map_err(|error| StoreError::of(&error))
    })?;
    if read == Some(file.bytes) && hex(hash) == file.sha256 {
        upload.finish()?;
    }
    Ok(())
}

/// Hands on the first so many bytes of a file. How many there were; none if it cannot be read.
fn read<E>(
    folder: &OwnedFd,
    path: &str,
    most: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Option<u64>, E> {
    let opened = beneath::open_parent(folder.as_fd(), path.as_bytes())
        .and_then(|(parent, name)| beneath::open_file(parent, name));
    let Ok(Some((file, _))) = opened else {
        return Ok(None);
    };
    let mut file = file.take(most);
    let mut buffer = vec![0; 128 << 10];
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(Some(bytes)),
            Ok(read) => {
                take(&buffer[..read])?;
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Ok(None),
        }
    }
}

fn hex(hash: Sha256) -> String {
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
