#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
//! The program against a store in memory.
#[path = "../../../../archive/tests/support/memory.rs"]
mod memory;
mod outputs;
#[path = "../../../../archive/tests/support/server.rs"]
mod server;
mod size;
#[path = "../../../../archive/tests/support/tree.rs"]
mod tree;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use cloister_protocol::backup::PART_BYTES;
use memory::Memory;
use tempfile::TempDir;

const NONCE: &str = "00112233445566778899aabbccddeeff";
const SAVE: [&str; 5] = ["save", "--instance", "i", "--marker", "i/b"];

/// A sandbox: a workspace, the folder of the marker, and the store that it reaches.
struct Sandbox {
    _folder: TempDir,
    root: PathBuf,
    run: PathBuf,
    memory: Memory,
}

impl Sandbox {
    fn new() -> Self {
        Self::with(Memory::new(PART_BYTES))
    }

    fn with(memory: Memory) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [root, run] = ["workspace", "run/cloister"].map(|name| folder.path().join(name));
        fs::create_dir(&root).unwrap();
        Self {
            _folder: folder,
            root,
            run,
            memory,
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cloister-packer"));
        command.args(arguments).arg("--root").arg(&self.root);
        command.arg("--run").arg(&self.run);
        command.arg("--store").arg(&self.memory.base);
        command
    }

    /// Exit code and what was said.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.command(arguments).output().unwrap();
        assert!(output.stdout.is_empty());
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), said)
    }

    fn exit(&self, arguments: &[&str]) -> i32 {
        let (code, said) = self.run(arguments);
        let line = match code {
            0 => "",
            2 => "packer: usage\n",
            10 => "packer: marker\n",
            11 => "packer: refused\n",
            12 => "packer: too_large\n",
            13 => "packer: invalid\n",
            14 => "packer: failed\n",
            other => panic!("{other}"),
        };
        assert_eq!(said, line);
        code
    }

    fn marker(&self) -> Option<String> {
        fs::read_to_string(self.run.join("marker")).ok()
    }

    /// Marks with `i/a`, and saves from there.
    fn save(&self, more: &[&str]) -> i32 {
        assert_eq!(self.exit(&["mark", "--marker", "i/a"]), 0);
        let grant = self.memory.to_store("workspace");
        self.exit(&[&SAVE[..], &["--grant", &grant], more].concat())
    }

    fn restore(&self, more: &[&str]) -> i32 {
        let grant = self.memory.to_fetch("workspace");
        let restore = ["restore", "--marker", "c", "--grant", &grant];
        self.exit(&[&restore[..], more].concat())
    }
}

#[test]
fn a_marker_is_what_it_was_set_to() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.exit(&["check", "--expect", "a"]), 10);
    assert_eq!(sandbox.exit(&["mark", "--marker", "a"]), 0);
    assert_eq!(sandbox.exit(&["check", "--expect", "a"]), 0);
    for other in ["b", "aa", "A"] {
        assert_eq!(sandbox.exit(&["check", "--expect", other]), 10);
    }
    assert_eq!(sandbox.exit(&["mark", "--marker", "aa"]), 0);
    assert_eq!(sandbox.exit(&["check", "--expect", "a"]), 10);
    assert_eq!(sandbox.exit(&["check", "--expect", "aa"]), 0);
}

#[test]
fn what_is_in_the_place_of_a_marker_is_none() {
    let sandbox = Sandbox::new();
    let marker = sandbox.run.join("marker");
    let outside = sandbox.root.join("outside");
    fs::write(&outside, "a").unwrap();
    fs::create_dir_all(&sandbox.run).unwrap();
    symlink(&outside, &marker).unwrap();
    symlink(&outside, sandbox.run.join("marker.new")).unwrap();
    assert_eq!(sandbox.exit(&["check", "--expect", "a"]), 10);
    assert_eq!(sandbox.exit(&["mark", "--marker", "b"]), 0);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "a");
    assert_eq!(sandbox.exit(&["check", "--expect", "b"]), 0);
    fs::remove_file(&marker).unwrap();
    let pipe = Command::new("mkfifo").arg(&marker).status().unwrap();
    assert!(pipe.success());
    assert_eq!(sandbox.exit(&["check", "--expect", "b"]), 10);
    fs::remove_file(&marker).unwrap();
    fs::create_dir(&marker).unwrap();
    assert_eq!(sandbox.exit(&["check", "--expect", "b"]), 10);
    assert_eq!(sandbox.exit(&["mark", "--marker", "b"]), 14);
}

#[test]
fn a_command_line_that_is_not_understood_does_nothing() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.exit(&["mark", "--marker", "a"]), 0);
    let long = "m".repeat(257);
    for arguments in [
        &["frobnicate"][..],
        &["mark"],
        &["mark", "--marker"],
        &["mark", "--marker", ""],
        &["mark", "--marker", "a b"],
        &["mark", "--marker", &long],
        &["mark", "--marker", "b", "--marker", "c"],
        &["mark", "--marker", "b", "--expect", "a"],
        &["mark", "--marker", "b", "--max-bytes", "1"],
        &["mark", "b", "--marker", "b"],
        &["mark", "-m", "b"],
        &["mark", "--marker", "b", "--unknown", "c"],
        &["mark", "--marker", "b", "--exclude", "c"],
        &["check", "--marker", "a"],
        &["probe", "--nonce", NONCE],
        &["probe", "--raw", "192.0.2.1:53"],
        &["probe", "--nonce", NONCE, "--raw", "example.com:53"],
        &["probe", "--nonce", "0A", "--raw", "192.0.2.1:53"],
        &["restore", "--marker", "b"],
        &[
            "restore",
            "--marker",
            "b",
            "--grant",
            "g",
            "--announce",
            "h",
        ],
        &[
            "restore",
            "--marker",
            "b",
            "--grant",
            "g",
            "--max-bytes",
            "many",
        ],
        &[
            "restore",
            "--marker",
            "b",
            "--grant",
            "g",
            "--max-bytes",
            "-1",
        ],
        &["save", "--marker", "b", "--grant", "g"],
        &["save", "--expect", "a", "--marker", "b", "--grant", "g"],
        &["save", "--instance", "i", "--grant", "g"],
        &SAVE,
        &[
            "save",
            "--instance",
            "i",
            "--marker",
            "b",
            "--grant",
            "g",
            "--exclude",
            "/abs",
        ],
        &[
            "save",
            "--instance",
            "i",
            "--marker",
            "b",
            "--grant",
            "g",
            "--exclude",
            "[a",
        ],
    ] {
        assert_eq!(sandbox.exit(arguments), 2, "{arguments:?}");
        assert_eq!(sandbox.marker().as_deref(), Some("a"));
    }
    let none = Command::new(env!("CARGO_BIN_EXE_cloister-packer")).output();
    assert_eq!(none.unwrap().status.code(), Some(2));
}

