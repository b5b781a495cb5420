//! The copy of a session in D1, which lists are made of.
use crate::turn::Session;
use worker::{Env, Result};

/// Writes the copy, unless the catalog has a newer one or the session is deleted.
pub async fn publish(env: &Env, session: &Session) -> Result<()> {
    let update = "UPDATE sessions SET snapshot = ?1, version = ?2 WHERE tenant = ?3 AND id = ?4 AND version < ?2 AND deleted_at IS NULL";
    let snapshot = serde_json::to_string(&session.public)?;
    let bindings = [
        snapshot.into(),
        (session.version as f64).into(),
        session.identity.tenant.as_str().into(),
        session.public.id.as_str().into(),
    ];
    env.d1("DB")?
        .prepare(update)
        .bind(&bindings)?
        .run()
        .await
        .map(drop)
}
