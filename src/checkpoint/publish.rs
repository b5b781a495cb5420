//! Which files of a turn are published. What a container announces is hostile input.
use super::{Digest, SavedArtifact};
use cloister_protocol::backup::{
    Announcement, MAX_ANNOUNCED_FILES, MAX_ANNOUNCED_PATH, MAX_ARTIFACT_BYTES, MAX_PUBLISHED_BYTES,
    OUTPUTS,
};
use std::collections::{HashMap, HashSet};

/// An announcement that breaks the rules: its container is not one of ours any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidAnnouncement;

/// A short name of a path, of one length whatever the path.
pub fn path_name(path: &str) -> String {
    Digest::of(path.as_bytes()).as_str()[..32].to_owned()
}

/// The files that are new, or differ from what was `published` last under the name of their path, as far as the limits go: one that is
/// too large, or comes when too much is wanted already, is left out.
pub fn wanted(
    announcement: Announcement,
    published: &HashMap<String, Digest>,
) -> Result<Vec<SavedArtifact>, InvalidAnnouncement> {
    if announcement.files.len() > MAX_ANNOUNCED_FILES {
        return Err(InvalidAnnouncement);
    }
    let mut seen = HashSet::new();
    let mut wanted = Vec::new();
    let mut bytes = 0;
    for (index, file) in (0..).zip(announcement.files) {
        let sha256 = Digest::parse(&file.sha256).ok_or(InvalidAnnouncement)?;
        if !is_plain(&file.path) || !seen.insert(file.path.clone()) {
            return Err(InvalidAnnouncement);
        }
        let path = format!("{OUTPUTS}/{}", file.path);
        let changed = published.get(&path_name(&path)) != Some(&sha256);
        let fits = file.bytes <= MAX_ARTIFACT_BYTES && bytes + file.bytes <= MAX_PUBLISHED_BYTES;
        if changed && fits {
            bytes += file.bytes;
            wanted.push(SavedArtifact {
                index,
                path,
                bytes: file.bytes,
                sha256,
            });
        }
    }
    Ok(wanted)
}

/// A relative path that stays where it is.
fn is_plain(path: &str) -> bool {
    path.len() <= MAX_ANNOUNCED_PATH
        && !path.contains('\0')
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests;
