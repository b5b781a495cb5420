//! What was decided of the sandbox's requests, by host and port, with counts and times and nothing else.
use crate::environment::{Tally, Verdict};
use serde::Deserialize;
use worker::{Result, Storage};

/// Most rows of a verdict, so that refusals without number do not hide what was allowed. What comes beyond is counted under
/// one host that is none, for each verdict and reason.
const MAX_ROWS: u64 = 1024;
/// That host.
const OTHERS: &str = "*";

const TABLE: &str = "CREATE TABLE IF NOT EXISTS decisions (host TEXT, port INTEGER, verdict TEXT, reason TEXT, \
                     count INTEGER, first_at INTEGER, last_at INTEGER, PRIMARY KEY (host, port, verdict, reason)) \
                     WITHOUT ROWID";
const ADD: &str = "UPDATE decisions SET count = count + ?5, first_at = min(first_at, ?6), last_at = max(last_at, ?7) \
                   WHERE host = ?1 AND port = ?2 AND verdict = ?3 AND reason = ?4 RETURNING count";
const INSERT: &str = "INSERT INTO decisions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const COUNT: &str = "SELECT count(*) AS rows FROM decisions WHERE verdict = ?";
const LIST: &str = "SELECT * FROM decisions ORDER BY last_at DESC, host, port";

/// Makes the table.
pub fn init(storage: &Storage) -> Result<()> {
    storage.sql().exec(TABLE, None).map(drop)
}

/// Adds to what is known.
pub fn note(storage: &Storage, tally: &Tally) -> Result<()> {
    if add(storage, tally)? {
        return Ok(());
    }
    if rows(storage, tally.verdict)? < MAX_ROWS {
        return insert(storage, tally);
    }
    let others = Tally {
        host: OTHERS.to_owned(),
        port: 0,
        ..tally.clone()
    };
    match add(storage, &others)? {
        true => Ok(()),
        false => insert(storage, &others),
    }
}

/// All of it, newest first.
pub fn list(storage: &Storage) -> Result<Vec<Tally>> {
    storage.sql().exec(LIST, None)?.to_array()
}

/// Forgets it.
pub fn clear(storage: &Storage) -> Result<()> {
    storage.sql().exec("DELETE FROM decisions", None).map(drop)
}

fn add(storage: &Storage, tally: &Tally) -> Result<bool> {
    #[derive(Deserialize)]
    struct Added {}
    let added = storage.sql().exec(ADD, values(tally))?;
    Ok(!added.to_array::<Added>()?.is_empty())
}

fn insert(storage: &Storage, tally: &Tally) -> Result<()> {
    storage.sql().exec(INSERT, values(tally)).map(drop)
}

fn rows(storage: &Storage, verdict: Verdict) -> Result<u64> {
    #[derive(Deserialize)]
    struct Rows {
        rows: u64,
    }
    let count = storage.sql().exec(COUNT, vec![name(verdict).into()])?;
    Ok(count.one::<Rows>()?.rows)
}

fn values(tally: &Tally) -> Vec<worker::SqlStorageValue> {
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX).into();
    vec![
        tally.host.as_str().into(),
        i64::from(tally.port).into(),
        name(tally.verdict).into(),
        tally.reason.as_str().into(),
        number(tally.count),
        number(tally.first_at),
        number(tally.last_at),
    ]
}

fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allowed => "allowed",
        Verdict::Denied => "denied",
        Verdict::Ended => "ended",
    }
}
