//! Sessions in D1. Every statement takes the tenant from the principal.
use crate::edge::platform::now;
use crate::tenant::Tenant;
use crate::wire::page::rows_to_read;
use crate::wire::query::{Order, SessionListQuery};
use crate::wire::session::Session;
use serde::Deserialize;
use worker::{Env, Result};

/// What the catalog knows of an id.
pub enum State {
    /// A session of this tenant.
    Live,
    /// It was one.
    Deleted,
    /// It never was, or is another tenant's.
    Missing,
}

/// A row of the list.
#[derive(Deserialize)]
pub struct Row {
    /// The session.
    pub id: String,
    /// Its newest copy.
    pub snapshot: String,
}

/// Looks a session up.
pub async fn state(env: &Env, tenant: &Tenant, id: &str) -> Result<State> {
    #[derive(Deserialize)]
    struct Found {
        deleted_at: Option<u64>,
    }
    let select = env
        .d1("DB")?
        .prepare("SELECT deleted_at FROM sessions WHERE tenant = ?1 AND id = ?2");
    let found = select
        .bind(&[tenant.hash().as_str().into(), id.into()])?
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

/// Adds a session that is about to be made.
pub async fn insert(env: &Env, tenant: &Tenant, session: &Session) -> Result<()> {
    let insert = "INSERT INTO sessions (tenant, id, created_at, version, snapshot) VALUES (?1, ?2, ?3, 1, ?4)";
    let snapshot = serde_json::to_string(session)?;
    let bindings = [
        tenant.hash().as_str().into(),
        session.id.as_str().into(),
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

/// Marks a session as deleted. The row stays, so that cursors that name it stay valid.
pub async fn delete(env: &Env, tenant: &Tenant, id: &str) -> Result<()> {
    let update = "UPDATE sessions SET deleted_at = ?3, snapshot = '' WHERE tenant = ?1 AND id = ?2 AND deleted_at IS NULL";
    let bindings = [
        tenant.hash().as_str().into(),
        id.into(),
        (now() as f64).into(),
    ];
    env.d1("DB")?
        .prepare(update)
        .bind(&bindings)?
        .run()
        .await
        .map(drop)
}

/// Rows of the list beyond the cursor, one more than the page has. `None` if the cursor names no session of the tenant.
pub async fn list(
    env: &Env,
    tenant: &Tenant,
    query: &SessionListQuery,
) -> Result<Option<Vec<Row>>> {
    #[derive(Deserialize)]
    struct Cursor {
        created_at: f64,
    }
    let db = env.d1("DB")?;
    let hash = tenant.hash();
    let (beyond, direction) = match query.page.order {
        Order::Ascending => (">", "ASC"),
        Order::Descending => ("<", "DESC"),
    };
    let mut bindings = vec![
        hash.as_str().into(),
        f64::from(rows_to_read(query.page.limit)).into(),
    ];
    let mut conditions = String::new();
    if let Some(after) = &query.page.after {
        let select = db.prepare("SELECT created_at FROM sessions WHERE tenant = ?1 AND id = ?2");
        let found = select
            .bind(&[hash.as_str().into(), after.as_str().into()])?
            .first::<Cursor>(None)
            .await?;
        let Some(Cursor { created_at }) = found else {
            return Ok(None);
        };
        conditions.push_str(&format!(" AND (created_at, id) {beyond} (?3, ?4)"));
        bindings.extend([created_at.into(), after.as_str().into()]);
    }
    if let Some(agent) = &query.agent_id {
        bindings.push(agent.as_str().into());
        conditions.push_str(&format!(
            " AND json_extract(snapshot, '$.agent.id') = ?{}",
            bindings.len()
        ));
    }
    for (key, value) in &query.metadata {
        // The key is compared as text, never made part of a JSON path.
        bindings.extend([key.as_str().into(), value.as_str().into()]);
        let n = bindings.len();
        let matching = format!(
            "SELECT 1 FROM json_each(snapshot, '$.metadata') WHERE key = ?{} AND value = ?{n}",
            n - 1
        );
        conditions.push_str(&format!(" AND EXISTS ({matching})"));
    }
    let select = format!(
        "SELECT id, snapshot FROM sessions WHERE tenant = ?1 AND deleted_at IS NULL{conditions} \
         ORDER BY created_at {direction}, id {direction} LIMIT ?2"
    );
    db.prepare(&select)
        .bind(&bindings)?
        .all()
        .await?
        .results()
        .map(Some)
}
