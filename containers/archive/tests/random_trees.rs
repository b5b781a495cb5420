//! Random folders come back as they were.
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
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cloister_archive::{pack, unpack, Excludes, Limits};
use proptest::collection::vec;
use proptest::prelude::*;
use rustix::fs::{utimensat, AtFlags, Timespec, Timestamps, CWD};

#[derive(Clone, Debug)]
enum Made {
    Folder,
    File(Vec<u8>),
    /// Pieces of data at multiples of 64 KiB, and the size in them.
    Sparse(Vec<u8>, u8),
    Symlink(Vec<u8>),
    /// To any earlier file.
    Link(usize),
}

#[derive(Clone, Debug)]
struct Step {
    /// Which of the folders made so far it is in.
    folder: usize,
    name: Vec<u8>,
    made: Made,
    mode: u32,
    mtime: (i64, u32),
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        8 => b'a'..=b'e',
        1 => any::<u8>().prop_filter("not in a name", |byte| *byte != 0 && *byte != b'/'),
    ];
    let short = vec(byte, 1..4);
    let long = (b'a'..=b'c', 95..=255_usize).prop_map(|(byte, length)| vec![byte; length]);
    prop_oneof![5 => short, 1 => long]
        .prop_filter("not a name", |name| name != b"." && name != b"..")
}

fn step() -> impl Strategy<Value = Step> {
    let made = prop_oneof![
        3 => Just(Made::Folder),
        3 => vec(any::<u8>(), 0..2000).prop_map(Made::File),
        1 => (vec(0..40_u8, 0..6), 1..50_u8).prop_map(|(at, size)| Made::Sparse(at, size)),
        1 => vec(1..=255_u8, 1..300).prop_map(Made::Symlink),
        1 => any::<usize>().prop_map(Made::Link),
    ];
    let mtime = (-1_000_000_000..4_000_000_000_i64, 0..1_000_000_000_u32);
    (any::<usize>(), name(), made, 0..0o10_000_u32, mtime).prop_map(
        |(folder, name, made, mode, mtime)| Step {
            folder,
            name,
            made,
            mode,
            mtime,
        },
    )
}

/// Makes what can be made; names that are taken are left.
fn build(root: &Path, steps: &[Step]) {
    let mut folders = vec![PathBuf::new()];
    let mut files: Vec<PathBuf> = Vec::new();
    let mut made = Vec::new();
    for step in steps {
        let parent = &folders[step.folder % folders.len()];
        let path = parent.join(OsStr::from_bytes(&step.name));
        let full = root.join(&path);
        if path.components().count() > 12 || fs::symlink_metadata(&full).is_ok() {
            continue;
        }
        match &step.made {
            Made::Folder => fs::create_dir(&full).unwrap(),
            Made::File(content) => fs::write(&full, content).unwrap(),
            Made::Sparse(pieces, size) => {
                let file = File::create(&full).unwrap();
                file.set_len(u64::from(*size) << 16).unwrap();
                for at in pieces.iter().filter(|at| *at < size) {
                    file.write_all_at(b"data", u64::from(*at) << 16).unwrap();
                }
            }
            Made::Symlink(target) => symlink(OsStr::from_bytes(target), &full).unwrap(),
            Made::Link(index) => match files.get(index % files.len().max(1)) {
                Some(file) => fs::hard_link(root.join(file), &full).unwrap(),
                None => continue,
            },
        }
        match step.made {
            Made::Folder => folders.push(path.clone()),
            Made::File(_) | Made::Sparse(..) => files.push(path.clone()),
            Made::Symlink(_) | Made::Link(_) => {}
        }
        made.push((path, step));
    }
    for (path, step) in made.into_iter().rev() {
        let path = root.join(path);
        if !matches!(step.made, Made::Symlink(_)) {
            fs::set_permissions(&path, fs::Permissions::from_mode(step.mode)).unwrap();
        }
        let time = Timespec {
            tv_sec: step.mtime.0,
            tv_nsec: step.mtime.1.into(),
        };
        let times = Timestamps {
            last_access: time,
            last_modification: time,
        };
        utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn a_random_folder_comes_back(steps in vec(step(), 0..40)) {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        build(from.path(), &steps);
        let mut archive = Vec::new();
        let excludes = Excludes::new(&[]).unwrap();
        let packed = pack(from.path(), &excludes, &Limits::default(), &mut archive).unwrap();
        unpack(to.path(), &Limits::default(), archive.as_slice()).unwrap();
        let before = tree::read(from.path());
        prop_assert_eq!(packed.entries as usize, before.len());
        prop_assert_eq!(&before, &tree::read(to.path()));
        for path in before.keys() {
            let blocks = |root: &Path| fs::symlink_metadata(root.join(path)).unwrap().blocks();
            prop_assert!(blocks(to.path()) <= blocks(from.path()) + 16, "{}", path.display());
        }
    }
}
