//! The single row in which HarnessDO and SandboxDO keep what they must remember.
use serde::{Deserialize, Serialize};
use worker::{Result, Storage};

#[derive(Deserialize)]
struct Row {
    json: String,
}

/// Makes the table. The constructor writes nothing else.
pub fn init(storage: &Storage) -> Result<()> {
    storage.sql().exec("CREATE TABLE IF NOT EXISTS record (id INTEGER PRIMARY KEY CHECK (id = 1), json TEXT NOT NULL)", None).map(drop)
}

/// Reads the row; none is an object that never was used.
pub fn load<T: Default + for<'a> Deserialize<'a>>(storage: &Storage) -> Result<T> {
    let rows = storage
        .sql()
        .exec("SELECT json FROM record", None)?
        .to_array::<Row>()?;
    rows.first().map_or_else(
        || Ok(T::default()),
        |row| Ok(serde_json::from_str(&row.json)?),
    )
}

/// Writes the row.
pub fn save<T: Serialize>(storage: &Storage, record: &T) -> Result<()> {
    let json = serde_json::to_string(record)?;
    storage
        .sql()
        .exec(
            "INSERT OR REPLACE INTO record VALUES (1, ?)",
            vec![json.into()],
        )
        .map(drop)
}
