//! The session's tables.
use super::artifacts;
use crate::turn::{CellKind, CellWrite, Chunk, Effect, Ends, ItemWrite, Session, Step, TextWrite};
use serde::{Deserialize, Serialize};
use worker::{Result, SqlStorageValue, Storage};

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS cells (kind TEXT NOT NULL, number INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY (kind, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (position INTEGER PRIMARY KEY, open INTEGER NOT NULL, part INTEGER NOT NULL, delta TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS log (last INTEGER PRIMARY KEY, first INTEGER NOT NULL, ends TEXT NOT NULL, frames TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS items (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, subagent TEXT NOT NULL, turn_id TEXT NOT NULL, json TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS items_of_agent ON items (subagent, position);
CREATE INDEX IF NOT EXISTS items_of_turn ON items (turn_id, position);
CREATE TABLE IF NOT EXISTS turns (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, subagent TEXT NOT NULL, json TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS turns_of_agent ON turns (subagent, position);
CREATE TABLE IF NOT EXISTS subagents (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS inputs (key TEXT PRIMARY KEY, body TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS inputs_by_age ON inputs (at);
CREATE TABLE IF NOT EXISTS published (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL);
";

/// How long an idempotency key is remembered, milliseconds. Clients repeat a request for minutes.
const KEY_LIFETIME_MS: u64 = 48 * 60 * 60 * 1000;

/// An effect that is not done.
pub struct Pending {
    /// Its row.
    pub id: i64,
    /// How often it was tried.
    pub tries: u32,
    /// What is to be done.
    pub effect: Effect,
}

/// What is stored of a session.
pub struct Stored {
    /// The session.
    pub session: Session,
    /// Version of it that the catalog has.
    pub published: u64,
    /// Whether effects are not done.
    pub pending: bool,
    /// Whether there is garbage.
    pub garbage: bool,
}

/// What is stored here.
pub enum Found {
    /// Nothing.
    Nothing,
    /// What a deleted session has left: garbage.
    Garbage,
    /// A session.
    Session(Box<Stored>),
}

/// Makes the tables, for a session that is about to be written.
pub fn init(storage: &Storage) -> Result<()> {
    storage.sql().exec(SCHEMA, None)?;
    storage.sql().exec(artifacts::SCHEMA, None).map(drop)
}

/// Forgets everything. The tables stay.
pub fn clear(storage: &Storage) -> Result<()> {
    #[derive(Deserialize)]
    struct Table {
        name: String,
    }
    let select = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";
    for Table { name } in storage.sql().exec(select, None)?.to_array::<Table>()? {
        run(storage, &format!("DELETE FROM {name}"), Vec::new())?;
    }
    Ok(())
}

/// What is stored, if a session is. Reads what its running turn and its waiting input need, and no history.
pub fn load(storage: &Storage) -> Result<Found> {
    #[derive(Deserialize)]
    struct Cell {
        kind: String,
        number: u64,
        json: String,
    }
    #[derive(Deserialize)]
    struct Number {
        number: u64,
    }
    let sql = storage.sql();
    let tables = "SELECT COUNT(*) AS number FROM sqlite_master WHERE name = 'cells'";
    if sql.exec(tables, None)?.one::<Number>()?.number == 0 {
        return Ok(Found::Nothing);
    }
    let cells = sql
        .exec("SELECT kind, number, json FROM cells", None)?
        .to_array::<Cell>()?;
    let cells = cells
        .into_iter()
        .map(|Cell { kind, number, json }| {
            let kind = CellKind::named(&kind).ok_or("an unknown cell")?;
            Ok((kind, number, json))
        })
        .collect::<Result<Vec<_>>>()?;
    let texts = "SELECT open, part, delta FROM texts ORDER BY position";
    let texts = sql.exec(texts, None)?.to_array::<TextWrite>()?;
    let Some(session) = Session::load(cells, texts)? else {
        return Ok(Found::Garbage);
    };
    let published = "SELECT COALESCE(MAX(version), 0) AS number FROM published";
    let pending = "SELECT COUNT(*) AS number FROM outbox";
    let garbage = "SELECT COUNT(*) AS number FROM garbage";
    Ok(Found::Session(Box::new(Stored {
        session,
        published: sql.exec(published, None)?.one::<Number>()?.number,
        pending: sql.exec(pending, None)?.one::<Number>()?.number > 0,
        garbage: sql.exec(garbage, None)?.one::<Number>()?.number > 0,
    })))
}

/// Writes what a step changed.
pub fn save(storage: &Storage, session: &mut Session, step: &Step) -> Result<()> {
    let cells = session.take_changes()?;
    artifacts::publish(storage, &session.home(), &step.artifacts)?;
    artifacts::throw_away(storage, &step.garbage)?;
    for CellWrite { kind, number, json } in &cells {
        match json {
            Some(json) => run(
                storage,
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?)",
                vec![kind.name().into(), integer(*number), json.as_str().into()],
            )?,
            None => {
                let key = vec![kind.name().into(), integer(*number)];
                run(
                    storage,
                    "DELETE FROM cells WHERE kind = ? AND number = ?",
                    key,
                )?;
                if *kind == CellKind::Open {
                    let open = vec![integer(*number)];
                    run(storage, "DELETE FROM texts WHERE open = ?", open)?;
                }
            }
        }
    }
    for TextWrite { open, part, delta } in &step.texts {
        let row = vec![integer(*open), integer(*part), delta.as_str().into()];
        run(
            storage,
            "INSERT INTO texts (open, part, delta) VALUES (?, ?, ?)",
            row,
        )?;
    }
    for turn in &step.turns {
        let upsert = "INSERT INTO turns (id, subagent, json) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET json = excluded.json";
        let subagent = turn.subagent_id.as_deref().unwrap_or_default();
        let row = vec![turn.id.as_str().into(), subagent.into(), to_json(turn)?];
        run(storage, upsert, row)?;
    }
    for write in &step.items {
        match write {
            ItemWrite::Append { subagent, item } => {
                let insert = "INSERT INTO items (id, subagent, turn_id, json) VALUES (?, ?, ?, ?)";
                let subagent = subagent.as_deref().unwrap_or_default();
                let row = vec![
                    item.id().into(),
                    subagent.into(),
                    item.turn_id().into(),
                    to_json(item)?,
                ];
                run(storage, insert, row)?;
            }
            ItemWrite::Update(item) => run(
                storage,
                "UPDATE items SET json = ? WHERE id = ?",
                vec![to_json(item)?, item.id().into()],
            )?,
            ItemWrite::Remove(id) => run(
                storage,
                "DELETE FROM items WHERE id = ?",
                vec![id.as_str().into()],
            )?,
        }
    }
    for subagent in &step.subagents {
        let upsert = "INSERT INTO subagents (id, json) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET json = excluded.json";
        run(
            storage,
            upsert,
            vec![subagent.id.as_str().into(), to_json(subagent)?],
        )?;
    }
    for effect in &step.effects {
        run(
            storage,
            "INSERT INTO outbox (json) VALUES (?)",
            vec![to_json(effect)?],
        )?;
    }
    for chunk in &step.chunks {
        let row = vec![
            integer(chunk.last),
            integer(chunk.first),
            chunk.ends.letter().to_string().into(),
            chunk.frames.as_str().into(),
        ];
        run(storage, "INSERT INTO log VALUES (?, ?, ?, ?)", row)?;
    }
    Ok(())
}

/// The log after a place, as one chunk of about `bytes`, which ends where streams end. `None` if there is nothing more.
pub fn log_after(storage: &Storage, after: u64, bytes: usize) -> Result<Option<Chunk>> {
    #[derive(Deserialize)]
    struct Row {
        first: u64,
        last: u64,
        ends: String,
        frames: String,
    }
    let select = "SELECT first, last, ends, frames FROM log WHERE last > ? ORDER BY last";
    let rows = storage.sql().exec(select, vec![integer(after)])?;
    let mut page: Option<Chunk> = None;
    for row in rows.next::<Row>() {
        let row = row?;
        let chunk = Chunk {
            first: row.first,
            last: row.last,
            ends: Ends::of_letter(&row.ends).ok_or("an unknown letter")?,
            frames: row.frames,
        };
        let ends = chunk.ends;
        let page = match &mut page {
            None => page.insert(Chunk {
                first: after + 1,
                frames: chunk.frames_after(after).to_owned(),
                ..chunk
            }),
            Some(page) => {
                page.last = chunk.last;
                page.ends = ends;
                page.frames.push_str(&chunk.frames);
                page
            }
        };
        if ends != Ends::Nothing || page.frames.len() >= bytes {
            break;
        }
    }
    Ok(page)
}

/// How many bytes the log has after a place, counted up to about `enough`.
pub fn log_size_after(storage: &Storage, after: u64, enough: usize) -> Result<usize> {
    #[derive(Deserialize)]
    struct Size {
        bytes: usize,
    }
    let select = "SELECT octet_length(frames) AS bytes FROM log WHERE last > ? ORDER BY last";
    let rows = storage.sql().exec(select, vec![integer(after)])?;
    let mut bytes = 0;
    for row in rows.next::<Size>() {
        bytes += row?.bytes;
        if bytes > enough {
            break;
        }
    }
    Ok(bytes)
}

/// Forgets the oldest events, until about `bytes` are gone. Returns how many went, and the place of the last of them.
pub fn trim_log(storage: &Storage, bytes: u64) -> Result<Option<(u64, u64)>> {
    #[derive(Deserialize)]
    struct Row {
        last: u64,
        bytes: u64,
    }
    let select = "SELECT last, octet_length(frames) AS bytes FROM log ORDER BY last";
    let rows = storage.sql().exec(select, None)?;
    let mut gone = None;
    for row in rows.next::<Row>() {
        let Row { last, bytes: size } = row?;
        let sum = gone.map_or(0, |(sum, _)| sum) + size;
        gone = Some((sum, last));
        if sum >= bytes {
            break;
        }
    }
    if let Some((_, last)) = gone {
        run(
            storage,
            "DELETE FROM log WHERE last <= ?",
            vec![integer(last)],
        )?;
    }
    Ok(gone)
}

/// Effects that are not done, in order.
pub fn outbox(storage: &Storage) -> Result<Vec<Pending>> {
    #[derive(Deserialize)]
    struct Row {
        id: i64,
        tries: u32,
        json: String,
    }
    let rows = storage
        .sql()
        .exec("SELECT id, tries, json FROM outbox ORDER BY id", None)?
        .to_array::<Row>()?;
    rows.into_iter()
        .map(|row| {
            Ok(Pending {
                id: row.id,
                tries: row.tries,
                effect: serde_json::from_str(&row.json)?,
            })
        })
        .collect()
}

/// An effect is done, or given up.
pub fn done(storage: &Storage, id: i64) -> Result<()> {
    run(storage, "DELETE FROM outbox WHERE id = ?", vec![id.into()])
}

/// An effect is about to be tried: counted first, so that one that ends the process is not tried for ever.
pub fn trying(storage: &Storage, id: i64) -> Result<()> {
    let update = "UPDATE outbox SET tries = tries + 1 WHERE id = ?";
    run(storage, update, vec![id.into()])
}

/// The catalog has this version.
pub fn published(storage: &Storage, version: u64) -> Result<()> {
    let replace = "INSERT OR REPLACE INTO published VALUES (1, ?)";
    run(storage, replace, vec![integer(version)])
}

/// Digest of the body that came with an idempotency key, if the key was used.
pub fn input_with_key(storage: &Storage, key: &str) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct Row {
        body: String,
    }
    let rows = storage
        .sql()
        .exec("SELECT body FROM inputs WHERE key = ?", vec![key.into()])?
        .to_array::<Row>()?;
    Ok(rows.into_iter().next().map(|row| row.body))
}

/// Remembers an idempotency key, and forgets those that nobody repeats any more.
pub fn remember_key(storage: &Storage, key: &str, body: &str, now: u64) -> Result<()> {
    let old = vec![integer(now.saturating_sub(KEY_LIFETIME_MS))];
    run(storage, "DELETE FROM inputs WHERE at < ?", old)?;
    let row = vec![key.into(), body.into(), integer(now)];
    run(storage, "INSERT INTO inputs VALUES (?, ?, ?)", row)
}

fn run(storage: &Storage, statement: &str, bindings: Vec<SqlStorageValue>) -> Result<()> {
    storage.sql().exec(statement, bindings).map(drop)
}

fn to_json<T: Serialize>(value: &T) -> Result<SqlStorageValue> {
    Ok(serde_json::to_string(value)?.into())
}

/// Numbers of ours are far below 2^53.
fn integer(value: u64) -> SqlStorageValue {
    i64::try_from(value).unwrap_or(i64::MAX).into()
}
