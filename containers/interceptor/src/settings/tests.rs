#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn nothing_resolves_at_first() {
    let settings = Settings::new(1);
    assert!(!settings.allows("a.example") && !settings.allows("") && !settings.internet);
}

#[test]
fn absent_fields_stay() {
    let first = Settings::new(4000)
        .updated(br#"{"internet":{"enabled":true},"dns":{"allowHostnames":["A.example","*.b"]}}"#)
        .unwrap();
    assert!(
        first.internet && first.allows("a.example") && first.allows("x.b") && !first.allows("c")
    );
    let second = first.updated(br#"{"port":4001}"#).unwrap();
    assert_eq!(
        second,
        Settings {
            egress_port: 4001,
            ..first.clone()
        }
    );
    assert_eq!(
        second.updated(br#"{"dns":{},"internet":{},"new":1}"#),
        Some(second.clone())
    );
    assert!(!second
        .updated(br#"{"dns":{"allowHostnames":[]}}"#)
        .unwrap()
        .allows("a.example"));
}

#[test]
fn refuses_what_is_not_well_formed() {
    let many = format!(
        "{{\"dns\":{{\"allowHostnames\":[{}]}}}}",
        vec!["\"a\""; MAX_PATTERNS + 1].join(",")
    );
    let long = format!(
        "{{\"dns\":{{\"allowHostnames\":[\"{}\"]}}}}",
        "a".repeat(300)
    );
    let deep = "[".repeat(100_000);
    for body in [
        "",
        "{",
        "[]x",
        "1",
        r#"{"port":0}"#,
        r#"{"port":-1}"#,
        r#"{"port":65536}"#,
        r#"{"port":"1"}"#,
        r#"{"dns":[1]}"#,
        &many,
        &long,
        &deep,
    ] {
        assert_eq!(
            Settings::new(1).updated(body.as_bytes()),
            None,
            "{:.40}",
            body
        );
    }
}
