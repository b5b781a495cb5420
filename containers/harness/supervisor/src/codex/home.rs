//! Codex's own folder: configuration, environments, model catalog, rules for commands.

use std::io;

use crate::settings::Settings;

const CONFIG: &str = include_str!("../../../codex/config.toml");
const ENVIRONMENTS: &str = include_str!("../../../codex/environments.toml");
const CATALOG: &str = include_str!("../../../codex/catalog.json");
const RULES: &str = include_str!("../../../codex/default.rules");
const INSTRUCTIONS: &str = include_str!("../../../codex/instructions.md");

/// Writes the folder. What Codex itself keeps there, its history above all, is left alone.
pub fn write(settings: &Settings) -> io::Result<()> {
    let home = &settings.codex_home;
    std::fs::create_dir_all(home.join("sessions"))?;
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

/// The catalog with our instructions in it. One model: its name means nothing, the gateway chooses the real one.
fn catalog() -> io::Result<String> {
    let instructions = serde_json::to_string(INSTRUCTIONS)?;
    Ok(CATALOG.replace("\"{instructions}\"", &instructions))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn catalog_holds_our_model() {
        let catalog: serde_json::Value = serde_json::from_str(&catalog().unwrap()).unwrap();
        let model = &catalog["models"][0];
        assert_eq!(model["slug"], "cloister");
        assert_eq!(model["base_instructions"], INSTRUCTIONS);
        assert!(CONFIG.contains("model = \"cloister\""));
    }
}
