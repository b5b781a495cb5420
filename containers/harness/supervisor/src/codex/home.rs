//! Codex's own folder: configuration, environments, model catalog, rules for commands.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use cloister_protocol::AgentSettings;
use serde_json::Value;

use super::driver::ReadRollout;
use super::rollout::{self, Rollout};
use crate::settings::Settings;

const CONFIG: &str = include_str!("../../../codex/config.toml");
const ENVIRONMENTS: &str = include_str!("../../../codex/environments.toml");
const CATALOG: &str = include_str!("../../../codex/catalog.json");
const RULES: &str = include_str!("../../../codex/default.rules");
const INSTRUCTIONS: &str = include_str!("../../../codex/instructions.md");
const CONVERSATION: &str = include_str!("../../../codex/conversation.md");

/// Names of our models. They stand for one model, which the gateway chooses; Codex takes from them which tools it offers.
pub const MODELS: [&str; 4] = [
    "cloister",
    "cloister-search",
    "cloister-conversation",
    "cloister-conversation-search",
];

/// The model for an agent: with or without a sandbox, with or without tools that have to be searched for.
pub fn model(agent: &AgentSettings) -> &'static str {
    let [plain, search, conversation, conversation_search] = MODELS;
    match (agent.sandbox, agent.functions.iter().any(|f| f.deferred)) {
        (true, false) => plain,
        (true, true) => search,
        (false, false) => conversation,
        (false, true) => conversation_search,
    }
}

/// Writes the folder. What Codex itself keeps there, its history above all, is left alone.
pub fn write(settings: &Settings) -> io::Result<()> {
    let home = &settings.codex_home;
    std::fs::create_dir_all(sessions(settings))?;
    std::fs::create_dir_all(home.join("rules"))?;
    let config = CONFIG
        .replace("{home}", &home.to_string_lossy())
        .replace("{model_url}", &settings.model_url);
    std::fs::write(home.join("config.toml"), config)?;
    let environments = ENVIRONMENTS.replace("{exec_url}", &settings.exec_url);
    std::fs::write(home.join("environments.toml"), environments)?;
    std::fs::write(home.join("rules/default.rules"), RULES)?;
    std::fs::write(home.join("catalog.json"), catalog()?)
}

/// Where Codex keeps its native history: the rollouts of all threads.
pub fn sessions(settings: &Settings) -> PathBuf {
    settings.codex_home.join("sessions")
}

/// Reads histories. Codex names their files; none outside of its own folder is read.
pub fn rollout_reader(settings: &Settings) -> ReadRollout {
    let sessions = sessions(settings);
    Box::new(move |path| {
        let path = Path::new(path).canonicalize().ok()?;
        if !path.starts_with(sessions.canonicalize().ok()?) {
            return None;
        }
        let file = File::open(path).ok()?;
        if file.metadata().ok()?.len() > rollout::MAX_BYTES {
            return None;
        }
        Rollout::read(BufReader::new(file)).ok()
    })
}

/// The catalog: every one of our models, with its instructions.
fn catalog() -> io::Result<String> {
    let mut catalog: Value = serde_json::from_str(CATALOG)?;
    let plain = catalog["models"][0].take();
    let models = MODELS.map(|slug| {
        let mut model = plain.clone();
        model["slug"] = slug.into();
        model["base_instructions"] = INSTRUCTIONS.into();
        if slug != MODELS[0] {
            model["visibility"] = "hide".into();
        }
        if slug.contains("conversation") {
            // Without an environment Codex would still offer commands and edits, and refuse each.
            model["shell_type"] = "disabled".into();
            model["apply_patch_tool_type"] = Value::Null;
            model["base_instructions"] = CONVERSATION.into();
        }
        if slug.contains("search") {
            model["supports_search_tool"] = true.into();
        }
        model
    });
    catalog["models"] = models.to_vec().into();
    Ok(catalog.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn catalog_holds_our_models() {
        let catalog: Value = serde_json::from_str(&catalog().unwrap()).unwrap();
        let column = |name: &str| {
            MODELS.map(|slug| {
                let models = catalog["models"].as_array().unwrap();
                models.iter().find(|m| m["slug"] == slug).unwrap()[name].clone()
            })
        };
        let [i, c] = [INSTRUCTIONS, CONVERSATION].map(Value::from);
        assert_eq!(column("base_instructions"), [i.clone(), i, c.clone(), c]);
        assert_eq!(column("supports_search_tool"), [false, true, false, true]);
        assert_eq!(
            column("shell_type"),
            ["unified_exec", "unified_exec", "disabled", "disabled"]
        );
        assert_eq!(column("visibility"), ["list", "hide", "hide", "hide"]);
        assert!(CONFIG.contains(&format!("model = \"{}\"", MODELS[0])));
    }
}
