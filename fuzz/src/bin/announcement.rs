//! Any bytes as what a packer announces. What is wanted of it lies beneath the root and within the limits.
#![no_main]
use cloister::checkpoint::wanted;
use cloister_protocol::backup::{
    Announcement, MAX_ANNOUNCED_FILES, MAX_ARTIFACT_BYTES, MAX_PUBLISHED_BYTES, OUTPUTS,
};
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

const SEED: &str = r#"{"files":[{"path":"a/b","bytes":3,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]}"#;

libfuzzer_sys::fuzz_target!(init: cloister_fuzz::seed_with([SEED.as_bytes()]), |bytes: &[u8]| {
    let Ok(announcement) = serde_json::from_slice::<Announcement>(bytes) else {
        return;
    };
    let announced = announcement.files.len();
    let Ok(files) = wanted(announcement, &HashMap::new()) else {
        return;
    };
    assert!(announced <= MAX_ANNOUNCED_FILES);
    let mut paths = HashSet::new();
    let mut total = 0;
    for file in files {
        let below = Path::new(&file.path).strip_prefix(OUTPUTS);
        assert!(below.is_ok_and(|path| path.components().all(|part| matches!(part, Component::Normal(_)))));
        assert!(file.bytes <= MAX_ARTIFACT_BYTES && (file.index as usize) < announced);
        total += file.bytes;
        assert!(paths.insert(file.path));
    }
    assert!(total <= MAX_PUBLISHED_BYTES);
});
