//! Objects in R2, by the parts of the Worker that know their keys.
use super::log;
use crate::checkpoint::key::Home;
use crate::checkpoint::{Checkpoint, CheckpointId, Digest, Manifest, MAX_MANIFEST_BYTES};
use worker::{Bucket, Env, Result};

/// Keys that are deleted at once: the most that the store takes.
const BATCH: u32 = 1000;

/// The bucket.
pub fn bucket(env: &Env) -> Result<Bucket> {
    env.bucket("FILES")
}

/// The manifest of a committed checkpoint. `None` if it is not there, or is not the one that was committed: it never will be.
pub async fn manifest(
    env: &Env,
    home: &Home,
    session_id: &str,
    checkpoint: &Checkpoint,
) -> Result<Option<Manifest>> {
    let bucket = bucket(env)?;
    let object = bucket.get(home.manifest(&checkpoint.id)).execute().await?;
    let Some(object) = object.filter(|object| object.size() <= MAX_MANIFEST_BYTES) else {
        log::event("manifest_unusable", &[("reason", "missing")]);
        return Ok(None);
    };
    let body = object.body().ok_or("the manifest has no body")?;
    let read = Manifest::read(&body.bytes().await?, &checkpoint.manifest, session_id);
    if let Err(error) = read {
        log::event("manifest_unusable", &[("reason", error.code())]);
    }
    Ok(read.ok())
}

/// Writes the manifest of a checkpoint, whose other objects are all stored.
pub async fn write_manifest(
    env: &Env,
    home: &Home,
    id: &CheckpointId,
    manifest: &Manifest,
) -> Result<Digest> {
    let (bytes, digest) = manifest.write()?;
    let bucket = bucket(env)?;
    let put = bucket.put(home.manifest(id), bytes).sha256(digest.bytes());
    put.execute().await?.ok_or("the manifest was not stored")?;
    Ok(digest)
}

/// Deletes every object whose key begins with `prefix`. Deleting again, also what is half deleted, does no harm.
pub async fn delete_all(env: &Env, prefix: &str) -> Result<()> {
    let bucket = bucket(env)?;
    loop {
        let page = bucket.list().prefix(prefix).limit(BATCH).execute().await?;
        let keys: Vec<String> = page.objects().iter().map(worker::Object::key).collect();
        if !keys.is_empty() {
            bucket.delete_multiple(keys).await?;
        }
        if !page.truncated() {
            return Ok(());
        }
    }
}
