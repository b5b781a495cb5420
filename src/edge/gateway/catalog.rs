//! Sessions and saved agents in D1. Every statement takes the tenant from the principal.
use crate::edge::platform::now;
use crate::tenant::{Tenant, TenantHash};
use crate::wire::page::{rows_to_read, Page};
use crate::wire::query::{ListQuery, Order};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use worker::wasm_bindgen::JsValue;
use worker::{Env, Result};

/// Within this time after its row a session must be there, milliseconds.
const ARRIVAL_MS: u64 = 60_000;

/// What is listed. The tables have the same columns.
#[derive(Clone, Copy)]
pub enum Table {
    /// Sessions; their objects are the authority.
    Sessions,
    /// Saved agents.
    Agents,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Agents => "agents",
        }
    }
}

/// What the catalog knows of an id.
pub enum State {
    /// It is there.
    Live,
    /// It was there.
    Deleted,
    /// It never was, or is another tenant's.
    Missing,
}

/// A row with its version.
#[derive(Deserialize)]
pub struct Versioned {
    /// The resource's JSON.
    pub snapshot: String,
    /// Rises with each change.
    pub version: f64,
}

/// Only rows with these.
#[derive(Default)]
pub struct Filter<'a> {
    /// The agent of a session.
    pub agent_id: Option<&'a str>,
    /// All of these in its metadata.
    pub metadata: Option<&'a BTreeMap<String, String>>,
}

/// Looks an id up.
pub async fn state(env: &Env, table: Table, tenant: &Tenant, id: &str) -> Result<State> {
    #[derive(Deserialize)]
    struct Found {
        deleted_at: Option<f64>,
    }
    let select = format!(
        "SELECT deleted_at FROM {} WHERE tenant = ?1 AND id = ?2",
        table.name()
    );
    let found = env
        .d1("DB")?
        .prepare(select)
        .bind(&key(&tenant.hash(), id))?
        .first::<Found>(None)
        .await?;
    Ok(match found {
        Some(Found { deleted_at: None }) => State::Live,
        Some(Found {
            deleted_at: Some(_),
        }) => State::Deleted,
        None => State::Missing,
    })
}

/// Adds a row.
pub async fn insert(
    env: &Env,
    table: Table,
    tenant: &Tenant,
    id: &str,
    snapshot: String,
) -> Result<()> {
    let insert = format!(
        "INSERT INTO {} (tenant, id, created_at, version, snapshot) VALUES (?1, ?2, ?3, 1, ?4)",
        table.name()
    );
    let bindings = [
        tenant.hash().as_str().into(),
        id.into(),
        (now() as f64).into(),
        snapshot.into(),
    ];
    env.d1("DB")?
        .prepare(insert)
        .bind(&bindings)?
        .run()
        .await
        .map(drop)
}

/// A row that is not deleted.
pub async fn read(env: &Env, table: Table, tenant: &Tenant, id: &str) -> Result<Option<Versioned>> {
    let select = format!(
        "SELECT snapshot, version FROM {} WHERE tenant = ?1 AND id = ?2 AND deleted_at IS NULL",
        table.name()
    );
    env.d1("DB")?
        .prepare(select)
        .bind(&key(&tenant.hash(), id))?
        .first(None)
        .await
}

/// Replaces a row, if it still has `version`. Returns whether it had.
pub async fn replace(
    env: &Env,
    table: Table,
    tenant: &Tenant,
    id: &str,
    snapshot: String,
    version: f64,
) -> Result<bool> {
    let update = format!(
        "UPDATE {} SET snapshot = ?3, version = version + 1 \
         WHERE tenant = ?1 AND id = ?2 AND version = ?4 AND deleted_at IS NULL RETURNING version",
        table.name()
    );
    let mut bindings = key(&tenant.hash(), id).to_vec();
    bindings.extend([snapshot.into(), version.into()]);
    let replaced = env
        .d1("DB")?
        .prepare(update)
        .bind(&bindings)?
        .first::<f64>(Some("version"))
        .await?;
    Ok(replaced.is_some())
}

