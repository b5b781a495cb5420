//! Any bytes as a manifest, as if their digest were the committed one. What is believed is written as it was read.
#![no_main]
use cloister::checkpoint::{CheckpointId, Digest, Manifest, Part, SavedArtifact, Stream};

const SESSION: &str = "sess_1";

fn seed() -> Option<Vec<u8>> {
    let part = Part {
        bytes: 9,
        sha256: Digest::of(b""),
    };
    let stream = Stream {
        checkpoint: CheckpointId::new([1; 16]),
        parts: vec![part],
    };
    let artifact = SavedArtifact {
        index: 1,
        path: "/workspace/outputs/a".to_owned(),
        bytes: 1,
        sha256: Digest::of(b""),
    };
    let (session, id) = (SESSION.to_owned(), stream.checkpoint.clone());
    let thread = Some("thread".to_owned());
    let manifest = Manifest::new(
        session,
        id,
        thread,
        stream.clone(),
        Some(stream),
        vec![artifact],
    );
    manifest.write().ok().map(|(bytes, _)| bytes)
}

libfuzzer_sys::fuzz_target!(init: cloister_fuzz::seed_with(seed().as_slice()), |bytes: &[u8]| {
    if let Ok(manifest) = Manifest::parse(bytes, SESSION) {
        let written = manifest.write().ok();
        let read = written.and_then(|(bytes, digest)| Manifest::read(&bytes, &digest, SESSION).ok());
        assert_eq!(read, Some(manifest));
    }
});
