//! What is packed is unpacked as it was.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
#[path = "support/tree.rs"]
mod tree;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, FileExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use cloister_archive::{
    pack, unpack, Excludes, Limit, Limits, PackError, Packed, UnpackError, Unpacked,
};
use rustix::fs::{mknodat, utimensat, AtFlags, FileType, Mode, Timespec, Timestamps, CWD};
use tempfile::TempDir;

fn everything() -> Excludes {
    Excludes::new(&[]).unwrap()
}

fn packed(root: &Path) -> (Packed, Vec<u8>) {
    let mut archive = Vec::new();
    let packed = pack(root, &everything(), &Limits::default(), &mut archive).unwrap();
    (packed, archive)
}

fn unpacked(archive: &[u8]) -> (Unpacked, TempDir) {
    let root = tempfile::tempdir().unwrap();
    let unpacked = unpack(root.path(), &Limits::default(), archive).unwrap();
    (unpacked, root)
}

fn touch(path: &Path, seconds: i64, nanos: i64) {
    let time = Timespec {
        tv_sec: seconds,
        tv_nsec: nanos,
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}

/// Some of everything that is kept.
fn fill(root: &Path) {
    fs::create_dir_all(root.join("a/b/empty")).unwrap();
    fs::write(root.join("a/plain"), "text").unwrap();
    fs::write(root.join("a/b/none"), "").unwrap();
    fs::write(root.join("a/tool"), vec![7; 100_000]).unwrap();
    fs::set_permissions(root.join("a/tool"), fs::Permissions::from_mode(0o6755)).unwrap();
    fs::write(root.join("a/secret"), "x").unwrap();
    fs::set_permissions(root.join("a/secret"), fs::Permissions::from_mode(0o0)).unwrap();
    fs::set_permissions(root.join("a/b/empty"), fs::Permissions::from_mode(0o1777)).unwrap();
    std::os::unix::fs::chown(root.join("a/plain"), Some(1234), Some(3_000_000_000)).unwrap();
    symlink("/etc/passwd", root.join("absolute")).unwrap();
    symlink("../..", root.join("a/up")).unwrap();
    symlink("t".repeat(1000), root.join("a/far")).unwrap();
    fs::hard_link(root.join("a/plain"), root.join("a/b/again")).unwrap();
    fs::hard_link(root.join("a/plain"), root.join("z")).unwrap();
    let long = root.join("l".repeat(200)).join("m".repeat(200));
    fs::create_dir_all(&long).unwrap();
    fs::write(long.join("in\nlines"), "long").unwrap();
    fs::hard_link(long.join("in\nlines"), root.join("zz")).unwrap();
    let odd = root.join(OsStr::from_bytes(b"no \xff utf-8 \n"));
    fs::write(odd, "odd").unwrap();
    let sparse = File::create(root.join("sparse")).unwrap();
    sparse.write_all_at(b"front", 0).unwrap();
    sparse.write_all_at(&[1; 5000], 10 << 20).unwrap();
    sparse.set_len(64 << 20).unwrap();
    let hole = File::create(root.join("hole")).unwrap();
    hole.set_len(5 << 20).unwrap();
    touch(&root.join("a/b/none"), 1_000_000_000, 123_456_789);
    touch(&root.join("absolute"), 1_500_000_000, 1);
    touch(&root.join("a/b/empty"), -2, 500_000_000);
    touch(&root.join("a/tool"), 9_000_000_000, 999_999_999);
    touch(&root.join("a/b"), 1_234_567_890, 42);
    touch(&root.join("a"), 1_234_567_891, 43);
}

#[test]
fn everything_that_is_kept_comes_back() {
    let from = tempfile::tempdir().unwrap();
    fill(from.path());
    let (packed, archive) = packed(from.path());
    let (unpacked, to) = unpacked(&archive);
    assert_eq!(tree::read(from.path()), tree::read(to.path()));
    assert_eq!(packed.entries, unpacked.entries);
    assert_eq!(packed.bytes, unpacked.bytes);
    assert_eq!((packed.skipped, packed.changed), (0, 0));
    let node = &tree::read(to.path())[Path::new("a/plain")];
    assert_eq!(node.owner, (1234, 3_000_000_000));
}

#[test]
fn holes_stay_holes() {
    let from = tempfile::tempdir().unwrap();
    fill(from.path());
    let (_, to) = unpacked(&packed(from.path()).1);
    for name in ["sparse", "hole"] {
        let [before, after] = [from.path(), to.path()].map(|root| fs::metadata(root.join(name)));
        let (before, after) = (before.unwrap(), after.unwrap());
        assert_eq!(before.len(), after.len());
        assert!(
            before.blocks() * 512 < 1 << 20,
            "the file system keeps holes"
        );
        assert!(after.blocks() <= before.blocks() + 16, "{name}");
    }
}

#[test]
fn more_holes_than_an_archive_lists_are_stored_as_zeros() {
    let from = tempfile::tempdir().unwrap();
    let file = File::create(from.path().join("f")).unwrap();
    for piece in 0..17_000 {
        file.write_all_at(b"x", piece * 8192).unwrap();
    }
    file.set_len(17_001 * 8192).unwrap();
    let (_, to) = unpacked(&packed(from.path()).1);
    assert!(fs::read(from.path().join("f")).unwrap() == fs::read(to.path().join("f")).unwrap());
}

#[test]
fn the_same_folder_gives_the_same_bytes() {
    let from = tempfile::tempdir().unwrap();
    fill(from.path());
    let (_, first) = packed(from.path());
    let (_, to) = unpacked(&first);
    assert!(packed(to.path()).1 == first);
}

#[test]
fn other_tools_read_it() {
    let from = tempfile::tempdir().unwrap();
    fill(from.path());
    let (_, archive) = packed(from.path());
    let to = tempfile::tempdir().unwrap();
    let plain = to.path().join("archive.tar");
    zstd::stream::copy_decode(archive.as_slice(), File::create(&plain).unwrap()).unwrap();
    let out = to.path().join("out");
    fs::create_dir(&out).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xpf")
        .arg(&plain)
        .arg("-C")
        .arg(&out)
        .arg("--numeric-owner");
    assert!(tar.status().unwrap().success());
    let (before, after) = (tree::read(from.path()), tree::read(&out));
    assert_eq!(before.len(), after.len());
    for (path, node) in before {
        assert_eq!(after[&path], node, "{}", path.display());
    }
}

#[test]
fn sockets_pipes_and_devices_are_left_out_and_counted() {
    let from = tempfile::tempdir().unwrap();
    let _socket = UnixListener::bind(from.path().join("socket")).unwrap();
    for (name, kind) in [
        ("pipe", FileType::Fifo),
        ("character", FileType::CharacterDevice),
        ("block", FileType::BlockDevice),
    ] {
        mknodat(CWD, from.path().join(name), kind, Mode::RWXU, 0).unwrap();
    }
    fs::write(from.path().join("file"), "x").unwrap();
    let (packed, archive) = packed(from.path());
    assert_eq!((packed.entries, packed.skipped), (1, 4));
    assert_eq!(tree::read(unpacked(&archive).1.path()).len(), 1);
}

#[test]
fn what_is_excluded_is_left_out() {
    let from = tempfile::tempdir().unwrap();
    for file in [
        "target/x",
        "a/target/x",
        "a/b.o",
        "b.o",
        "deep/er/b.o",
        "kept/target.txt",
    ] {
        let path = from.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    let kept = |patterns: &[&str]| {
        let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
        let excludes = Excludes::new(&patterns).unwrap();
        let mut archive = Vec::new();
        pack(from.path(), &excludes, &Limits::default(), &mut archive).unwrap();
        let paths = tree::read(unpacked(&archive).1.path()).into_keys();
        let files = paths.filter(|path| path.extension().is_some() || path.ends_with("x"));
        let files: Vec<String> = files.map(|path| path.display().to_string()).collect();
        files.join(" ")
    };
    assert_eq!(
        kept(&["target"]),
        "a/b.o a/target/x b.o deep/er/b.o kept/target.txt"
    );
    assert_eq!(
        kept(&["**/target"]),
        "a/b.o b.o deep/er/b.o kept/target.txt"
    );
    assert_eq!(
        kept(&["*.o"]),
        "a/b.o a/target/x deep/er/b.o kept/target.txt target/x"
    );
    assert_eq!(kept(&["**/*.o", "t*"]), "a/target/x kept/target.txt");
    assert_eq!(kept(&["a/*"]), "b.o deep/er/b.o kept/target.txt target/x");
    for bad in ["", "/a", "a/", "a[", "{a"] {
        assert!(Excludes::new(&[bad.to_owned()]).is_err(), "{bad}");
    }
}

#[test]
fn packing_keeps_the_limits_of_unpacking() {
    let from = tempfile::tempdir().unwrap();
    fs::create_dir_all(from.path().join("a/b/c")).unwrap();
    fs::write(from.path().join("a/long name"), vec![0; 1000]).unwrap();
    fs::write(from.path().join("f"), vec![0; 500]).unwrap();
    symlink("target".repeat(10), from.path().join("s")).unwrap();
    let exact = Limits {
        entries: 6,
        bytes: 1500,
        file_bytes: 1000,
        depth: 3,
        path_bytes: 60,
    };
    let mut archive = Vec::new();
    pack(from.path(), &everything(), &exact, &mut archive).unwrap();
    let to = tempfile::tempdir().unwrap();
    unpack(to.path(), &exact, archive.as_slice()).unwrap();
    for (limits, limit) in [
        (
            Limits {
                entries: 5,
                ..exact
            },
            Limit::Entries,
        ),
        (
            Limits {
                bytes: 1499,
                ..exact
            },
            Limit::Bytes,
        ),
        (
            Limits {
                file_bytes: 999,
                ..exact
            },
            Limit::FileBytes,
        ),
        (Limits { depth: 2, ..exact }, Limit::Depth),
        (
            Limits {
                path_bytes: 59,
                ..exact
            },
            Limit::PathBytes,
        ),
    ] {
        let packed = pack(from.path(), &everything(), &limits, io::sink());
        assert!(
            matches!(packed, Err(PackError::TooLarge(found)) if found == limit),
            "{packed:?}"
        );
        let to = tempfile::tempdir().unwrap();
        let unpacked = unpack(to.path(), &limits, archive.as_slice());
        assert!(
            matches!(unpacked, Err(UnpackError::TooLarge(found)) if found == limit),
            "{unpacked:?}"
        );
    }
}

#[test]
fn a_huge_file_of_zeros_comes_back() {
    let from = tempfile::tempdir().unwrap();
    let zeros = vec![0; 300 << 20];
    fs::write(from.path().join("zeros"), &zeros).unwrap();
    let (packed, archive) = packed(from.path());
    assert_eq!(packed.bytes, 300 << 20);
    assert!(archive.len() < 100_000, "{}", archive.len());
    let (_, to) = unpacked(&archive);
    assert!(fs::read(to.path().join("zeros")).unwrap() == zeros);
}

#[test]
fn a_link_in_the_place_of_the_root_is_not_followed() {
    let from = tempfile::tempdir().unwrap();
    fs::create_dir(from.path().join("real")).unwrap();
    symlink("real", from.path().join("link")).unwrap();
    let root = from.path().join("link");
    let packed = pack(&root, &everything(), &Limits::default(), io::sink());
    assert!(matches!(packed, Err(PackError::Read(_))));
    let (_, archive) = self::packed(&from.path().join("real"));
    let unpacked = unpack(&root, &Limits::default(), archive.as_slice());
    assert!(matches!(unpacked, Err(UnpackError::Write(_))));
}

/// Changes files while they are packed.
struct Meddler<'a> {
    root: &'a Path,
    archive: Vec<u8>,
}

impl io::Write for Meddler<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let before = self.archive.len();
        self.archive.extend_from_slice(bytes);
        let passes = |mark| (before..self.archive.len()).contains(&mark);
        let open = |name| File::options().append(true).open(self.root.join(name));
        if passes(1 << 20) {
            open("1 grows")?.write_all(&[2; 100])?;
        }
        if passes(5 << 20) {
            open("2 shrinks")?.set_len(1 << 20)?;
            fs::remove_file(self.root.join("3 vanishes"))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn files_that_change_meanwhile_are_cut_padded_or_left_out() {
    let from = tempfile::tempdir().unwrap();
    let mut noise = vec![0; 4 << 20];
    File::open("/dev/urandom")
        .unwrap()
        .read_exact(&mut noise)
        .unwrap();
    for name in ["1 grows", "2 shrinks"] {
        let path = from.path().join(name);
        fs::write(&path, &noise).unwrap();
        touch(&path, 1_000_000_000, 0);
    }
    fs::write(from.path().join("3 vanishes"), "x").unwrap();
    let mut meddler = Meddler {
        root: from.path(),
        archive: Vec::new(),
    };
    let packed = pack(from.path(), &everything(), &Limits::default(), &mut meddler).unwrap();
    assert_eq!((packed.entries, packed.changed), (2, 3));
    let (_, to) = unpacked(&meddler.archive);
    assert!(fs::read(to.path().join("1 grows")).unwrap() == noise);
    let shrunk = fs::read(to.path().join("2 shrinks")).unwrap();
    assert_eq!(shrunk.len(), noise.len());
    let kept = shrunk
        .iter()
        .zip(&noise)
        .take_while(|(one, other)| one == other)
        .count();
    assert!((1 << 20..4 << 20).contains(&kept), "{kept}");
    assert!(shrunk[kept + 1000..].iter().all(|byte| *byte == 0));
}
