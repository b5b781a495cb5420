//! What a folder holds, so that two can be compared.
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

#[derive(Debug, PartialEq, Eq)]
pub struct Node {
    pub mode: u32,
    pub owner: (u32, u32),
    pub mtime: (i64, i64),
    pub what: What,
}

#[derive(Debug, PartialEq, Eq)]
pub enum What {
    Folder,
    /// With the digest of what it holds.
    File(String),
    Symlink(PathBuf),
    /// Another name of the file at this path, which comes before it.
    Link(PathBuf),
    Other,
}

/// All that is beneath a folder, by path.
pub fn read(root: &Path) -> BTreeMap<PathBuf, Node> {
    let mut nodes = BTreeMap::new();
    walk(root, Path::new(""), &mut HashMap::new(), &mut nodes);
    nodes
}

fn walk(
    root: &Path,
    path: &Path,
    seen: &mut HashMap<(u64, u64), PathBuf>,
    nodes: &mut BTreeMap<PathBuf, Node>,
) {
    let entries = fs::read_dir(root.join(path)).unwrap();
    let mut names: Vec<OsString> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort_by_key(|name| name.clone().into_vec());
    for name in names {
        let path = path.join(name);
        let full = root.join(&path);
        let meta = fs::symlink_metadata(&full).unwrap();
        let id = (meta.dev(), meta.ino());
        let what = if meta.is_dir() {
            What::Folder
        } else if meta.is_symlink() {
            What::Symlink(fs::read_link(&full).unwrap())
        } else if !meta.is_file() {
            What::Other
        } else if let Some(first) = seen.get(&id) {
            What::Link(first.clone())
        } else {
            seen.insert(id, path.clone());
            What::File(format!("{:x}", Sha256::digest(fs::read(&full).unwrap())))
        };
        let node = Node {
            mode: meta.mode(),
            owner: (meta.uid(), meta.gid()),
            mtime: (meta.mtime(), meta.mtime_nsec()),
            what,
        };
        let folder = node.what == What::Folder;
        nodes.insert(path.clone(), node);
        if folder {
            walk(root, &path, seen, nodes);
        }
    }
}
