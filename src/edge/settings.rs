//! Settings of the deployment, each named in the log and in the error when it is missing or makes no sense.
use super::log;
use crate::environment::setting;
use crate::policy::{EgressPolicy, OwnHosts};
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
        .map_err(|_| invalid("CLOISTER_SECRET", "64 hex digits"))
}

/// What an environment may reach whose client did not say.
pub fn network_default(env: &Env) -> Result<EgressPolicy> {
    const NAME: &str = "NETWORK_DEFAULT";
    setting::network_default(&var(env, NAME)?)
        .ok_or_else(|| invalid(NAME, "'disabled' or 'enabled'"))
}

/// The deployment's own hosts, which no sandbox reaches.
pub fn own_hosts(env: &Env) -> Result<OwnHosts> {
    const NAME: &str = "OWN_HOSTS";
    setting::own_hosts(&var(env, NAME)?)
        .ok_or_else(|| invalid(NAME, "a list of host names, separated by commas"))
}

fn missing(name: &str) -> Error {
    log::event("setting_missing", &[("setting", name)]);
    format!("setting {name} is missing").into()
}

fn invalid(name: &str, expected: &str) -> Error {
    log::event("setting_invalid", &[("setting", name)]);
    format!("setting {name} is not {expected}").into()
}
