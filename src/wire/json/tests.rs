#![allow(clippy::unwrap_used)]
use cloister_protocol::Json;

use super::*;

#[test]
fn reads_what_serde_json_reads() {
    for text in [
        "null",
        " true ",
        "[1,-1,1.5,1e3,18446744073709551615,-9223372036854775808]",
        r#"{"a":{"b":[{}]},"c":"\u00e9\ud83d\ude00"}"#,
        r#""\u0000""#,
    ] {
        assert_eq!(
            serde_json::to_value(parse(text.as_bytes()).unwrap()).unwrap(),
            serde_json::from_str::<serde_json::Value>(text).unwrap()
        );
    }
}

/// A model answers in the order of its schema, so that reasoning can come before a verdict.
#[test]
fn members_keep_their_order() {
    let text = r#"{"z":1,"a":{"y":[2.5,"\n"],"b":null},"m":true}"#;
    let json: Json = parse(text.as_bytes()).unwrap().to_json();
    assert_eq!(json.as_str(), text);
}

#[test]
fn bodies_of_very_many_values_are_refused() {
    let list = |n: usize| format!("[{}0]", "0,".repeat(n - 1));
    let most = MAX_VALUES as usize - 1;
    assert!(parse(list(most).as_bytes()).is_ok());
    for body in [
        list(most + 1),
        list(2_000_000),
        format!("[{}[]]", "[],".repeat(most)),
        format!("[{}{{}}]", "{\"a\":0},".repeat(most / 2 + 1)),
    ] {
        let error = parse(body.as_bytes()).err();
        assert_eq!(error, Some(ApiError::bad_json("it has too many values")));
    }
}

#[test]
fn an_empty_body_is_an_empty_object() {
    for body in ["", " \r\n\t", "null", " null ", "{}"] {
        assert_eq!(parse_body(body.as_bytes()).unwrap(), Object::default());
    }
}

#[test]
fn refuses_the_rest() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(parse(deep(MAX_NESTING).as_bytes()).is_ok());
    for (body, why) in [
        (
            "{\"a\":1,\"a\":2}".to_owned(),
            "a name occurs twice in one object",
        ),
        (
            "{\"a\":1,\"b\":2,\"a\":3}".into(),
            "a name occurs twice in one object",
        ),
        (
            "[{\"x\":{\"a\":1,\"\\u0061\":2}}]".into(),
            "a name occurs twice in one object",
        ),
        (deep(MAX_NESTING + 1), "it is nested too deeply"),
        (deep(100_000), "it is nested too deeply"),
        ("{\"a\":".repeat(100_000), "it is nested too deeply"),
        ("{} {}".into(), "it is not valid JSON"),
        ("{}x".into(), "it is not valid JSON"),
        ("{,}".into(), "it is not valid JSON"),
        ("\"\\ud800\"".into(), "it is not valid JSON"),
        ("[1e999]".into(), "it is not valid JSON"),
        ("NaN".into(), "it is not valid JSON"),
        ("\u{feff}{}".into(), "it is not valid JSON"),
        ("\"a\nb\"".into(), "it is not valid JSON"),
    ] {
        let error = parse(body.as_bytes()).unwrap_err();
        assert_eq!(
            error.message,
            format!("We could not parse the JSON body of your request: {why}.")
        );
        assert_eq!((error.status, error.param), (400, None));
    }
    assert_eq!(
        parse(b"\"\xff\"").unwrap_err(),
        ApiError::bad_json("it is not valid UTF-8")
    );
    for body in ["[]", "1", "\"\"", "false"] {
        assert_eq!(
            parse_body(body.as_bytes()).unwrap_err(),
            ApiError::bad_json("the body must be a JSON object")
        );
    }
    assert_eq!(
        parse_body(&vec![b' '; MAX_BODY + 1]).unwrap_err().status,
        413
    );
}