#[test]
fn a_workspace_is_saved_and_restored() {
    let from = Sandbox::new();
    fs::create_dir_all(from.root.join("a/b")).unwrap();
    fs::write(from.root.join("a/b/file"), "text").unwrap();
    fs::hard_link(from.root.join("a/b/file"), from.root.join("again")).unwrap();
    symlink("/etc", from.root.join("link")).unwrap();
    fs::create_dir(from.root.join("cache")).unwrap();
    fs::write(from.root.join("cache/x"), "x").unwrap();
    assert_eq!(from.save(&["--exclude", "cache", "--exclude", "**/*.o"]), 0);
    assert_eq!(from.marker().as_deref(), Some("i/b"));
    let to = Sandbox::with(from.memory.clone());
    assert_eq!(to.restore(&[]), 0);
    assert_eq!(to.marker().as_deref(), Some("c"));
    fs::remove_dir_all(from.root.join("cache")).unwrap();
    assert_eq!(tree::read(&from.root), tree::read(&to.root));
    // What is there already goes: files of any mode, links, and folders in the place of files.
    fs::remove_file(to.root.join("again")).unwrap();
    fs::create_dir_all(to.root.join("again/deep/er")).unwrap();
    symlink(&from.root, to.root.join("outside")).unwrap();
    fs::write(to.root.join("a/b/file"), "other").unwrap();
    fs::write(to.root.join("a/new"), "new").unwrap();
    let before = tree::read(&from.root);
    assert_eq!(to.restore(&[]), 0);
    assert_eq!(tree::read(&to.root), before);
    assert_eq!(tree::read(&from.root), before);
}

#[test]
fn the_workspace_of_another_container_is_not_saved() {
    let sandbox = Sandbox::new();
    let grant = sandbox.memory.to_store("workspace");
    let save = [&SAVE[..], &["--grant", &grant]].concat();
    assert_eq!(sandbox.exit(&save), 10);
    for marker in ["i", "ii/a", "I/a", "x/i/a"] {
        assert_eq!(sandbox.exit(&["mark", "--marker", marker]), 0);
        assert_eq!(sandbox.exit(&save), 10);
        assert_eq!(sandbox.marker().as_deref(), Some(marker));
    }
    assert!(sandbox.memory.parts("workspace").is_empty());
    assert_eq!(sandbox.exit(&["mark", "--marker", "i/any/thing"]), 0);
    assert_eq!(sandbox.exit(&save), 0);
    assert_eq!(sandbox.marker().as_deref(), Some("i/b"));
}

#[test]
fn a_save_that_fails_can_be_tried_again() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root.join("file"), vec![1; 1000]).unwrap();
    for limit in ["--max-bytes", "--max-file-bytes"] {
        assert_eq!(sandbox.save(&[limit, "999"]), 12);
        assert_eq!(sandbox.marker().as_deref(), Some("i/a"));
        assert_eq!(sandbox.save(&[limit, "1000"]), 0);
    }
    assert_eq!(sandbox.save(&["--max-entries", "0"]), 12);
    assert_eq!(sandbox.save(&["--announce", "spent"]), 11);
    for (grant, code) in [("spent", 11), ("../bad", 14)] {
        let save = [&SAVE[..], &["--grant", grant]].concat();
        assert_eq!(sandbox.exit(&save), code);
        assert_eq!(sandbox.marker().as_deref(), Some("i/a"));
    }
    fs::remove_dir_all(&sandbox.root).unwrap();
    assert_eq!(sandbox.save(&[]), 14);
    symlink("/etc", &sandbox.root).unwrap();
    assert_eq!(sandbox.save(&[]), 14);
    assert_eq!(sandbox.marker().as_deref(), Some("i/a"));
}

#[test]
fn a_restore_that_fails_leaves_the_workspace_in_doubt() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root.join("file"), vec![1; 1000]).unwrap();
    assert_eq!(sandbox.save(&[]), 0);
    let whole = sandbox.memory.parts("workspace").concat();
    let half = whole[..whole.len() / 2].to_vec();
    for (parts, more, code) in [
        (vec![half], &[][..], 13),
        (vec![b"no archive".to_vec()], &[], 13),
        (vec![whole.clone()], &["--max-bytes", "999"], 12),
        (vec![whole], &["--max-entries", "0"], 12),
        (vec![], &[], 11),
    ] {
        let to = Sandbox::with(sandbox.memory.clone());
        assert_eq!(to.exit(&["mark", "--marker", "a"]), 0);
        to.memory.put("workspace", parts);
        assert_eq!(to.restore(more), code);
        assert_eq!(to.marker(), None);
    }
}
