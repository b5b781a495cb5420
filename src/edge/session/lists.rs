//! Pages of what a session holds, as the API answers them.
use crate::wire::page::{rows_to_read, Page};
use crate::wire::query::{ListQuery, Order};
use serde::Deserialize;
use serde_json::value::RawValue;
use worker::{Result, SqlStorageValue, Storage};

/// Which list.
#[derive(Clone, Copy)]
pub enum List<'a> {
    /// Items of a conversation: the session's own, or a subagent's.
    Items {
        /// The subagent; empty for the session's own.
        subagent: &'a str,
    },
    /// One turn's items.
    ItemsOf {
        /// The turn.
        turn: &'a str,
    },
    /// Turns: the session's own, or a subagent's.
    Turns {
        /// The subagent; empty for the session's own.
        subagent: &'a str,
    },
    /// All subagents.
    Subagents,
    /// All artifacts.
    Artifacts,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    json: String,
}

#[derive(Deserialize)]
struct Position {
    position: i64,
}

/// A page. `None` if the cursor names nothing in this list.
pub fn page(storage: &Storage, list: List<'_>, query: &ListQuery) -> Result<Option<Box<RawValue>>> {
    let (table, filter) = match list {
        List::Items { subagent } => ("items", Some(("subagent", subagent))),
        List::ItemsOf { turn } => ("items", Some(("turn_id", turn))),
        List::Turns { subagent } => ("turns", Some(("subagent", subagent))),
        List::Subagents => ("subagents", None),
        List::Artifacts => ("artifacts", None),
    };
    // What is deleted is still a cursor.
    let visible = match list {
        List::Artifacts => "deleted = 0",
        List::Items { .. } | List::ItemsOf { .. } | List::Turns { .. } | List::Subagents => "TRUE",
    };
    let (beyond, direction) = match query.order {
        Order::Ascending => (">", "ASC"),
        Order::Descending => ("<", "DESC"),
    };
    let mut bindings: Vec<SqlStorageValue> = Vec::new();
    let mut condition = "TRUE".to_owned();
    if let Some((column, value)) = filter {
        condition = format!("{column} = ?");
        bindings.push(value.into());
    }
    if let Some(after) = &query.after {
        let select = format!("SELECT position FROM {table} WHERE id = ? AND {condition}");
        let mut cursor: Vec<SqlStorageValue> = vec![after.as_str().into()];
        cursor.extend(filter.map(|(_, value)| value.into()));
        let found = storage.sql().exec(&select, cursor)?;
        let Some(found) = found.to_array::<Position>()?.into_iter().next() else {
            return Ok(None);
        };
        condition.push_str(&format!(" AND position {beyond} ?"));
        bindings.push(found.position.into());
    }
    bindings.push(i64::from(rows_to_read(query.limit)).into());
    let select = format!(
        "SELECT id, json FROM {table} WHERE {condition} AND {visible} ORDER BY position {direction} LIMIT ?"
    );
    let rows = storage.sql().exec(&select, bindings)?.to_array::<Row>()?;
    let page = Page::new(rows, query.limit, |row| &row.id);
    let page = page.try_map(|row| RawValue::from_string(row.json))?;
    Ok(Some(serde_json::value::to_raw_value(&page)?))
}

/// A page of a list that has nothing.
pub fn empty(query: &ListQuery) -> Result<Box<RawValue>> {
    let page = Page::new(Vec::<Row>::new(), query.limit, |row| &row.id);
    let page = page.try_map(|row| RawValue::from_string(row.json))?;
    Ok(serde_json::value::to_raw_value(&page)?)
}

/// A turn of the session's own agent, or of a subagent.
pub fn turn(storage: &Storage, id: &str, subagent: &str) -> Result<Option<Box<RawValue>>> {
    let select = "SELECT id, json FROM turns WHERE id = ? AND subagent = ?";
    one(storage, select, vec![id.into(), subagent.into()])
}

/// A subagent.
pub fn subagent(storage: &Storage, id: &str) -> Result<Option<Box<RawValue>>> {
    one(
        storage,
        "SELECT id, json FROM subagents WHERE id = ?",
        vec![id.into()],
    )
}

fn one(
    storage: &Storage,
    select: &str,
    bindings: Vec<SqlStorageValue>,
) -> Result<Option<Box<RawValue>>> {
    let rows = storage.sql().exec(select, bindings)?.to_array::<Row>()?;
    let row = rows.into_iter().next();
    Ok(row.map(|row| RawValue::from_string(row.json)).transpose()?)
}
