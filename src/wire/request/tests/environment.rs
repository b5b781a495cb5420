//! What checkpoints leave out.
#![allow(clippy::panic)]
use super::*;

fn exclude(patterns: Value) -> Result<Vec<String>, ApiError> {
    let environment = json!({"type": "openai_hosted", "checkpoint": {"exclude": patterns}});
    let wanted = create(json!({"agent": {"model": "m"}, "environment": environment}))?;
    match wanted.environment {
        EnvironmentSpec::None => panic!("no environment"),
        EnvironmentSpec::Hosted { exclude, .. } => Ok(exclude),
    }
}

#[test]
fn patterns_are_kept_as_they_are_in_their_order() {
    let patterns = [
        "node_modules",
        "**/*.log",
        "a/**/b",
        "**",
        "*",
        "?",
        "a?b*c",
        ".git",
        "...",
        "build dir/größe",
        &"a".repeat(256),
        "a",
        "a",
    ];
    assert_eq!(exclude(json!(patterns)).unwrap(), patterns);
    assert_eq!(exclude(json!([])).unwrap(), [""; 0]);
    assert_eq!(exclude(json!(vec!["a"; 64])).unwrap().len(), 64);
    let none = json!({"type": "openai_hosted", "checkpoint": {}});
    let none = create(json!({"agent": {"model": "m"}, "environment": none})).unwrap();
    assert_eq!(none.environment, plain());
}

#[test]
fn what_is_no_pattern_is_refused_by_its_place() {
    let long = "a".repeat(257);
    let wide = "ß".repeat(129);
    for pattern in [
        "", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/../b", "a/..", "**a", "a**", "***",
        "a/**b", "a\\b", "[ab]", "a]", "{a,b}", "}", "!a", "a\nb", "a\0", "\u{7f}", "\u{85}",
        &long, &wide,
    ] {
        let error = exclude(json!(["a", pattern])).unwrap_err();
        assert_eq!(
            (error.status, error.param.as_deref()),
            (400, Some("environment.checkpoint.exclude[1]")),
            "{pattern}"
        );
    }
    for (value, param) in [
        (json!(null), "environment.checkpoint.exclude"),
        (json!("a"), "environment.checkpoint.exclude"),
        (json!({}), "environment.checkpoint.exclude"),
        (json!([1]), "environment.checkpoint.exclude[0]"),
        (json!([null]), "environment.checkpoint.exclude[0]"),
        (json!(vec!["a"; 65]), "environment.checkpoint.exclude"),
    ] {
        let error = exclude(value).unwrap_err();
        assert_eq!(error.status, 400);
        assert_eq!(error.param.as_deref(), Some(param));
    }
}

#[test]
fn a_conversation_has_no_workspace_to_leave_anything_out_of() {
    let environment = json!({"type": "none", "checkpoint": {"exclude": ["a"]}});
    let body = json!({"agent": {"model": "m"}, "environment": environment, "input": "hi"});
    assert_eq!(
        create(body).unwrap_err(),
        ApiError::unknown("environment.checkpoint")
    );
}
