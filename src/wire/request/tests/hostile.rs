//! Bodies that are made to break a reader: each is a 400, at once.
use super::*;
use crate::wire::json::MAX_NESTING;

/// Every reader of a body.
fn read_all(body: &[u8]) -> Vec<ApiError> {
    let members = match parse_body(body) {
        Ok(members) => members,
        Err(error) => return vec![error],
    };
    let errors = [
        SessionCreate::read(members.clone()).err(),
        SessionUpdate::read(members.clone()).err(),
        AgentCreate::read(members.clone()).err(),
        AgentUpdate::read(members.clone()).err(),
        EventsCreate::read(members).err(),
    ];
    errors.into_iter().flatten().collect()
}

#[test]
fn what_is_no_good_json_is_refused_before_any_field() {
    let places = [
        ("", ""),
        (r#"{"model":"m","metadata":"#, "}"),
        (
            r#"{"model":"m","tools":[{"type":"function","name":"f","description":"","parameters":"#,
            "}]}",
        ),
        (
            r#"{"agent":{"model":"m","text":{"format":{"type":"json_schema","schema":"#,
            "}}}}",
        ),
        (
            r#"{"events":[{"type":"agent.session.input.tool_result","output":"#,
            "}]}",
        ),
    ];
    for (before, after) in places {
        for bad in [
            "[".repeat(100_000),
            "{\"a\":".repeat(100_000),
            format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
            format!(
                "{}1{}",
                "{\"a\":".repeat(MAX_NESTING),
                "}".repeat(MAX_NESTING + 1)
            ),
            r#"{"a":1,"a":1}"#.to_owned(),
            r#"{"a":{"b":1,"\u0062":2}}"#.into(),
            r#"{"\ud800":1}"#.into(),
            r#""\udc00\ud800""#.into(),
            r#"{"\ud83dx":1}"#.into(),
            "{\"a\u{0}\":1}".into(),
            "1e999".into(),
            "+1".into(),
            "{\"a\":1,}".into(),
        ] {
            let body = format!("{before}{bad}{after}");
            let errors = read_all(body.as_bytes());
            let [error] = &errors[..] else {
                unreachable!("{errors:?}")
            };
            assert_eq!((error.status, &error.param), (400, &None));
            assert!(error.message.len() < 120);
        }
    }
    assert_eq!(read_all(b"{\"model\":\"\xff\"}").len(), 1);
    assert_eq!(read_all(b"{\"\xed\xa0\x80\":1}").len(), 1);
}

#[test]
fn bad_names_and_keys_are_named_in_bounded_form() {
    let long = "k".repeat(1_000_000);
    for (body, param) in [
        (
            json!({"model": "m", "metadata": {"a\u{0}": "v"}}),
            "metadata",
        ),
        (json!({"model": "m", "metadata": {"": "v"}}), "metadata"),
        (
            json!({"model": "m", "metadata": {"k".repeat(65): "v"}}),
            "metadata",
        ),
        (json!({"model": "m", "metadata": {&long: "v"}}), "metadata"),
        (
            json!({"model": "m", "metadata": {"k": "\u{0}"}}),
            "metadata.k",
        ),
        (json!({"model": "m", "name": "\u{0}"}), "name"),
        (json!({"model": "\u{0}"}), "model"),
        (json!({"model": "m", "a\u{0}\n": 1}), "a\u{0}\n"),
        (json!({"model": "m", &long: 1}), &long[..256]),
        (
            json!({"model": "m", "tools": [{&long: 1, "type": "function"}]}),
            "tools[0].name",
        ),
    ] {
        let error = AgentCreate::read(object(&body)).unwrap_err();
        assert_eq!((error.status, error.param.as_deref()), (400, Some(param)));
        assert!(error.message.len() < 400 && !error.message.contains(['\0', '\n']));
    }
    // Many members, none known.
    let many: serde_json::Map<_, _> = (0..100_000).map(|i| (format!("k{i}"), json!(1))).collect();
    for error in read_all(json!(many).to_string().as_bytes()) {
        assert_eq!(error.status, 400);
    }
    let error = AgentCreate::read(object(&json!({"model": "m", "metadata": many}))).unwrap_err();
    assert_eq!(error.param.as_deref(), Some("metadata"));
}

#[test]
fn schemas_are_handed_on_whatever_they_say() {
    let text = r#"{"model":"m","tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","$ref":"file:///etc/passwd","a\u0000":"\u0000\u2028","pattern":"(a+)+$","n":-1.5e3}}]}"#;
    let create = AgentCreate::read(parse_body(text.as_bytes()).unwrap()).unwrap();
    let Change::Set(tools) = create.changes.tools else {
        unreachable!();
    };
    let json = serde_json::to_string(&tools).unwrap();
    assert!(json.contains(
        r#""parameters":{"type":"object","$ref":"file:///etc/passwd","a\u0000":"\u0000"#
    ));
    // No byte of it can end a line.
    assert!(!json.bytes().any(|byte| byte < 0x20));
}
