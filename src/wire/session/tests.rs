#![allow(clippy::unwrap_used)]
use cloister_protocol::Json;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

use super::*;
use crate::wire::item::{InputContent, ToolOutput};

fn json(text: &str) -> Json {
    Json::parse(text.into(), 9).unwrap()
}

/// The exact text of a value, and that it reads back.
fn assert_stored<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, text: &str) {
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    assert_eq!(serde_json::from_str::<T>(text).unwrap(), value);
}

#[test]
fn what_is_stored_reads_back() {
    for (arguments, message) in [(r#"{"b":1,"a":"x"}"#, ""), ("null", "?"), ("[1.50]", "\n")] {
        assert_stored(
            RequiredAction::FunctionCall {
                turn_id: "t".into(),
                call_id: "c".into(),
                name: "f".into(),
                arguments: json(arguments),
            },
            &format!(
                r#"{{"type":"function_call","turn_id":"t","call_id":"c","name":"f","arguments":{arguments}}}"#
            ),
        );
        let shown = serde_json::to_string(message).unwrap();
        assert_stored(
            RequiredAction::McpApprovalRequest {
                turn_id: "t".into(),
                request_id: "r".into(),
                request: McpToolCallRequest {
                    server_label: "s".into(),
                    name: None,
                    message: message.into(),
                    arguments: Some(json("{}")),
                },
            },
            &format!(
                r#"{{"type":"mcp_approval_request","turn_id":"t","request_id":"r","request":{{"type":"mcp_tool_call","server_label":"s","name":null,"message":{shown},"arguments":{{}}}}}}"#
            ),
        );
    }
    assert_stored(Tool::ToolSearch, r#"{"type":"tool_search"}"#);
    assert_stored(
        TextFormat::JsonSchema {
            schema: json(r#"{"type":"object"}"#),
        },
        r#"{"type":"json_schema","schema":{"type":"object"}}"#,
    );
    assert_stored(TextFormat::Text, r#"{"type":"text"}"#);
    assert_stored(Environment::None, r#"{"type":"none"}"#);
    assert_stored(ToolOutput::Text("[\"x\"]".into()), r#""[\"x\"]""#);
    assert_stored(
        ToolOutput::Content(vec![
            InputContent::InputText { text: "x".into() },
            InputContent::InputImage {
                image_url: "https://h".into(),
            },
        ]),
        r#"[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"https://h"}]"#,
    );
    assert_stored(
        SpendControl {
            limit: None,
            consumed: Some(3),
        },
        r#"{"limit":null,"consumed":3}"#,
    );
}

#[test]
fn what_is_broken_does_not_read() {
    for text in [
        r#"{"type":"function_call","turn_id":"t","name":"f"}"#,
        r#"{"type":"function_call","call_id":"c","name":"f"}"#,
        r#"{"type":"mcp_approval_request","turn_id":"t","request":{"server_label":"s","message":"m"}}"#,
        "{}",
        "null",
    ] {
        assert!(
            serde_json::from_str::<RequiredAction>(text).is_err(),
            "{text}"
        );
    }
    assert!(serde_json::from_str::<Tool>(r#"{"type":"function","name":"f"}"#).is_err());
    assert!(serde_json::from_str::<Environment>(r#"{"type":"openai_hosted","id":"e"}"#).is_err());
    for text in [
        r#"{"type":"input_text"}"#,
        r#"{"text":"a","image_url":"b"}"#,
    ] {
        assert!(
            serde_json::from_str::<InputContent>(text).is_err(),
            "{text}"
        );
    }
    assert!(serde_json::from_str::<ToolOutput>("7").is_err());
    assert!(serde_json::from_str::<ToolOutput>(r#"{"a":1}"#).is_err());
}
