#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use super::*;
use proptest::prelude::*;
use serde_json::{json, Value};

fn id(n: u8) -> CheckpointId {
    CheckpointId::new([n; 16])
}

fn stream(sizes: &[u64]) -> Stream {
    let part = |bytes: &u64| Part {
        bytes: *bytes,
        sha256: Digest::of(&bytes.to_be_bytes()),
    };
    Stream {
        checkpoint: id(1),
        parts: sizes.iter().map(part).collect(),
    }
}

fn manifest() -> Manifest {
    let artifact = SavedArtifact {
        index: 3,
        path: "/workspace/outputs/a".into(),
        bytes: 1,
        sha256: Digest::of(b"a"),
    };
    Manifest::new(
        "sess_1".into(),
        id(1),
        Some("thread".into()),
        stream(&[10]),
        Some(stream(&[PART_BYTES as u64, 4])),
        vec![artifact],
    )
}

/// The manifest with one change.
fn changed(change: impl FnOnce(&mut Value)) -> Result<Manifest, ManifestError> {
    let mut value = serde_json::to_value(manifest()).unwrap();
    change(&mut value);
    Manifest::parse(&serde_json::to_vec(&value).unwrap(), "sess_1")
}

#[test]
fn is_read_as_it_was_written_and_only_with_its_digest() {
    let (bytes, digest) = manifest().write().unwrap();
    assert_eq!(Manifest::read(&bytes, &digest, "sess_1"), Ok(manifest()));
    assert_eq!(
        Manifest::read(&bytes, &Digest::of(b""), "sess_1"),
        Err(ManifestError::Digest)
    );
    assert_eq!(
        Manifest::read(&bytes, &digest, "sess_2"),
        Err(ManifestError::Invalid)
    );
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert_eq!(
            Manifest::read(&damaged, &digest, "sess_1"),
            Err(ManifestError::Digest)
        );
    }
}

#[test]
fn a_manifest_that_breaks_a_rule_is_refused() {
    assert_eq!(changed(|_| ()), Ok(manifest()));
    let full = PART_BYTES as u64;
    let parts = |sizes: &[u64]| serde_json::to_value(stream(sizes)).unwrap();
    type Change = Box<dyn FnOnce(&mut Value)>;
    let changes: Vec<Change> = vec![
        Box::new(|v| v["more"] = json!(1)),
        Box::new(|v| v["history"]["more"] = json!(1)),
        Box::new(|v| v["history"] = json!(null)),
        Box::new(|v| v["history"]["parts"] = json!([])),
        Box::new(|v| v["history"]["checkpoint"] = json!("../ckpt_1")),
        Box::new(|v| v["history"]["parts"][0]["sha256"] = json!("A".repeat(64))),
        Box::new(|v| v["history"]["parts"][0]["sha256"] = json!("../../x")),
        Box::new(|v| v["history"]["parts"][0]["bytes"] = json!(-1)),
        Box::new(move |v| v["workspace"] = parts(&[0])),
        Box::new(move |v| v["workspace"] = parts(&[1, 1])),
        Box::new(move |v| v["workspace"] = parts(&[full + 1])),
        Box::new(move |v| v["workspace"] = parts(&[full, full, u64::MAX])),
        Box::new(move |v| v["workspace"] = parts(&vec![full; MAX_PARTS + 1])),
        Box::new(|v| v["id"] = json!("sess_00000000000000000000000000000000")),
        Box::new(|v| v["thread"] = json!("t".repeat(MAX_THREAD + 1))),
        Box::new(|v| v["artifacts"] = json!(vec![v["artifacts"][0].clone(); 1001])),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert_eq!(
            changed(change),
            Err(ManifestError::Invalid),
            "change {number}"
        );
    }
    assert_eq!(
        changed(|v| {
            v["version"] = json!(2);
            v["new"] = json!(1)
        }),
        Err(ManifestError::Version)
    );
}

#[test]
fn the_largest_manifest_fits() {
    let mut largest = manifest();
    let full = vec![PART_BYTES as u64; MAX_PARTS];
    largest.history = stream(&full);
    largest.workspace = Some(stream(&full));
    let artifact = SavedArtifact {
        path: format!("/workspace/outputs/{}", "\u{1}".repeat(512)),
        ..largest.artifacts[0].clone()
    };
    largest.artifacts = vec![artifact; MAX_ANNOUNCED_FILES];
    let (bytes, digest) = largest.write().unwrap();
    assert!((bytes.len() as u64) < MAX_MANIFEST_BYTES);
    assert_eq!(Manifest::read(&bytes, &digest, "sess_1"), Ok(largest));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Manifest::parse(&bytes, "sess_1");
    }
}
