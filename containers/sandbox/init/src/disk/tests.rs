#![allow(clippy::unwrap_used)]
use super::*;
use std::fs;
use std::path::Path;

fn usage(path: &Path, max_files: u64) -> Usage {
    walk(&[path.to_str().unwrap()], max_files)
}

#[test]
fn counts_once_and_follows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("big"), vec![1; 1 << 20]).unwrap();
    let root = dir.path();
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("sub/file"), vec![1; 100_000]).unwrap();
    fs::hard_link(root.join("sub/file"), root.join("again")).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("out")).unwrap();
    std::os::unix::fs::symlink(root, root.join("sub/loop")).unwrap();
    let found = usage(root, 1000);
    assert_eq!(
        (found.files, found.too_deep),
        (4, false),
        "sub, file, two links"
    );
    assert!((100_000..200_000).contains(&found.bytes), "{found:?}");
}

#[test]
fn a_root_inside_another_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::create_dir_all(root.join("inner/sub")).unwrap();
    fs::write(root.join("inner/file"), vec![1; 100_000]).unwrap();
    fs::write(root.join("inner/sub/file"), vec![1; 100_000]).unwrap();
    let inner = root.join("inner");
    let both = [
        root.to_str().unwrap(),
        inner.to_str().unwrap(),
        "/does/not/exist",
    ];
    assert_eq!(walk(&both, 1000), usage(root, 1000));
}

#[test]
fn stops_at_its_bounds() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..50 {
        fs::write(dir.path().join(n.to_string()), "").unwrap();
    }
    assert_eq!(usage(dir.path(), 10).files, 10);
    let deep = tempfile::tempdir().unwrap();
    fs::create_dir_all(deep.path().join("d/".repeat(MAX_DEPTH + 5))).unwrap();
    let found = usage(deep.path(), 10_000);
    assert!(
        found.too_deep && found.files <= MAX_DEPTH as u64 + 1,
        "{found:?}"
    );
}

#[test]
fn excess() {
    let limits = Limits::read(|_| None).unwrap();
    let before = Usage {
        bytes: 1 << 30,
        files: 20_000,
        too_deep: false,
    };
    for (bytes, files, too_deep, expected) in [
        (0, 0, false, None),
        (limits.disk_bytes, limits.files, false, None),
        (limits.disk_bytes + 1, 0, false, Some(Excess::Bytes)),
        (0, limits.files + 1, false, Some(Excess::Files)),
        (0, 0, true, Some(Excess::Files)),
    ] {
        let now = Usage {
            bytes: before.bytes + bytes,
            files: before.files + files,
            too_deep,
        };
        assert_eq!(now.excess(before, &limits), expected);
    }
    assert_eq!(
        Usage::default().excess(before, &limits),
        None,
        "less than before"
    );
}

#[test]
fn hints() {
    let limits = Limits {
        free_bytes: 1000,
        disk_bytes: 1000,
        files: 1000,
        ..Limits::read(|_| None).unwrap()
    };
    let hint = |bytes, files, free| Hint {
        used: vec![(5, 5), (bytes, files)],
        free,
    };
    for (now, differs, full) in [
        (hint(500, 500, 1000), false, false),
        (hint(510, 490, 999), false, true),
        (hint(511, 500, 1000), true, false),
        (hint(500, 489, 1000), true, false),
        (
            Hint {
                used: vec![(5, 5)],
                free: 1000,
            },
            true,
            false,
        ),
    ] {
        assert_eq!(
            (
                now.differs(&hint(500, 500, 0), &limits),
                now.is_full(&limits)
            ),
            (differs, full),
            "{now:?}"
        );
    }
    assert_eq!(Hint::of(&["/", "/does/not/exist"]).used.len(), 1);
}
