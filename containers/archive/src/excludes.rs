//! What is left out of an archive.
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Paths that are not packed.
#[derive(Clone, Debug)]
pub struct Excludes(GlobSet);

/// A pattern that is not well formed, or can match nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern;

impl Excludes {
    /// Globs of paths relative to the root: `*` and `?` match no `/`, `**/x` matches at any depth. A folder that matches is
    /// left out with all that is in it.
    ///
    /// # Errors
    /// A pattern is malformed, empty, or begins or ends with `/`.
    pub fn new(patterns: &[String]) -> Result<Self, BadPattern> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            if pattern.is_empty() || pattern.starts_with('/') || pattern.ends_with('/') {
                return Err(BadPattern);
            }
            let glob = GlobBuilder::new(pattern).literal_separator(true).build();
            set.add(glob.map_err(|_| BadPattern)?);
        }
        set.build().map(Self).map_err(|_| BadPattern)
    }

    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        !self.0.is_empty() && self.0.is_match(OsStr::from_bytes(path))
    }
}
