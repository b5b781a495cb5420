//! The session's tables.
use crate::turn::{Effect, ItemWrite, Session, Step};
use crate::wire::query::{ListQuery, Order};
use serde::{Deserialize, Serialize};
use worker::{Result, SqlStorageValue, Storage};

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS session (id INTEGER PRIMARY KEY CHECK (id = 1), json TEXT NOT NULL, published INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS items (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, turn_id TEXT NOT NULL, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS turns (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS inputs (key TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
";

/// A stored event.
#[derive(Deserialize)]
pub struct StoredEvent {
    /// Its place in the log.
    pub seq: u64,
    /// Its type.
    pub name: String,
    /// All of it.
    pub json: String,
}

/// An effect that is not done.
pub struct Pending {
    /// Its row.
    pub id: i64,
    /// How often it was tried.
    pub tries: u32,
    /// What is to be done.
    pub effect: Effect,
}

/// Which list.
#[derive(Clone, Copy)]
pub enum List<'a> {
    /// All items.
    Items,
    /// One turn's items.
    ItemsOf(&'a str),
    /// All turns.
    Turns,
}

/// A row of a list.
#[derive(Deserialize)]
pub struct Row {
    /// The id.
    pub id: String,
    /// The resource.
    pub json: String,
}

/// Makes the tables.
pub fn init(storage: &Storage) -> Result<()> {
    storage.sql().exec(SCHEMA, None).map(drop)
}

/// The session and the version of it that the catalog has.
pub fn load(storage: &Storage) -> Result<Option<(Session, u64)>> {
    #[derive(Deserialize)]
    struct Stored {
        json: String,
        published: u64,
    }
    let rows = storage
        .sql()
        .exec("SELECT json, published FROM session", None)?
        .to_array::<Stored>()?;
    rows.first()
        .map(|row| Ok((serde_json::from_str(&row.json)?, row.published)))
        .transpose()
}

/// Writes a session that was not there.
pub fn create(storage: &Storage, session: &Session) -> Result<()> {
    run(
        storage,
        "INSERT INTO session VALUES (1, ?, 0)",
        vec![to_json(session)?],
    )
}

/// Writes what a step changed. Returns the events with their places in the log.
pub fn save(storage: &Storage, session: &Session, step: &Step) -> Result<Vec<StoredEvent>> {
    run(
        storage,
        "UPDATE session SET json = ?",
        vec![to_json(session)?],
    )?;
    for turn in &step.turns {
        let upsert = "INSERT INTO turns (id, json) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET json = excluded.json";
        run(
            storage,
            upsert,
            vec![turn.id.as_str().into(), to_json(turn)?],
        )?;
    }
    for write in &step.items {
        match write {
            ItemWrite::Append(item) => {
                let insert = "INSERT INTO items (id, turn_id, json) VALUES (?, ?, ?)";
                run(
                    storage,
                    insert,
                    vec![item.id().into(), item.turn_id().into(), to_json(item)?],
                )?;
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
    for effect in &step.effects {
        run(
            storage,
            "INSERT INTO outbox (json) VALUES (?)",
            vec![to_json(effect)?],
        )?;
    }
    let insert = "INSERT INTO events (name, json) VALUES (?, ?) RETURNING seq, name, json";
    let stored = step.events.iter().map(|event| {
        let row = storage
            .sql()
            .exec(insert, vec![event.name().into(), to_json(event)?])?;
        row.one::<StoredEvent>()
    });
    stored.collect()
}

/// Up to `limit` events after a place in the log.
pub fn events_after(storage: &Storage, seq: u64, limit: u32) -> Result<Vec<StoredEvent>> {
    let select = "SELECT seq, name, json FROM events WHERE seq > ? ORDER BY seq LIMIT ?";
    storage
        .sql()
        .exec(select, vec![integer(seq), i64::from(limit).into()])?
        .to_array()
}

/// Place of the newest event; 0 before the first.
pub fn last_event(storage: &Storage) -> Result<u64> {
    #[derive(Deserialize)]
    struct Last {
        seq: u64,
    }
    let select = "SELECT COALESCE(MAX(seq), 0) AS seq FROM events";
    let last = storage.sql().exec(select, None)?.one::<Last>()?;
    Ok(last.seq)
}

/// Effects that are not done, in order.
pub fn outbox(storage: &Storage) -> Result<Vec<Pending>> {
    #[derive(Deserialize)]
    struct Stored {
        id: i64,
        tries: u32,
        json: String,
    }
    let rows = storage
        .sql()
        .exec("SELECT id, tries, json FROM outbox ORDER BY id", None)?
        .to_array::<Stored>()?;
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

/// An effect was tried in vain.
pub fn tried(storage: &Storage, id: i64) -> Result<()> {
    run(
        storage,
        "UPDATE outbox SET tries = tries + 1 WHERE id = ?",
        vec![id.into()],
    )
}

/// The catalog has this version.
pub fn published(storage: &Storage, version: u64) -> Result<()> {
    run(
        storage,
        "UPDATE session SET published = ?",
        vec![integer(version)],
    )
}

/// The body that came with an idempotency key, if the key was used.
pub fn input_with_key(storage: &Storage, key: &str) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct Stored {
        body: String,
    }
    let rows = storage
        .sql()
        .exec("SELECT body FROM inputs WHERE key = ?", vec![key.into()])?
        .to_array::<Stored>()?;
    Ok(rows.into_iter().next().map(|row| row.body))
}

/// Remembers an idempotency key.
pub fn remember_key(storage: &Storage, key: &str, body: &str) -> Result<()> {
    run(
        storage,
        "INSERT INTO inputs VALUES (?, ?)",
        vec![key.into(), body.into()],
    )
}

/// Rows of a list beyond the cursor. `None` if the cursor names no row.
pub fn list(
    storage: &Storage,
    list: List<'_>,
    query: &ListQuery,
    limit: u32,
) -> Result<Option<Vec<Row>>> {
    let (table, of) = match list {
        List::Items => ("items", None),
        List::ItemsOf(turn) => ("items", Some(turn)),
        List::Turns => ("turns", None),
    };
    let (beyond, direction) = match query.order {
        Order::Ascending => (">", "ASC"),
        Order::Descending => ("<", "DESC"),
    };
    let mut bindings: Vec<SqlStorageValue> = Vec::new();
    let mut conditions = Vec::new();
    if let Some(turn) = of {
        conditions.push("turn_id = ?".to_owned());
        bindings.push(turn.into());
    }
    if let Some(after) = &query.after {
        let Some(position) = position(storage, table, after)? else {
            return Ok(None);
        };
        conditions.push(format!("position {beyond} ?"));
        bindings.push(position.into());
    }
    let condition = if conditions.is_empty() {
        String::new()
    } else {
        format!("WHERE {}", conditions.join(" AND "))
    };
    bindings.push(i64::from(limit).into());
    let select =
        format!("SELECT id, json FROM {table} {condition} ORDER BY position {direction} LIMIT ?");
    storage.sql().exec(&select, bindings)?.to_array().map(Some)
}

/// One turn.
pub fn turn(storage: &Storage, id: &str) -> Result<Option<Row>> {
    let rows = storage
        .sql()
        .exec("SELECT id, json FROM turns WHERE id = ?", vec![id.into()])?
        .to_array()?;
    Ok(rows.into_iter().next())
}

fn position(storage: &Storage, table: &str, id: &str) -> Result<Option<i64>> {
    #[derive(Deserialize)]
    struct Stored {
        position: i64,
    }
    let select = format!("SELECT position FROM {table} WHERE id = ?");
    let rows = storage
        .sql()
        .exec(&select, vec![id.into()])?
        .to_array::<Stored>()?;
    Ok(rows.first().map(|row| row.position))
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
