//! The bucket of a gateway as it lies on this machine's disk.
use super::process::Gateway;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its key.
    pub key: String,
    /// Its bytes.
    pub file: PathBuf,
}

impl Gateway {
    /// Every object in the bucket, by key.
    pub fn objects(&self) -> Vec<Object> {
        let query = "SELECT key, blob_id FROM _mf_objects ORDER BY key";
        let rows = self.stored_rows("*R2BucketObject/*.sqlite", "_mf_objects", query);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let object = |row: &Value| Object {
            key: text(&row["key"]),
            file: self.blobs().join(text(&row["blob_id"])),
        };
        rows.iter().map(object).collect()
    }

    /// Sizes of the files with objects' bytes: quicker to be had than the objects, and what is under way counts too.
    pub fn blob_sizes(&self) -> Vec<u64> {
        let files = std::fs::read_dir(self.blobs()).into_iter().flatten();
        let files = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len()));
        files.collect()
    }

    /// How many prefixes are remembered as garbage, of all sessions.
    pub fn garbage(&self) -> usize {
        let query = "SELECT prefix FROM garbage";
        self.stored_rows("*SessionDO*/*.sqlite", "garbage", query)
            .len()
    }

    fn blobs(&self) -> PathBuf {
        self.state().join("r2/cloister/blobs")
    }
}

/// Flips a bit in the middle of a file; a second time, it is as it was.
pub fn flip(file: &Path) {
    let mut bytes = std::fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file, bytes).unwrap();
}
