//! What the fuzz targets share. `fuzz/run.sh unpack_tar 10` runs one for ten seconds.
#![forbid(unsafe_code)]

use std::error::Error;
use std::fs;
use std::os::unix::fs::{symlink, MetadataExt};
use std::path::Path;

use cloister_archive::{pack, unpack, Excludes, Limits};

const LIMITS: Limits = Limits {
    entries: 100,
    bytes: 1 << 20,
    file_bytes: 1 << 20,
    depth: 8,
    path_bytes: 1000,
};

/// Puts what fuzzing begins with into the folder that the environment names.
pub fn seed_with<S: AsRef<[u8]>>(seeds: impl AsRef<[S]>) {
    if let Some(corpus) = std::env::var_os("CORPUS") {
        for (number, seed) in seeds.as_ref().iter().enumerate() {
            let path = Path::new(&corpus).join(format!("seed-{number}"));
            assert!(fs::write(path, seed).is_ok());
        }
    }
}

/// Packs a small folder into the folder that the environment names: what fuzzing begins with.
pub fn seed(make: impl Fn(Vec<u8>) -> std::io::Result<Vec<u8>>) {
    if let Some(corpus) = std::env::var_os("CORPUS") {
        let seeded = try_seed(Path::new(&corpus), make);
        assert!(seeded.is_ok(), "{seeded:?}");
    }
}

fn try_seed(
    corpus: &Path,
    make: impl Fn(Vec<u8>) -> std::io::Result<Vec<u8>>,
) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    fs::create_dir_all(root.join("a/b"))?;
    fs::write(root.join("a/file"), "content")?;
    fs::hard_link(root.join("a/file"), root.join("link"))?;
    symlink("../a", root.join("a/up"))?;
    symlink("t".repeat(150), root.join("far"))?;
    fs::write(root.join("n".repeat(150)), "long")?;
    fs::File::create(root.join("hole"))?.set_len(100_000)?;
    let excludes = Excludes::new(&[]).map_err(|_| "excludes")?;
    let mut stream = Vec::new();
    pack(root, &excludes, &Limits::default(), &mut stream).map_err(|_| "pack")?;
    fs::write(corpus.join("seed"), make(stream)?)?;
    Ok(())
}

/// Unpacks into a new folder, and looks whether anything beside it has changed. What was unpacked can be packed again, and
/// has as many entries then.
pub fn check(stream: &[u8]) {
    let Ok(field) = tempfile::tempdir() else {
        return;
    };
    let [root, again, outside] = ["root", "again", "outside"].map(|name| field.path().join(name));
    for folder in [&root, &again, &outside] {
        assert!(fs::create_dir(folder).is_ok());
    }
    assert!(fs::write(outside.join("file"), "precious").is_ok());
    let before = state(&outside);
    let unpacked = unpack(&root, &LIMITS, stream);
    assert_eq!(state(&outside), before);
    assert_eq!(
        fs::read_dir(field.path()).map(Iterator::count).ok(),
        Some(3)
    );
    if let (Ok(unpacked), Ok(excludes)) = (unpacked, Excludes::new(&[])) {
        let mut repacked = Vec::new();
        let packed = pack(&root, &excludes, &Limits::default(), &mut repacked);
        assert_eq!(
            packed.ok().map(|packed| packed.entries),
            Some(unpacked.entries)
        );
        let second = unpack(&again, &Limits::default(), repacked.as_slice());
        assert_eq!(
            second.ok().map(|second| second.entries),
            Some(unpacked.entries)
        );
    }
}

fn state(outside: &Path) -> Vec<Option<(u32, u64, i64, i64)>> {
    let paths = [outside.to_owned(), outside.join("file")];
    let state = |path| {
        let meta = fs::symlink_metadata(path).ok()?;
        Some((meta.mode(), meta.nlink(), meta.ctime(), meta.ctime_nsec()))
    };
    paths.into_iter().map(state).collect()
}
