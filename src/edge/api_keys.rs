//! Whose an API key is. D1 is asked once in a while for each key, not with each request.
use super::platform::{now, Recent};
use crate::tenant::Tenant;
use std::cell::RefCell;
use worker::{Env, Result};

/// How long an isolate believes what D1 said, milliseconds. A revoked key may work that much longer.
const BELIEVED_MS: u64 = 10_000;
/// Keys that an isolate remembers. Unknown ones are not remembered: there is no end of them.
const MOST: usize = 1024;

thread_local! {
    static KNOWN: RefCell<Recent<String, (Tenant, u64)>> = RefCell::new(Recent::new(MOST));
}

/// The tenant of the key with this hash, unless the key is unknown or revoked.
pub async fn tenant_of(hash: &str, env: &Env) -> Result<Option<Tenant>> {
    let known = KNOWN.with_borrow(|known| known.get(hash).cloned());
    if let Some((tenant, until)) = known {
        if now() < until {
            return Ok(Some(tenant));
        }
        KNOWN.with_borrow_mut(|known| known.remove(hash));
    }
    let tenant = env
        .d1("DB")?
        .prepare("SELECT tenant FROM api_keys WHERE hash = ?1 AND revoked_at IS NULL")
        .bind(&[hash.into()])?
        .first::<String>(Some("tenant"))
        .await?;
    let Some(Ok(tenant)) = tenant.map(Tenant::new) else {
        return Ok(None);
    };
    let entry = (tenant.clone(), now() + BELIEVED_MS);
    KNOWN.with_borrow_mut(|known| known.put(hash.to_owned(), entry));
    Ok(Some(tenant))
}
