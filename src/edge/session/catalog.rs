//! The copy of a session in D1, which lists are made of.
use crate::turn::Session;
use worker::{Env, Result};

/// What the catalog holds of a session.
pub struct Copy {
    tenant: String,
    id: String,
    snapshot: String,
}

impl Copy {
    /// The copy of a session as it is now.
    pub fn of(session: &Session) -> Result<Self> {
        Ok(Self {
            tenant: session.identity.tenant.as_str().to_owned(),
            id: session.public.id.clone(),
            snapshot: serde_json::to_string(&session.public)?,
        })
    }
}

/// Writes a copy, unless the catalog has a newer one or the session is deleted.
pub async fn publish(env: &Env, copy: Copy, version: u64) -> Result<()> {
    let update = "UPDATE sessions SET snapshot = ?1, version = ?2 WHERE tenant = ?3 AND id = ?4 AND version < ?2 AND deleted_at IS NULL";
    let bindings = [
        copy.snapshot.into(),
        (version as f64).into(),
        copy.tenant.into(),
        copy.id.into(),
    ];
    env.d1("DB")?
        .prepare(update)
        .bind(&bindings)?
        .run()
        .await
        .map(drop)
}
