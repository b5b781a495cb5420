//! What the environment of the container sets.
//!
//! Only the epoch is needed. A container that continues a session is given the grant for its history as well; the rest has
//! the value of the image and is changed by tests.

use std::path::PathBuf;

use cloister_protocol::backup::{BACKUP_HOST, RESTORE_VARIABLE};
use cloister_protocol::{EPOCH_VARIABLE, EXEC_HOST, MODEL_HOST, SUPERVISOR_PORT};

/// Where everything is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The Codex program. `CLOISTER_CODEX`.
    pub codex: PathBuf,
    /// Codex's own folder, made if it is missing. `CLOISTER_CODEX_HOME`.
    pub codex_home: PathBuf,
    /// Address the link is accepted on. `CLOISTER_LISTEN`.
    pub listen: String,
    /// Base URL of the model. `CLOISTER_MODEL_URL`.
    pub model_url: String,
    /// URL of the exec server. `CLOISTER_EXEC_URL`, or made from the epoch.
    pub exec_url: String,
    /// Folder where the agent works. `CLOISTER_WORKSPACE`.
    pub workspace: String,
    /// Base URL of the store. `CLOISTER_STORE_URL`.
    pub store_url: String,
    /// Grant for the native history to start with; none to start without one. `CLOISTER_RESTORE`.
    pub restore: Option<String>,
}

impl Settings {
    /// Reads the settings through `var`; none if one of them is missing or malformed.
    pub fn read(var: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let or = |name: &str, default: &str| var(name).unwrap_or_else(|| default.to_owned());
        // Strict: `parse` alone would take a plus sign.
        let epoch = var(EPOCH_VARIABLE).filter(|e| e.bytes().all(|b| b.is_ascii_digit()))?;
        let epoch: u64 = epoch.parse().ok()?;
        let settings = Self {
            codex: or("CLOISTER_CODEX", "/bin/codex").into(),
            codex_home: or("CLOISTER_CODEX_HOME", "/home/harness/codex").into(),
            listen: or("CLOISTER_LISTEN", &format!("0.0.0.0:{SUPERVISOR_PORT}")),
            model_url: or("CLOISTER_MODEL_URL", &format!("http://{MODEL_HOST}/v1")),
            exec_url: or("CLOISTER_EXEC_URL", &format!("ws://{EXEC_HOST}/{epoch}")),
            workspace: or("CLOISTER_WORKSPACE", cloister_protocol::WORKSPACE),
            store_url: or("CLOISTER_STORE_URL", &format!("http://{BACKUP_HOST}")),
            restore: var(RESTORE_VARIABLE),
        };
        // These three become part of quoted strings in configuration files.
        let plain = |s: &str| !s.chars().any(|c| c.is_control() || c == '"' || c == '\\');
        let home = settings.codex_home.to_str()?;
        (plain(home) && plain(&settings.model_url) && plain(&settings.exec_url)).then_some(settings)
    }
}

#[cfg(test)]
mod tests;
