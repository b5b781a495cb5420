//! The schemas of `tests/schemas/`, against which the SDK tests check every answer: closed, complete, and in the
//! specification.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// The one object that is open where it lists members: a schema of the client's.
const OPEN: &str = "common.json/$defs/json_schema";

/// Each schema by the name of its file.
fn schemas() -> BTreeMap<String, Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap());
    let schemas = files.map(|file| {
        let text = std::fs::read_to_string(file.path()).unwrap();
        let name = file.file_name().into_string().unwrap();
        (name, serde_json::from_str(&text).unwrap())
    });
    schemas.filter(|(name, _)| name != "routes.json").collect()
}

fn members(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

/// Calls `visit` for each object of a schema with where it is.
fn walk(at: &str, value: &Value, visit: &mut impl FnMut(&str, &Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            visit(at, object);
            for (name, inner) in object {
                walk(&format!("{at}/{name}"), inner, visit);
            }
        }
        Value::Array(list) => {
            for inner in list {
                walk(at, inner, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_object_is_closed() {
    let mut open = Vec::new();
    for (name, schema) in schemas() {
        walk(&name, &schema, &mut |at, object| {
            // Conditions and refinements are about objects that are closed elsewhere.
            let refines = ["if", "then", "else", "allOf"]
                .iter()
                .any(|word| at.ends_with(&format!("/{word}")));
            let names = object.get("properties").is_some_and(Value::is_object);
            let closed = object.get("additionalProperties") == Some(&Value::Bool(false));
            if names && !refines && !closed && at != OPEN {
                open.push(at.to_owned());
            }
        });
    }
    assert!(open.is_empty(), "{open:#?}");
}

#[test]
fn every_reference_leads_to_a_schema() {
    let schemas = schemas();
    let mut broken = Vec::new();
    let mut check = |from: &str, reference: &str| {
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let file = match file {
            "" => from.split('/').next().unwrap(),
            file => file,
        };
        if schemas
            .get(file)
            .and_then(|schema| schema.pointer(pointer))
            .is_none()
        {
            broken.push(format!("{from}: {reference}"));
        }
    };
    for (name, schema) in &schemas {
        assert_eq!(schema["$id"], **name);
        walk(name, schema, &mut |at, object| {
            if let Some(Value::String(reference)) = object.get("$ref") {
                check(at, reference);
            }
        });
    }
    for (path, methods) in members(&routes()) {
        for statuses in members(methods).values() {
            for schema in members(statuses).values().filter_map(Value::as_str) {
                check(path, schema);
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_kind_of_event_is_one_of_its_own_name() {
    let event = &schemas()["event.json"];
    let kinds = members(&event["$defs"]);
    for (kind, schema) in kinds {
        assert_eq!(schema["properties"]["type"]["const"], **kind);
        assert_eq!(
            schema["properties"]["event_id"]["pattern"],
            "^evt_[0-9A-Za-z]+$"
        );
    }
    let listed: Vec<&str> = event["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["$ref"].as_str().unwrap())
        .collect();
    let named: Vec<String> = kinds.keys().map(|kind| format!("#/$defs/{kind}")).collect();
    assert_eq!(listed.len(), named.len());
    assert!(named.iter().all(|name| listed.contains(&name.as_str())));
}

#[test]
fn the_specification_has_every_endpoint_and_kind() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("SPECIFICATION.md")).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    let has = |name: &str| rows.iter().any(|row| row.contains(&format!("`{name}`")));
    let mut missing = Vec::new();
    for (path, methods) in members(&routes()) {
        let endpoints = members(methods)
            .keys()
            .map(|method| format!("{method} {path}"));
        missing.extend(endpoints.filter(|endpoint| !has(endpoint)));
    }
    let schemas = schemas();
    let kinds = members(&schemas["event.json"]["$defs"]).keys();
    missing.extend(kinds.filter(|kind| !has(kind)).cloned());
    for input in ["message", "cancel", "tool_result"] {
        let kind = format!("agent.session.input.{input}");
        if !has(&kind) {
            missing.push(kind);
        }
    }
    assert!(missing.is_empty(), "no row of a table has {missing:#?}");
}

/// What each method of each path answers.
fn routes() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("tests/schemas/routes.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}
