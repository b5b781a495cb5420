//! What Codex's own schema says of everything we send and read, against what it said when we last looked.
//!
//! `CLOISTER_REGENERATE=1 cargo test -p cloister-supervisor --test schema` writes it anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

/// The schema, one definition a line: its name and its JSON without descriptions.
const KNOWN: &str = include_str!("schema/codex.txt");
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schema/codex.txt");

/// What we send and read; definitions that these refer to belong to it.
const ROOTS: [&str; 26] = [
    "AgentMessageDeltaNotification",
    "CommandExecutionOutputDeltaNotification",
    "DynamicToolCallParams",
    "DynamicToolCallResponse",
    "InitializeParams",
    "InitializeResponse",
    "ItemCompletedNotification",
    "ItemStartedNotification",
    "McpServerElicitationRequestParams",
    "McpServerElicitationRequestResponse",
    "ReasoningSummaryTextDeltaNotification",
    "ServerRequestResolvedNotification",
    "ThreadBackgroundTerminalsCleanParams",
    "ThreadInjectItemsParams",
    "ThreadReadParams",
    "ThreadReadResponse",
    "ThreadResumeParams",
    "ThreadStartParams",
    "ThreadStartResponse",
    "ThreadTokenUsageUpdatedNotification",
    "TurnCompletedNotification",
    "TurnInterruptParams",
    "TurnStartParams",
    "TurnStartResponse",
    "TurnStartedNotification",
    "TurnSteerParams",
];

#[test]
fn codex_speaks_as_it_did() {
    let codex =
        std::env::var_os("CLOISTER_CODEX").expect("CLOISTER_CODEX must name the codex program");
    let dir = tempfile::tempdir().unwrap();
    let status = std::process::Command::new(codex)
        .args([
            "app-server",
            "generate-json-schema",
            "--experimental",
            "--out",
        ])
        .arg(dir.path())
        .env("CODEX_HOME", dir.path())
        .status()
        .unwrap();
    assert!(status.success());
    let now = lines(dir.path());
    if std::env::var_os("CLOISTER_REGENERATE").is_some() {
        let text: String = now
            .iter()
            .map(|(name, json)| format!("{name} {json}\n"))
            .collect();
        return std::fs::write(FILE, text).unwrap();
    }
    let known: BTreeMap<_, _> = KNOWN
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let mut changed: Vec<String> = Vec::new();
    for (name, json) in &now {
        match known.get(name.as_str()) {
            None => changed.push(format!("new: {name} {json}")),
            Some(old) if old != json => {
                changed.push(format!("changed: {name}\n  was {old}\n  is  {json}"))
            }
            Some(_) => {}
        }
    }
    let gone = known.keys().filter(|name| !now.contains_key(**name));
    changed.extend(gone.map(|name| format!("gone: {name}")));
    assert!(
        changed.is_empty(),
        "Codex's schema has changed. See to what is affected, then set CLOISTER_REGENERATE=1 and run this again.\n{}",
        changed.join("\n")
    );
}

/// All definitions that we need, by name.
fn lines(dir: &Path) -> BTreeMap<String, String> {
    let mut all = Map::new();
    for (file, nested) in [
        ("codex_app_server_protocol.schemas.json", true),
        ("codex_app_server_protocol.v2.schemas.json", false),
    ] {
        let mut schema: Value =
            serde_json::from_slice(&std::fs::read(dir.join(file)).unwrap()).unwrap();
        let Value::Object(mut definitions) = schema["definitions"].take() else {
            panic!("no definitions in {file}")
        };
        if nested {
            definitions.remove("v2");
        }
        all.extend(definitions);
    }
    let mut lines = BTreeMap::new();
    let mut wanted: Vec<String> = ROOTS.map(str::to_owned).to_vec();
    while let Some(name) = wanted.pop() {
        if lines.contains_key(&name) {
            continue;
        }
        let definition = all.get(&name).unwrap_or_else(|| panic!("{name} is gone"));
        references(definition, &mut wanted);
        lines.insert(name, plain(definition).to_string());
    }
    for name in ["ServerNotification", "ServerRequest"] {
        let variants = all[name]["oneOf"].as_array().unwrap();
        let mut methods: Vec<_> = variants
            .iter()
            .map(|v| v["properties"]["method"]["enum"][0].as_str().unwrap())
            .collect();
        methods.sort_unstable();
        lines.insert(format!("{name}.method"), Value::from(methods).to_string());
    }
    lines
}

fn references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str() {
                    Some(path) if name == "$ref" => {
                        names.push(path.rsplit('/').next().unwrap().to_owned())
                    }
                    _ => references(value, names),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, names)),
        _ => {}
    }
}

fn plain(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .filter(|(name, value)| {
                !(["$schema", "title", "description"].contains(&name.as_str()) && value.is_string())
            })
            .map(|(name, value)| (name.clone(), plain(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(values) => values.iter().map(plain).collect(),
        other => other.clone(),
    }
}
