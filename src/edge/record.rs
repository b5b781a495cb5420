//! The rows in which HarnessDO and SandboxDO keep what they must remember, each a JSON text under a name.
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use worker::{Result, Storage};

#[derive(Deserialize)]
struct Row {
    json: String,
}

/// Makes the table. The constructor writes nothing else.
pub fn init(storage: &Storage) -> Result<()> {
    let create = "CREATE TABLE IF NOT EXISTS records (name TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID";
    storage.sql().exec(create, None).map(drop)
}

/// Reads a row.
pub fn load<T: DeserializeOwned>(storage: &Storage, name: &str) -> Result<Option<T>> {
    let select = "SELECT json FROM records WHERE name = ?";
    let rows = storage
        .sql()
        .exec(select, vec![name.into()])?
        .to_array::<Row>()?;
    rows.first()
        .map(|row| Ok(serde_json::from_str(&row.json)?))
        .transpose()
}

/// Writes a row.
pub fn save<T: Serialize>(storage: &Storage, name: &str, value: &T) -> Result<()> {
    let json = serde_json::to_string(value)?;
    let replace = "INSERT OR REPLACE INTO records VALUES (?, ?)";
    storage
        .sql()
        .exec(replace, vec![name.into(), json.into()])
        .map(drop)
}

/// Removes a row.
pub fn remove(storage: &Storage, name: &str) -> Result<()> {
    let delete = "DELETE FROM records WHERE name = ?";
    storage.sql().exec(delete, vec![name.into()]).map(drop)
}

/// Reads the rows whose names begin with `prefix`, in the order of their names.
pub fn load_all<T: DeserializeOwned>(storage: &Storage, prefix: &str) -> Result<Vec<T>> {
    let select = "SELECT json FROM records WHERE substr(name, 1, ?) = ? ORDER BY name";
    let length = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
    let rows = storage
        .sql()
        .exec(select, vec![length.into(), prefix.into()])?
        .to_array::<Row>()?;
    rows.iter()
        .map(|row| Ok(serde_json::from_str(&row.json)?))
        .collect()
}

/// Removes the rows whose names begin with `prefix` and end with `suffix`.
pub fn remove_all(storage: &Storage, prefix: &str, suffix: &str) -> Result<()> {
    let delete = "DELETE FROM records WHERE substr(name, 1, length(?1)) = ?1 AND substr(name, length(name) + 1 - length(?2)) = ?2";
    storage
        .sql()
        .exec(delete, vec![prefix.into(), suffix.into()])
        .map(drop)
}

/// Refuses to go on for an object whose rows could not be read.
pub fn require(readable: bool) -> Result<()> {
    match readable {
        true => Ok(()),
        false => Err("what this object stored cannot be read".into()),
    }
}
