//! Paths of files in the sandbox that the Worker reads and writes.

/// Longest path, bytes; Linux's own limit.
const MAX_BYTES: usize = 4095;

/// Whether `path` is the workspace or below it, with nothing that could lead out of it by name: no empty, `.` or `..`
/// part, no NUL, no backslash. Symbolic links are the sandbox's own affair: root there owns every file anyway.
pub fn is_valid(path: &str) -> bool {
    let Some(rest) = path.strip_prefix(cloister_protocol::WORKSPACE) else {
        return false;
    };
    let legal = |part: &str| !matches!(part, "" | "." | "..");
    path.len() <= MAX_BYTES
        && !path.contains(['\0', '\\'])
        && (rest.is_empty()
            || rest
                .strip_prefix('/')
                .is_some_and(|rest| rest.split('/').all(legal)))
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn only_below_the_workspace() {
        for good in [
            "/workspace",
            "/workspace/a",
            "/workspace/a b/ü.txt",
            "/workspace/-rf",
        ] {
            assert!(is_valid(good), "{good}");
        }
        let long = format!("/workspace/{}", "a".repeat(4096));
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "/workspace/",
            "/workspace/../etc",
            "/workspace/a/./b",
            "/workspace//a",
            "/workspaces",
            "/workspace/a\0",
            "/workspace/a\\b",
            "workspace/a",
            &long,
        ] {
            assert!(!is_valid(bad), "{bad}");
        }
    }
}
