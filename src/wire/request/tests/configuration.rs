//! Variables and set-up commands: what is confidential of an environment.
#![allow(clippy::panic)]
use super::*;
use crate::environment::{Confidential, SetupCommand};

type Configured = (BTreeMap<String, Confidential>, Vec<SetupCommand>);

fn read(name: &str, value: Value) -> Result<Configured, ApiError> {
    let wanted = create(with(&format!("/environment/{name}"), value))?;
    match wanted.environment {
        EnvironmentSpec::None => panic!("no environment"),
        EnvironmentSpec::Hosted { env, setup, .. } => Ok((env, setup)),
    }
}

fn env(value: Value) -> Result<BTreeMap<String, Confidential>, ApiError> {
    read("env", value).map(|(env, _)| env)
}

fn setup(value: Value) -> Result<Vec<SetupCommand>, ApiError> {
    read("setup_commands", value).map(|(_, setup)| setup)
}

/// Where it is refused, and that nothing of a value is told.
fn refused<T: std::fmt::Debug>(result: Result<T, ApiError>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.status, 400);
    assert!(!error.body().to_string().contains("canary"), "{error:?}");
    error.param.unwrap()
}

#[test]
fn variables_are_kept_as_they_are() {
    let values = json!({"A": "", "_b1": "x=y\n\"ß", "PRELOAD": "/x.so", "path": " "});
    let read = env(values.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), values);
    assert_eq!(env(json!(null)).unwrap(), BTreeMap::new());
    assert_eq!(env(json!({})).unwrap(), BTreeMap::new());
}

#[test]
fn names_that_something_depends_on_are_refused_by_name() {
    for name in [
        "PATH",
        "CODEX_HOME",
        "OPENAI_API_KEY",
        "CLOISTER_X",
        "CLOUDFLARE_X",
        "HTTPS_PROXY",
        "no_proxy",
        "SSL_CERT_FILE",
        "GIT_SSL_CAINFO",
        "1A",
        "a-b",
        "a.b",
        "ä",
        "",
    ] {
        let param = refused(env(json!({"A": "b", name: "canary"})));
        assert_eq!(param, format!("environment.env.{name}"));
    }
    let long = env(json!({"A".repeat(1 << 20): "canary"})).unwrap_err();
    assert!(long.body().to_string().len() < 1_000);
}

#[test]
fn variables_have_limits() {
    let many = |count: usize, bytes: usize| {
        let pairs = (0..count).map(|n| (format!("N{n:02}"), json!("x".repeat(bytes))));
        Value::Object(pairs.collect())
    };
    assert_eq!(env(many(64, 1)).unwrap().len(), 64);
    assert_eq!(refused(env(many(65, 1))), "environment.env");
    assert!(env(many(1, 32 << 10)).is_ok());
    assert_eq!(refused(env(many(1, (32 << 10) + 1))), "environment.env.N00");
    let wide = format!("{}canary", "ß".repeat(16 << 10));
    assert_eq!(refused(env(json!({ "A": wide }))), "environment.env.A");
    // Names count too.
    assert!(env(many(8, (32 << 10) - 3)).is_ok());
    assert_eq!(refused(env(many(8, (32 << 10) - 2))), "environment.env");
}

#[test]
fn what_is_no_map_of_texts_is_refused() {
    for (value, param) in [
        (json!([]), "environment.env"),
        (json!("A=canary"), "environment.env"),
        (json!({"A": null}), "environment.env.A"),
        (json!({"A": 1}), "environment.env.A"),
        (json!({"A": ["canary"]}), "environment.env.A"),
        (json!({"A": "canary\u{0}"}), "environment.env.A"),
    ] {
        assert_eq!(refused(env(value.clone())), param, "{value}");
    }
}

#[test]
fn commands_run_in_the_workspace_unless_they_say_where() {
    let commands = json!([
        {"command": "a && b"},
        {"command": "a && b", "cwd": null},
        {"command": "c\nd", "cwd": "/"},
        {"command": "e", "cwd": "/tmp/a..b/..."}
    ]);
    let read: Vec<(String, String)> = setup(commands)
        .unwrap()
        .into_iter()
        .map(|each| (each.command.0, each.cwd))
        .collect();
    let expected = [
        ("a && b", "/workspace"),
        ("a && b", "/workspace"),
        ("c\nd", "/"),
        ("e", "/tmp/a..b/..."),
    ];
    assert_eq!(
        read,
        expected.map(|(line, cwd)| (line.to_owned(), cwd.to_owned()))
    );
    assert_eq!(setup(json!(null)).unwrap(), []);
    assert_eq!(setup(json!([])).unwrap(), []);
}

#[test]
fn commands_have_limits() {
    let many =
        |count: usize, bytes: usize| json!(vec![json!({"command": "x".repeat(bytes)}); count]);
    assert_eq!(setup(many(32, 1)).unwrap().len(), 32);
    assert_eq!(refused(setup(many(33, 1))), "environment.setup_commands");
    assert!(setup(many(8, 32 << 10)).is_ok());
    assert_eq!(
        refused(setup(many(9, 32 << 10))),
        "environment.setup_commands"
    );
    assert_eq!(
        refused(setup(many(1, (32 << 10) + 1))),
        "environment.setup_commands[0].command"
    );
    let folder = |bytes: usize| {
        let cwd = format!("/{}", "a".repeat(bytes - 1));
        setup(json!([{"command": "true", "cwd": cwd}]))
    };
    assert!(folder(4096).is_ok());
    assert_eq!(refused(folder(4097)), "environment.setup_commands[0].cwd");
}

#[test]
fn what_is_no_command_is_refused_by_its_place() {
    for (value, member) in [
        (json!("canary"), ""),
        (json!(["canary"]), ""),
        (json!(null), ""),
        (json!({}), ".command"),
        (json!({"command": null}), ".command"),
        (json!({"command": ""}), ".command"),
        (json!({"command": ["canary"]}), ".command"),
        (json!({"command": "canary\u{0}"}), ".command"),
        (json!({"command": "canary", "cwd": ""}), ".cwd"),
        (json!({"command": "canary", "cwd": "canary"}), ".cwd"),
        (json!({"command": "canary", "cwd": "/canary/../b"}), ".cwd"),
        (json!({"command": "canary", "cwd": "/.."}), ".cwd"),
        (json!({"command": "canary", "cwd": "/canary\u{0}"}), ".cwd"),
        (json!({"command": "canary", "cwd": 1}), ".cwd"),
        (json!({"command": "canary", "env": {}}), ".env"),
    ] {
        let param = refused(setup(json!([{"command": "true"}, value])));
        assert_eq!(
            param,
            format!("environment.setup_commands[1]{member}"),
            "{value}"
        );
    }
    for value in [json!({}), json!("canary"), json!(1)] {
        assert_eq!(refused(setup(value)), "environment.setup_commands");
    }
}

#[test]
fn what_is_confidential_is_never_printed() {
    let environment = json!({"type": "openai_hosted", "env": {"TOKEN": "canary"}, "setup_commands": [{"command": "canary"}]});
    let wanted = create(with("/environment", environment)).unwrap();
    for printed in [format!("{wanted:?}"), format!("{wanted:#?}")] {
        assert!(
            printed.contains("TOKEN") && !printed.contains("canary"),
            "{printed}"
        );
    }
}
