#![allow(clippy::unwrap_used)]
use std::fs::{self, Permissions};
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::path::PathBuf;

use rustix::fs::{mkdirat, Mode};
use rustix::process::geteuid;
use tempfile::TempDir;

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn folders() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let [root, outside] = ["root", "outside"].map(|name| folder.path().join(name));
    fs::create_dir(&root).unwrap();
    fs::create_dir_all(outside.join("inner")).unwrap();
    fs::write(outside.join("file"), "precious").unwrap();
    (folder, root, outside)
}

#[test]
fn all_goes_but_the_folder_and_what_links_point_to() {
    let (_folder, root, outside) = folders();
    let inode = fs::metadata(&root).unwrap().ino();
    fs::write(root.join("file"), "x").unwrap();
    fs::set_permissions(root.join("file"), Permissions::from_mode(0o0)).unwrap();
    fs::create_dir_all(root.join("d/e")).unwrap();
    for place in ["link", "d/link", "d/e/link"] {
        symlink(&outside, root.join(place)).unwrap();
    }
    symlink(outside.join("file"), root.join("d/file")).unwrap();
    fs::hard_link(outside.join("file"), root.join("d/hard")).unwrap();
    // Names that are in the way of what is moved.
    fs::write(root.join(".cleared-1"), "x").unwrap();
    fs::create_dir_all(root.join(".cleared-2/full")).unwrap();
    if geteuid().is_root() {
        // Others cannot even look into it.
        fs::set_permissions(root.join("d/e"), Permissions::from_mode(0o0)).unwrap();
        fs::set_permissions(root.join("d"), Permissions::from_mode(0o1555)).unwrap();
    }
    clear(&root, LONG).unwrap();
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    assert_eq!(fs::metadata(&root).unwrap().ino(), inode);
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"precious");
    assert!(outside.join("inner").is_dir());
}

#[test]
fn a_tree_deeper_than_any_path_and_a_wide_one_go() {
    let (_folder, root, _outside) = folders();
    let mut folder = beneath::open_root(&root).unwrap();
    for _ in 0..5000 {
        mkdirat(&folder, "d", Mode::RWXU).unwrap();
        folder = beneath::open_folder(&folder, b"d").unwrap();
    }
    for n in 0..BATCH * 2 + 5 {
        fs::write(root.join(n.to_string()), "").unwrap();
    }
    clear(&root, LONG).unwrap();
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[test]
fn a_link_in_its_place_and_too_little_time_are_faults() {
    let (folder, root, outside) = folders();
    let link = folder.path().join("link");
    symlink(&outside, &link).unwrap();
    assert!(clear(&link, LONG).is_err());
    assert!(outside.join("file").exists());
    fs::write(root.join("file"), "x").unwrap();
    let fault = clear(&root, Duration::ZERO).unwrap_err();
    assert_eq!(fault.kind(), io::ErrorKind::TimedOut);
    assert!(root.join("file").exists());
}
