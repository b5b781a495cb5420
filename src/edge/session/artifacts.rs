//! The session's artifacts, what was published last under each path, and objects that are garbage.
use crate::checkpoint::key::Home;
use crate::checkpoint::{path_name, Digest, Garbage};
use crate::edge::calls::ArtifactContent;
use crate::turn::ArtifactWrite;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use worker::{Result, SqlStorageValue, Storage};

/// Tables. Of a deleted artifact its id stays, so that it can be a cursor of lists and be deleted again.
pub const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS artifacts (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL, prefix TEXT NOT NULL, path TEXT NOT NULL, bytes INTEGER NOT NULL, deleted INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS published_files (position INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS garbage (prefix TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
";

/// Of how many files it is known what was published last, the newest; one that is forgotten is published again.
const MAX_PATHS: i64 = 10_000;

/// Publishes artifacts of the session whose objects are at `home`.
pub fn publish(storage: &Storage, home: &Home, writes: &[ArtifactWrite]) -> Result<()> {
    for write in writes {
        let artifact = &write.artifact;
        let row = vec![
            artifact.id.as_str().into(),
            serde_json::to_string(artifact)?.into(),
            home.artifact(&write.checkpoint, write.index).into(),
            artifact.path.as_str().into(),
            integer(artifact.size_bytes),
        ];
        let insert = "INSERT INTO artifacts (id, json, prefix, path, bytes) VALUES (?, ?, ?, ?, ?)";
        run(storage, insert, row)?;
        let file = vec![
            path_name(&artifact.path).into(),
            write.sha256.as_str().into(),
        ];
        let replace = "INSERT OR REPLACE INTO published_files (path, sha256) VALUES (?, ?)";
        run(storage, replace, file)?;
    }
    if !writes.is_empty() {
        let forget = "DELETE FROM published_files WHERE position <= (SELECT MAX(position) FROM published_files) - ?";
        run(storage, forget, vec![MAX_PATHS.into()])?;
    }
    Ok(())
}

/// What was published last under each path, by the name of the path.
pub fn published(storage: &Storage) -> Result<HashMap<String, Digest>> {
    #[derive(Deserialize)]
    struct Row {
        path: String,
        sha256: Digest,
    }
    let select = "SELECT path, sha256 FROM published_files";
    let rows = storage.sql().exec(select, None)?.to_array::<Row>()?;
    Ok(rows.into_iter().map(|row| (row.path, row.sha256)).collect())
}

#[derive(Deserialize)]
struct Row {
    json: String,
    prefix: String,
    path: String,
    bytes: u64,
    deleted: u64,
}

fn row(storage: &Storage, id: &str) -> Result<Option<Row>> {
    let select = "SELECT json, prefix, path, bytes, deleted FROM artifacts WHERE id = ?";
    let rows = storage.sql().exec(select, vec![id.into()])?;
    Ok(rows.to_array::<Row>()?.into_iter().next())
}

/// An artifact that is not deleted.
pub fn retrieve(storage: &Storage, id: &str) -> Result<Option<Box<RawValue>>> {
    let live = row(storage, id)?.filter(|row| row.deleted == 0);
    Ok(live
        .map(|row| RawValue::from_string(row.json))
        .transpose()?)
}

/// Where the bytes of an artifact are that is not deleted.
pub fn content(storage: &Storage, id: &str) -> Result<Option<ArtifactContent>> {
    let live = row(storage, id)?.filter(|row| row.deleted == 0);
    Ok(live.map(|row| ArtifactContent {
        key_prefix: row.prefix,
        path: row.path,
        bytes: row.bytes,
    }))
}

/// Deletes an artifact; its objects are garbage from then on. Gives false if there never was one.
pub fn delete(storage: &Storage, id: &str, now: u64) -> Result<bool> {
    let Some(row) = row(storage, id)? else {
        return Ok(false);
    };
    if row.deleted == 0 {
        let update =
            "UPDATE artifacts SET deleted = 1, json = '', prefix = '', path = '' WHERE id = ?";
        run(storage, update, vec![id.into()])?;
        let garbage = Garbage {
            prefix: row.prefix,
            until: now,
        };
        throw_away(storage, &[garbage])?;
    }
    Ok(true)
}

/// Remembers what is garbage.
pub fn throw_away(storage: &Storage, garbage: &[Garbage]) -> Result<()> {
    for Garbage { prefix, until } in garbage {
        let insert = "INSERT INTO garbage VALUES (?, ?) ON CONFLICT (prefix) DO UPDATE SET until = MAX(until, excluded.until)";
        run(
            storage,
            insert,
            vec![prefix.as_str().into(), integer(*until)],
        )?;
    }
    Ok(())
}

/// What is garbage.
pub fn garbage(storage: &Storage) -> Result<Vec<Garbage>> {
    let select = "SELECT prefix, until FROM garbage";
    storage.sql().exec(select, None)?.to_array::<Garbage>()
}

/// Nothing with this prefix is left, nor will be.
pub fn thrown_away(storage: &Storage, prefix: &str) -> Result<()> {
    run(
        storage,
        "DELETE FROM garbage WHERE prefix = ?",
        vec![prefix.into()],
    )
}

fn run(storage: &Storage, statement: &str, bindings: Vec<SqlStorageValue>) -> Result<()> {
    storage.sql().exec(statement, bindings).map(drop)
}

/// Numbers of ours are far below 2^53.
fn integer(value: u64) -> SqlStorageValue {
    i64::try_from(value).unwrap_or(i64::MAX).into()
}
