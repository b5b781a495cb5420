//! Files that are announced and stored.
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use cloister_protocol::backup::{
    MAX_ANNOUNCED_FILES, MAX_ANNOUNCEMENT_BYTES, MAX_ARTIFACT_BYTES, PART_BYTES,
};

use super::memory::digest;
use super::Sandbox;

/// Saves, and says which paths were announced.
fn announced(sandbox: &Sandbox) -> Vec<String> {
    let grant = sandbox.memory.to_announce();
    assert_eq!(sandbox.save(&["--announce", &grant]), 0);
    let files = sandbox.memory.announced();
    files.into_iter().map(|file| file.path).collect()
}

fn stored(sandbox: &Sandbox, path: &str) -> Vec<u8> {
    sandbox.memory.parts(&format!("output:{path}")).concat()
}

#[test]
fn files_below_outputs_are_announced_and_stored() {
    let sandbox = Sandbox::new();
    let outputs = sandbox.root.join("outputs");
    fs::create_dir_all(outputs.join("b/c")).unwrap();
    let large: Vec<u8> = (0..PART_BYTES + 5).map(|index| (index / 3) as u8).collect();
    for (path, content) in [
        ("b/c/deep", b"deep".as_slice()),
        ("a.txt", b"text"),
        ("b-", b""),
        ("large", &large),
    ] {
        fs::write(outputs.join(path), content).unwrap();
    }
    fs::write(sandbox.root.join("elsewhere"), "x").unwrap();
    assert_eq!(announced(&sandbox), ["a.txt", "b-", "b/c/deep", "large"]);
    let files = sandbox.memory.announced();
    assert_eq!(files[0].bytes, 4);
    assert_eq!(files[0].sha256, digest(b"text"));
    assert_eq!(files[1].sha256, digest(b""));
    assert_eq!(stored(&sandbox, "b/c/deep"), b"deep");
    assert!(stored(&sandbox, "b-").is_empty());
    assert!(stored(&sandbox, "large") == large);
    assert_eq!(sandbox.memory.parts("output:large").len(), 2);
    assert_eq!(sandbox.marker().as_deref(), Some("i/b"));
}

#[test]
fn without_outputs_nothing_is_announced() {
    let sandbox = Sandbox::new();
    assert_eq!(announced(&sandbox), [""; 0]);
    fs::write(sandbox.root.join("outputs"), "a file").unwrap();
    assert_eq!(announced(&sandbox), [""; 0]);
}

#[test]
fn links_and_what_is_not_a_file_are_not_announced() {
    let sandbox = Sandbox::new();
    let real = sandbox.root.join("real");
    fs::create_dir(&real).unwrap();
    fs::write(real.join("file"), "x").unwrap();
    symlink("real", sandbox.root.join("outputs")).unwrap();
    assert_eq!(announced(&sandbox), [""; 0]);
    fs::remove_file(sandbox.root.join("outputs")).unwrap();
    let outputs = sandbox.root.join("outputs");
    fs::create_dir(&outputs).unwrap();
    symlink("../real", outputs.join("folder")).unwrap();
    symlink("../real/file", outputs.join("link")).unwrap();
    symlink("/etc/passwd", outputs.join("passwd")).unwrap();
    let _socket = UnixListener::bind(outputs.join("socket")).unwrap();
    fs::write(outputs.join(OsStr::from_bytes(b"no \xff utf-8")), "x").unwrap();
    fs::write(outputs.join("kept"), "x").unwrap();
    assert_eq!(announced(&sandbox), ["kept"]);
}

#[test]
fn what_is_too_large_or_too_long_is_left_out() {
    let sandbox = Sandbox::new();
    let outputs = sandbox.root.join("outputs");
    fs::create_dir(&outputs).unwrap();
    for (name, size) in [("large", MAX_ARTIFACT_BYTES + 1), ("small", 10)] {
        File::create(outputs.join(name))
            .unwrap()
            .set_len(size)
            .unwrap();
    }
    let long = [
        "n".repeat(255),
        "n".repeat(255),
        "n".repeat(255),
        "n".repeat(250),
    ]
    .join("/");
    fs::create_dir_all(outputs.join(&long)).unwrap();
    // 1024 bytes of path, and 1025.
    fs::write(outputs.join(&long).join("12345"), "x").unwrap();
    fs::write(outputs.join(&long).join("123456"), "x").unwrap();
    assert_eq!(
        announced(&sandbox),
        [format!("{long}/12345"), "small".to_owned()]
    );
}

#[test]
fn an_announcement_has_its_limits() {
    let sandbox = Sandbox::new();
    let outputs = sandbox.root.join("outputs");
    fs::create_dir(&outputs).unwrap();
    for number in (0..=MAX_ANNOUNCED_FILES).rev() {
        fs::write(outputs.join(format!("{number:04}")), "").unwrap();
    }
    let paths = announced(&sandbox);
    assert_eq!(paths.len(), MAX_ANNOUNCED_FILES);
    assert_eq!(paths[999], "0999");
    // Each byte of these takes six in the announcement.
    let folder = outputs.join("\u{1}".repeat(200)).join("\u{2}".repeat(200));
    fs::create_dir_all(&folder).unwrap();
    for number in 0..500 {
        fs::write(folder.join(format!("{number:03}")), "").unwrap();
    }
    let paths = announced(&sandbox);
    assert!(paths.len() > 300 && paths.len() < 500, "{}", paths.len());
    let files = sandbox.memory.announced();
    let size = serde_json::to_vec(&files).unwrap().len() + r#"{"files":}"#.len();
    assert!(size <= MAX_ANNOUNCEMENT_BYTES && size > MAX_ANNOUNCEMENT_BYTES - 3000);
}

#[test]
fn a_file_that_changed_since_it_was_announced_is_not_whole() {
    let sandbox = Sandbox::new();
    let outputs = sandbox.root.join("outputs");
    fs::create_dir(&outputs).unwrap();
    for name in [
        "1 shrinks",
        "2 changes",
        "3 vanishes",
        "4 grows",
        "5 becomes",
        "6 stays",
    ] {
        fs::write(outputs.join(name), "announced").unwrap();
    }
    let folder = outputs.clone();
    sandbox.memory.on_announced(move || {
        fs::write(folder.join("1 shrinks"), "ann").unwrap();
        fs::write(folder.join("2 changes"), "different").unwrap();
        fs::remove_file(folder.join("3 vanishes")).unwrap();
        fs::write(folder.join("4 grows"), "announced and more").unwrap();
        fs::remove_file(folder.join("5 becomes")).unwrap();
        symlink("6 stays", folder.join("5 becomes")).unwrap();
    });
    assert_eq!(announced(&sandbox).len(), 6);
    for name in ["1 shrinks", "2 changes", "3 vanishes", "5 becomes"] {
        assert!(stored(&sandbox, name).is_empty(), "{name}");
    }
    for name in ["4 grows", "6 stays"] {
        assert_eq!(stored(&sandbox, name), b"announced", "{name}");
    }
}
