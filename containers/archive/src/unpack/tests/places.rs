//! Entries that would lie somewhere else than they say, or that lie there twice.
use std::fs;
use std::os::unix::fs::{symlink as make_symlink, PermissionsExt};

use super::*;

#[test]
fn f2_a_folder_over_a_link_changes_nothing_outside() {
    let field = Field::new();
    let outside = field.outside.to_str().unwrap();
    for entries in [
        vec![symlink("d", outside), folder("d")],
        vec![symlink("d", "../outside"), folder("d")],
        vec![folder("d"), symlink("d/l", outside), folder("d/l")],
    ] {
        let field = Field::new();
        let unpacked = field.unpack(&frame(&archive(&entries)), &small());
        assert_eq!(code(&unpacked), "order");
    }
    // A link that was there before the archive is no better.
    make_symlink(&field.outside, field.root.join("d")).unwrap();
    let unpacked = field.unpack(&frame(&archive(&[folder("d")])), &small());
    assert_eq!(code(&unpacked), "write");
    let mode = fs::metadata(&field.outside).unwrap().permissions().mode();
    assert_ne!(mode & 0o777, 0o777);
}

#[test]
fn nothing_is_written_through_a_link() {
    let field = Field::new();
    let outside = field.outside.to_str().unwrap();
    assert_eq!(
        unpacked(&[symlink("d", outside), file("d/new", b"x")]),
        "no_folder"
    );
    assert_eq!(
        unpacked(&[symlink("d", outside), file("d/file", b"x")]),
        "no_folder"
    );
    let target = field.outside.join("file");
    let target = target.to_str().unwrap();
    assert_eq!(unpacked(&[symlink("f", target), file("f", b"x")]), "order");
    for (name, to) in [("d", &field.outside), ("f", &field.outside.join("file"))] {
        make_symlink(to, field.root.join(name)).unwrap();
    }
    let entries = [file("f", b"x")];
    assert_eq!(
        code(&field.unpack(&frame(&archive(&entries)), &small())),
        "write"
    );
    let entries = [file("d/file", b"x")];
    assert_eq!(
        code(&field.unpack(&frame(&archive(&entries)), &small())),
        "no_folder"
    );
}

#[test]
fn paths_that_are_not_plain_are_refused() {
    for path in [
        "/abs",
        "/",
        "..",
        ".",
        "",
        "../outside/new",
        "a/../b",
        "a/./b",
        "a//b",
        "a/",
        "./a",
    ] {
        assert_eq!(
            unpacked(&[folder("a"), file(path, b"x")]),
            "path",
            "{path:?}"
        );
        assert_eq!(unpacked(&[folder(path)]), "path", "{path:?}");
        assert_eq!(unpacked(&[symlink(path, "t")]), "path", "{path:?}");
        let entries = [file("a", b"x"), link("b", path)];
        assert_eq!(unpacked(&entries), "link", "{path:?}");
    }
    assert_eq!(unpacked(&[folder("n".repeat(256))]), "path");
    assert_eq!(unpacked(&[folder("n".repeat(255))]), "ok");
    // In a record, as it is too long for the field, which would end there.
    let long = format!("{}/a\0b", "n".repeat(150));
    assert_eq!(unpacked(&[folder("n".repeat(150)), folder(long)]), "path");
    assert_eq!(unpacked(&[symlink("s", "")]), "target");
}

#[test]
fn a_hard_link_names_a_file_that_was_unpacked() {
    let field = Field::new();
    let outside = field.outside.join("file");
    fs::write(field.root.join("old"), "there before").unwrap();
    for target in ["../outside/file", outside.to_str().unwrap()] {
        assert_eq!(unpacked(&[link("l", target)]), "link");
    }
    let out = field.outside.to_str().unwrap();
    let entries = [symlink("a", out), link("l", "a/file")];
    assert_eq!(unpacked(&entries), "link");
    assert_eq!(
        unpacked(&[symlink("a", outside.to_str().unwrap()), link("l", "a")]),
        "link"
    );
    assert_eq!(unpacked(&[folder("a"), link("l", "a")]), "link");
    assert_eq!(unpacked(&[link("l", "later"), file("later", b"x")]), "link");
    assert_eq!(unpacked(&[link("l", "l")]), "link");
    let old = field.unpack(&frame(&archive(&[link("l", "old")])), &small());
    assert_eq!(code(&old), "link");
    assert_eq!(
        unpacked(&[folder("a"), file("a/f", b"x"), link("l", "a/f")]),
        "ok"
    );
}

#[test]
fn a_path_comes_once_and_in_order() {
    assert_eq!(unpacked(&[file("a", b"x"), file("a", b"y")]), "order");
    assert_eq!(unpacked(&[folder("a"), folder("a")]), "order");
    assert_eq!(
        unpacked(&[folder("a"), file("a/x", b""), folder("a")]),
        "order"
    );
    assert_eq!(unpacked(&[file("b", b""), file("a", b"")]), "order");
    assert_eq!(
        unpacked(&[folder("a"), folder("b"), file("a/x", b"")]),
        "no_folder"
    );
    assert_eq!(unpacked(&[file("a/x", b"")]), "no_folder");
    assert_eq!(unpacked(&[file("a", b""), file("a/x", b"")]), "no_folder");
    assert_eq!(unpacked(&[file("a", b"x"), link("a", "a")]), "order");
    assert_eq!(
        unpacked(&[folder("a"), file("a/x", b""), file("a.b", b"")]),
        "ok"
    );
}

#[test]
fn what_is_there_already_is_not_touched() {
    let field = Field::new();
    fs::write(field.root.join("f"), "old").unwrap();
    fs::create_dir(field.root.join("d")).unwrap();
    for entry in [
        file("f", b"new"),
        folder("d"),
        symlink("f", "t"),
        folder("f"),
        file("d", b"new"),
    ] {
        let unpacked = field.unpack(&frame(&archive(&[entry])), &small());
        assert_eq!(code(&unpacked), "write");
    }
    assert_eq!(fs::read_to_string(field.root.join("f")).unwrap(), "old");
}

#[test]
fn a_root_that_is_not_a_folder_is_refused() {
    let field = Field::new();
    let unpacked = unpack(&field.root.join("none"), &small(), [].as_slice());
    assert_eq!(code(&unpacked), "write");
    let unpacked = unpack(&field.outside.join("file"), &small(), [].as_slice());
    assert_eq!(code(&unpacked), "write");
}
