//! Streams of several parts, there and back.
use std::fs;

use cloister_protocol::backup::AnnouncedFile;

use super::memory::Memory;
use super::*;
use crate::{restore, save, Excludes, Limit, Limits, PackError, RestoreError, SaveError};

#[test]
fn a_stream_is_cut_into_parts_and_put_together() {
    for (length, sizes) in [
        (0, &[][..]),
        (1, &[1]),
        (999, &[999]),
        (1000, &[1000]),
        (1001, &[1000, 1]),
        (2000, &[1000, 1000]),
        (3500, &[1000, 1000, 1000, 500]),
    ] {
        let memory = Memory::new(1000);
        let store = store(&memory.base, 1000);
        let bytes = noise(length);
        let uploaded = store_all(&store, &memory.to_store("s"), &bytes).unwrap();
        assert_eq!(uploaded.parts as usize, sizes.len());
        assert_eq!(uploaded.bytes as usize, length);
        let parts = memory.parts("s");
        let found: Vec<usize> = parts.iter().map(Vec::len).collect();
        assert_eq!(found, sizes);
        assert_eq!(parts.concat(), bytes);
        if length > 0 {
            assert_eq!(fetch_all(&store, &memory.to_fetch("s")).unwrap(), bytes);
        }
    }
}

#[test]
fn small_writes_and_reads_are_put_together() {
    let memory = Memory::new(1000);
    let store = store(&memory.base, 1000);
    let bytes = noise(5000);
    let mut upload = store.upload(&memory.to_store("s"));
    for piece in bytes.chunks(333) {
        upload.write_all(piece).unwrap();
    }
    upload.finish().unwrap();
    let mut download = store.download(&memory.to_fetch("s"));
    let mut read = Vec::new();
    let mut piece = [0; 77];
    loop {
        match download.read(&mut piece).unwrap() {
            0 => break,
            length => read.extend_from_slice(&piece[..length]),
        }
    }
    assert_eq!(read, bytes);
    assert_eq!(download.read(&mut piece).unwrap(), 0);
}

#[test]
fn a_stream_that_is_not_finished_lacks_its_last_part() {
    let memory = Memory::new(1000);
    let mut upload = store(&memory.base, 1000).upload(&memory.to_store("s"));
    upload.write_all(&noise(2500)).unwrap();
    drop(upload);
    std::thread::sleep(Duration::from_millis(200));
    assert!(memory.parts("s").concat().len() <= 2000);
}

#[test]
fn f4_a_grant_is_good_for_one_use_of_one_kind() {
    let memory = Memory::new(1000);
    let store = store(&memory.base, 1000);
    let grant = memory.to_store("s");
    store_all(&store, &grant, b"x").unwrap();
    assert_eq!(store_all(&store, &grant, b"x"), Err(StoreError::Refused));
    assert_eq!(fetch_all(&store, &grant), Err(StoreError::Refused));
    let other = memory.to_fetch("s");
    assert_eq!(store_all(&store, &other, b"x"), Err(StoreError::Refused));
    assert_eq!(fetch_all(&store, &other), Err(StoreError::Refused));
}

#[test]
fn a_grant_is_one_segment_of_a_path() {
    let memory = Memory::new(1000);
    let store = store(&memory.base, 1000);
    for grant in [
        "",
        "a/b",
        "..",
        "a?b",
        "a b",
        "%2e",
        "a\r\nb",
        "a#b",
        &"g".repeat(513),
    ] {
        let failed = Err(StoreError::Failed("grant"));
        assert_eq!(
            store_all(&store, grant, b"x"),
            failed.map(|()| Uploaded::default())
        );
        assert_eq!(fetch_all(&store, grant), failed.map(|()| vec![]));
    }
}

#[test]
fn more_than_the_store_takes_is_too_large() {
    let memory = Memory::new(1000).with_most_parts(2);
    let store = store(&memory.base, 1000);
    let uploaded = store_all(&store, &memory.to_store("s"), &noise(2000)).unwrap();
    assert_eq!(uploaded.parts, 2);
    let uploaded = store_all(&store, &memory.to_store("s"), &noise(2001));
    assert_eq!(uploaded, Err(StoreError::TooLarge));
    let uploaded = store_all(&store, &memory.to_store("s"), &noise(100_000));
    assert_eq!(uploaded, Err(StoreError::TooLarge));
}

#[test]
fn what_is_announced_is_answered() {
    let memory = Memory::new(1000);
    let store = store(&memory.base, 1000);
    let files = vec![AnnouncedFile {
        path: "a.txt".to_owned(),
        bytes: 5,
        sha256: "0".repeat(64),
    }];
    let announcement = Announcement { files };
    let wanted = store
        .announce(&memory.to_announce(), &announcement)
        .unwrap();
    assert_eq!(memory.announced(), announcement.files);
    assert_eq!(wanted.files.len(), 1);
    store_all(&store, &wanted.files[0].grant, b"12345").unwrap();
    let refused = store.announce("spent", &announcement);
    assert_eq!(refused, Err(StoreError::Refused));
}

#[test]
fn a_folder_is_saved_and_restored() {
    let memory = Memory::new(10_000);
    let store = store(&memory.base, 10_000);
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut state = 1_u32;
    let random = (0..100_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let random: Vec<u8> = random.collect();
    fs::write(from.path().join("f"), &random).unwrap();
    let (excludes, limits) = (Excludes::new(&[]).unwrap(), Limits::default());
    let grant = memory.to_store("s");
    save(from.path(), &excludes, &limits, &store, &grant).unwrap();
    assert!(memory.parts("s").len() > 5);
    restore(to.path(), &limits, &store, &memory.to_fetch("s")).unwrap();
    assert!(fs::read(to.path().join("f")).unwrap() == random);

    let refused = save(from.path(), &excludes, &limits, &store, &grant);
    assert!(matches!(
        refused,
        Err(SaveError::Store(StoreError::Refused))
    ));
    let refused = restore(to.path(), &limits, &store, &grant);
    assert!(matches!(
        refused,
        Err(RestoreError::Store(StoreError::Refused))
    ));
    let small = Limits { bytes: 1, ..limits };
    let large = save(
        from.path(),
        &excludes,
        &small,
        &store,
        &memory.to_store("t"),
    );
    let bytes = PackError::TooLarge(Limit::Bytes);
    assert_eq!(
        format!("{large:?}"),
        format!("{:?}", Err::<(), _>(SaveError::Pack(bytes)))
    );
}
