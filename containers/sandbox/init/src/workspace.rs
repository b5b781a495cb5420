//! The workspace: made anew when somebody has deleted it, since every command starts in it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long it may be missing. Whoever replaces it, `rm -r` and then `mv`, must not find a new one in between.
const GRACE: Duration = Duration::from_millis(500);

/// The workspace.
#[derive(Debug)]
pub struct Workspace {
    path: PathBuf,
    missing_since: Option<Instant>,
}

impl Workspace {
    /// The one at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            missing_since: None,
        }
    }

    /// Makes it again if it has been missing for a while; true if it did. Whatever else lies there is left alone.
    pub fn keep(&mut self, now: Instant) -> bool {
        // Not what a link points to.
        let found = self.path.symlink_metadata();
        if !found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            self.missing_since = None;
            return false;
        }
        let since = *self.missing_since.get_or_insert(now);
        now.duration_since(since) >= GRACE && make(&self.path).is_ok()
    }
}

/// Neither follows a link at `path` nor takes what is there.
fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o755).create(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;
    use std::os::unix::fs::{symlink, PermissionsExt};

    use super::*;

    #[test]
    fn a_deleted_workspace_comes_back_after_a_while() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("workspace");
        let mut workspace = Workspace::new(&path);
        let now = Instant::now();
        assert!(!workspace.keep(now));
        assert!(!workspace.keep(now + GRACE / 2));
        assert!(!path.exists());
        assert!(workspace.keep(now + GRACE));
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755);
        assert!(!workspace.keep(now + GRACE * 2));

        // The time begins anew with each loss.
        fs::remove_dir(&path).unwrap();
        assert!(!workspace.keep(now + GRACE * 9));
        assert!(workspace.keep(now + GRACE * 10));
    }

    #[test]
    fn what_lies_there_instead_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("workspace");
        let target = dir.path().join("target");
        symlink(&target, &path).unwrap();
        let mut workspace = Workspace::new(&path);
        let now = Instant::now();
        for n in 0..4 {
            assert!(!workspace.keep(now + GRACE * n));
        }
        assert!(!target.exists());
        assert_eq!(fs::read_link(&path).unwrap(), target);
        // Nor if it is put there after the look.
        assert!(make(&path).is_err());
        assert!(!target.exists());
    }
}
