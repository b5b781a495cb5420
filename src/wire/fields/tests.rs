#![allow(clippy::unwrap_used)]
use serde_json::json;

use super::*;

fn body(value: serde_json::Value) -> Fields {
    let value = crate::wire::json::parse(value.to_string().as_bytes()).unwrap();
    Fields::of(value, String::new()).unwrap()
}

fn said(error: ApiError) -> (String, String) {
    assert_eq!(
        (error.status, error.kind, error.code),
        (400, "invalid_request_error", Some("invalid_request_error"))
    );
    (error.message, error.param.unwrap_or_default())
}

#[test]
fn strings_have_a_length_in_characters() {
    for (value, expected) in [
        (json!("ab"), Ok(Some("ab".to_owned()))),
        (json!("żółć"), Ok(Some("żółć".into()))),
        (json!(null), Ok(None)),
        (json!("a"), Err("Invalid 's': string too short. Expected a string with minimum length 2, but got a string with length 1 instead.")),
        (json!("abcde"), Err("Invalid 's': string too long. Expected a string with maximum length 4, but got a string with length 5 instead.")),
        (json!("a\u{0}b"), Err("Invalid 's': the NUL character is not allowed.")),
        (json!(1), Err("Invalid type for 's': expected a string, but got an integer instead.")),
        (json!(1.5), Err("Invalid type for 's': expected a string, but got a decimal number instead.")),
        (json!([]), Err("Invalid type for 's': expected a string, but got an array instead.")),
    ] {
        let read = body(json!({"s": value})).string("s", 2, 4).map_err(said);
        assert_eq!(read, expected.map_err(|text| (text.to_owned(), "s".to_owned())));
    }
    assert_eq!(
        said(body(json!({})).required_string("s", 0, 1).unwrap_err()).0,
        "Missing required parameter: 's'."
    );
    let null = body(json!({"s": null}))
        .required_string("s", 0, 1)
        .unwrap_err();
    assert_eq!(
        said(null).0,
        "Invalid type for 's': expected a string, but got null instead."
    );
}

#[test]
fn integers_are_integers() {
    for (value, expected) in [
        (json!(1), Ok(Some(1))),
        (json!(9), Ok(Some(9))),
        (json!(0), Err("Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead.")),
        (json!(10), Err("Invalid 'n': integer above maximum value. Expected a value <= 9, but got 10 instead.")),
        (json!(u64::MAX), Err("Invalid 'n': integer above maximum value. Expected a value <= 9, but got 9223372036854775807 instead.")),
        (json!(1.0), Err("Invalid type for 'n': expected an integer, but got a decimal number instead.")),
        (json!("1"), Err("Invalid type for 'n': expected an integer, but got a string instead.")),
        (json!(true), Err("Invalid type for 'n': expected an integer, but got a boolean instead.")),
    ] {
        let read = body(json!({"n": value})).integer("n", 1, 9).map_err(|e| said(e).0);
        assert_eq!(read, expected.map_err(str::to_owned));
    }
}

#[test]
fn words_are_compared_exactly() {
    let words = [("low", 1), ("high", 2)];
    assert_eq!(body(json!({"w": "high"})).one_of("w", &words), Ok(Some(2)));
    for value in ["HIGH", "", " low", "highest"] {
        let (text, param) = said(body(json!({"w": value})).one_of("w", &words).unwrap_err());
        assert_eq!(
            text,
            format!("Invalid value: '{value}'. Supported values are: 'low' and 'high'.")
        );
        assert_eq!(param, "w");
    }
    let long = said(
        body(json!({"w": "x".repeat(100_000)}))
            .one_of("w", &words)
            .unwrap_err(),
    )
    .0;
    assert!(long.len() < 200);
}

#[test]
fn paths_name_the_field() {
    let mut outer = body(json!({"agent": {"list": [{"a": 1}, {"oops": 1}]}}));
    let mut agent = outer.object("agent").unwrap().unwrap();
    let elements = agent.array("list", 2).unwrap().unwrap();
    let (last, path) = elements.into_iter().next_back().unwrap();
    let (text, param) = said(Fields::of(last, path).unwrap().finish().unwrap_err());
    assert_eq!(
        (text.as_str(), param.as_str()),
        (
            "Unknown parameter: 'agent.list[1].oops'.",
            "agent.list[1].oops"
        )
    );
    assert_eq!(outer.finish(), Ok(()));
    let error = body(json!({"list": [1, 2, 3]}))
        .array("list", 2)
        .unwrap_err();
    assert_eq!(said(error).0, "Invalid 'list': array too long. Expected an array with maximum length 2, but got an array with length 3 instead.");
}

#[test]
fn metadata_is_a_small_map_of_strings() {
    let pairs = |n: usize| {
        (0..n)
            .map(|i| (format!("k{i}"), json!("v")))
            .collect::<serde_json::Map<_, _>>()
    };
    assert_eq!(
        body(json!({"m": pairs(16)})).metadata("m").unwrap().len(),
        16
    );
    assert!(body(json!({"m": pairs(17)})).metadata("m").is_err());
    for (map, param) in [
        (json!({"k": 1}), "m.k"),
        (json!({"k": null}), "m.k"),
        (json!({"k": "v".repeat(513)}), "m.k"),
        (json!({"k": "\u{0}"}), "m.k"),
        (json!({"": "v"}), "m"),
        (json!({"k".repeat(65): "v"}), "m"),
        (json!([]), "m"),
    ] {
        assert_eq!(
            said(body(json!({"m": map})).metadata("m").unwrap_err()).1,
            param
        );
    }
    let most = json!({"k".repeat(64): "v".repeat(512), "e": ""});
    assert!(body(json!({"m": most})).metadata("m").is_ok());
    assert_eq!(
        body(json!({"m": null})).metadata("m").unwrap(),
        BTreeMap::new()
    );
}

#[test]
fn what_is_not_built_is_named() {
    let (text, _) = said(
        body(json!({"a": null, "b": {}}))
            .unsupported(&["a", "b"])
            .unwrap_err(),
    );
    assert_eq!(text, "'b' is not supported by this deployment yet.");
    assert!(body(json!({"l": []})).unsupported_list("l").is_ok());
    assert!(body(json!({"l": [1]})).unsupported_list("l").is_err());
    assert!(body(json!({"l": "x"})).unsupported_list("l").is_err());
}
