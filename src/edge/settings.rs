//! Settings of the deployment, each named in the error when it is missing.
use crate::secret::{RootKey, Secret};
use worker::{Env, Error, Result};

/// A variable of wrangler.toml.
pub fn var(env: &Env, name: &str) -> Result<String> {
    env.var(name)
        .map(|value| value.to_string())
        .map_err(|_| missing(name))
}

/// A secret.
pub fn secret(env: &Env, name: &str) -> Result<Secret> {
    let value = env.secret(name).map_err(|_| missing(name))?.to_string();
    if value.is_empty() {
        return Err(missing(name));
    }
    Ok(Secret::new(value))
}

/// The root key, `CLOISTER_SECRET`.
pub fn root_key(env: &Env) -> Result<RootKey> {
    RootKey::parse(&secret(env, "CLOISTER_SECRET")?)
        .map_err(|_| Error::from("setting CLOISTER_SECRET is not 64 hex digits"))
}

fn missing(name: &str) -> Error {
    format!("setting {name} is missing").into()
}