/// Marks a row as deleted. The row stays, so that cursors that name it stay valid.
pub async fn delete(env: &Env, table: Table, tenant: &Tenant, id: &str) -> Result<()> {
    let update = format!(
        "UPDATE {} SET deleted_at = ?3, snapshot = '' WHERE tenant = ?1 AND id = ?2 AND deleted_at IS NULL",
        table.name()
    );
    let mut bindings = key(&tenant.hash(), id).to_vec();
    bindings.push((now() as f64).into());
    env.d1("DB")?
        .prepare(update)
        .bind(&bindings)?
        .run()
        .await
        .map(drop)
}

/// Marks the row of a session that is not there as deleted, unless it is so new that the session may be on its way.
pub async fn delete_old(env: &Env, tenant: &Tenant, id: &str) -> Result<()> {
    let update = "UPDATE sessions SET deleted_at = ?3, snapshot = '' \
                  WHERE tenant = ?1 AND id = ?2 AND deleted_at IS NULL AND created_at < ?4";
    let mut bindings = key(&tenant.hash(), id).to_vec();
    let now = now();
    bindings.extend([
        (now as f64).into(),
        (now.saturating_sub(ARRIVAL_MS) as f64).into(),
    ]);
    env.d1("DB")?
        .prepare(update)
        .bind(&bindings)?
        .run()
        .await
        .map(drop)
}

/// A page of the list. `None` if the cursor names no row of the tenant.
pub async fn page(
    env: &Env,
    table: Table,
    tenant: &Tenant,
    query: &ListQuery,
    filter: &Filter<'_>,
) -> Result<Option<Page<Box<RawValue>>>> {
    #[derive(Deserialize)]
    struct Row {
        id: String,
        snapshot: String,
    }
    let db = env.d1("DB")?;
    let hash = tenant.hash();
    let (beyond, direction) = match query.order {
        Order::Ascending => (">", "ASC"),
        Order::Descending => ("<", "DESC"),
    };
    let mut bindings = vec![
        hash.as_str().into(),
        f64::from(rows_to_read(query.limit)).into(),
    ];
    let mut conditions = String::new();
    let table = table.name();
    if let Some(after) = &query.after {
        let select = format!("SELECT created_at FROM {table} WHERE tenant = ?1 AND id = ?2");
        let found = db
            .prepare(select)
            .bind(&key(&hash, after))?
            .first::<f64>(Some("created_at"))
            .await?;
        let Some(created_at) = found else {
            return Ok(None);
        };
        conditions.push_str(&format!(" AND (created_at, id) {beyond} (?3, ?4)"));
        bindings.extend([created_at.into(), after.as_str().into()]);
    }
    if let Some(agent) = filter.agent_id {
        bindings.push(agent.into());
        conditions.push_str(&format!(
            " AND json_extract(snapshot, '$.agent.id') = ?{}",
            bindings.len()
        ));
    }
    for (name, value) in filter.metadata.into_iter().flatten() {
        // The name is compared as text, never made part of a JSON path.
        bindings.extend([name.as_str().into(), value.as_str().into()]);
        let n = bindings.len();
        let matching = format!(
            "SELECT 1 FROM json_each(snapshot, '$.metadata') WHERE key = ?{} AND value = ?{n}",
            n - 1
        );
        conditions.push_str(&format!(" AND EXISTS ({matching})"));
    }
    let select = format!(
        "SELECT id, snapshot FROM {table} WHERE tenant = ?1 AND deleted_at IS NULL{conditions} \
         ORDER BY created_at {direction}, id {direction} LIMIT ?2"
    );
    let rows: Vec<Row> = db
        .prepare(&select)
        .bind(&bindings)?
        .all()
        .await?
        .results()?;
    let page = Page::new(rows, query.limit, |row| &row.id);
    Ok(Some(
        page.try_map(|row| RawValue::from_string(row.snapshot))?,
    ))
}

fn key(tenant: &TenantHash, id: &str) -> [JsValue; 2] {
    [tenant.as_str().into(), id.into()]
}
