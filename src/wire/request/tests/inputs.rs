//! What clients say.
use super::*;
use crate::wire::item::ToolOutput;
use cloister_protocol::Decision;

#[test]
fn events_are_messages_and_cancels() {
    let content = json!([{"type": "input_text", "text": "hi"}]);
    let read = events(json!({"events": [
        {"type": "agent.session.input.message", "input": [{"role": "user", "content": content}]},
        {"type": "agent.session.input.cancel"}
    ]}));
    let expected = vec![
        SessionInput::Message {
            input: vec![message("hi")],
        },
        SessionInput::Cancel,
    ];
    assert_eq!(read.unwrap().events, expected);
    assert_eq!(events(json!({"events": []})).unwrap().events, vec![]);

    for (body, param) in [
        (json!({}), "events"),
        (json!(null), "events"),
        (json!({"events": null}), "events"),
        (json!({"events": {}}), "events"),
        (json!({"events": [], "stream": true}), "stream"),
        (json!({"events": [null]}), "events[0]"),
        (json!({"events": [{}]}), "events[0].type"),
        (
            json!({"events": [{"type": "agent.session.input.nothing"}]}),
            "events[0].type",
        ),
        (
            json!({"events": [{"type": "agent.session.input.cancel", "turn_id": "t"}]}),
            "events[0].turn_id",
        ),
        (
            json!({"events": [{"type": "agent.session.input.message"}]}),
            "events[0].input",
        ),
        (
            json!({"events": [{"type": "agent.session.input.message", "input": "hi"}]}),
            "events[0].input",
        ),
        (
            json!({"events": [{"type": "agent.session.input.message", "input": []}]}),
            "events[0].input",
        ),
        (
            json!({"events": [{"type": "agent.session.input.message", "input": [{"role": "user", "content": [7]}]}]}),
            "events[0].input[0].content[0]",
        ),
        (
            json!({"events": [{"type": "agent.session.input.message", "input": [{"role": "user", "content": [{"type": "input_text", "text": "x", "file": 1}]}]}]}),
            "events[0].input[0].content[0].file",
        ),
        (
            json!({"events": vec![json!({"type": "agent.session.input.cancel"}); MAX_LIST + 1]}),
            "events",
        ),
    ] {
        assert_eq!(events(body).unwrap_err().param.as_deref(), Some(param));
    }
    assert!(events(
        json!({"events": vec![json!({"type": "agent.session.input.cancel"}); MAX_LIST]})
    )
    .is_ok());
}

fn one(event: Value) -> Result<SessionInput, ApiError> {
    let mut read = events(json!({"events": [event]}))?.events;
    Ok(read.remove(0))
}

/// A good event with some members set.
fn changed(mut event: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        event
            .as_object_mut()
            .unwrap()
            .insert(name.clone(), value.clone());
    }
    event
}

#[test]
fn results_of_functions() {
    let base = json!({"type": "agent.session.input.tool_result", "turn_id": "t", "call_id": "c", "success": true});
    let text = |text: &str| Some(ToolOutput::Text(text.into()));
    let parts = vec![
        InputContent::InputText { text: "x".into() },
        InputContent::InputImage {
            image_url: "data:image/png;base64,AAAA".into(),
        },
    ];
    for (changes, success, output, error) in [
        (json!({}), true, None, None),
        (json!({"output": null, "error": null}), true, None, None),
        (json!({"output": " "}), true, text(" "), None),
        (
            json!({"output": []}),
            true,
            Some(ToolOutput::Content(vec![])),
            None,
        ),
        (
            json!({"output": [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]}),
            true,
            Some(ToolOutput::Content(parts)),
            None,
        ),
        (
            json!({"success": false, "error": "Tool handler failed."}),
            false,
            None,
            Some("Tool handler failed."),
        ),
    ] {
        let expected = SessionInput::ToolResult {
            turn_id: "t".into(),
            call_id: "c".into(),
            success,
            output,
            error: error.map(str::to_owned),
        };
        assert_eq!(one(changed(base.clone(), changes)), Ok(expected));
    }
    for (changes, param) in [
        (json!({"turn_id": null}), "turn_id"),
        (json!({"turn_id": ""}), "turn_id"),
        (json!({"call_id": 1}), "call_id"),
        (json!({"call_id": "c".repeat(257)}), "call_id"),
        (json!({"call_id": "\u{0}"}), "call_id"),
        (json!({"success": null}), "success"),
        (json!({"success": "true"}), "success"),
        (json!({"output": ""}), "output"),
        (json!({"output": {}}), "output"),
        (json!({"output": 7}), "output"),
        (
            json!({"output": [{"type": "output_text", "text": "x"}]}),
            "output[0].type",
        ),
        (
            json!({"output": [{"type": "input_image", "image_url": "x"}]}),
            "output[0].image_url",
        ),
        (json!({"error": 7}), "error"),
        (json!({"result": 7}), "result"),
    ] {
        let error = one(changed(base.clone(), changes)).unwrap_err();
        let param = format!("events[0].{param}");
        assert_eq!((error.status, error.param), (400, Some(param)));
    }
    for missing in ["turn_id", "call_id", "success"] {
        let mut event = base.clone();
        event.as_object_mut().unwrap().remove(missing);
        assert_eq!(
            one(event).unwrap_err(),
            ApiError::missing(&format!("events[0].{missing}"))
        );
    }
}

#[test]
fn answers_to_requests_for_approval() {
    let mcp = |response: Value| {
        one(
            json!({"type": "agent.session.input.mcp_approval_request_result", "request_id": "r", "response": response}),
        )
    };
    for (word, decision) in [
        ("approve", Decision::Approve),
        ("deny", Decision::Deny),
        ("cancel", Decision::Cancel),
    ] {
        let expected = SessionInput::McpApproval {
            request_id: "r".into(),
            decision,
        };
        assert_eq!(
            mcp(json!({"type": "mcp_tool_call", "decision": word})),
            Ok(expected)
        );
    }
    let computer = |response: Value| {
        one(
            json!({"type": "agent.session.input.computer_use_approval_request_result", "request_id": "r", "response": response}),
        )
    };
    let seen = SessionInput::ComputerUseApproval {
        request_id: "r".into(),
    };
    let field = |value: &str| json!({"field_id": "f", "value": value});
    for response in [
        json!({"type": "browser_origin_access", "decision": "deny"}),
        json!({"type": "browser_authentication", "action": "cancel"}),
        json!({"type": "browser_authentication", "action": "submit", "fields": []}),
        json!({"type": "browser_authentication", "action": "submit", "fields": vec![field("secret"); 6], "selected_option": null}),
        json!({"type": "browser_authentication", "action": "submit", "fields": [field(&"s".repeat(120 << 10))], "selected_option": "o"}),
    ] {
        let read = computer(response).unwrap();
        assert_eq!(read, seen);
        assert!(!format!("{read:?}").contains("secret"));
    }
    let refused = [
        mcp(json!(null)),
        mcp(json!({"type": "browser_origin_access", "decision": "deny"})),
        mcp(json!({"type": "mcp_tool_call", "decision": "accept"})),
        mcp(json!({"type": "mcp_tool_call"})),
        mcp(json!({"decision": "deny"})),
        mcp(json!({"type": "mcp_tool_call", "decision": "deny", "why": ""})),
        computer(json!({"type": "mcp_tool_call", "decision": "deny"})),
        computer(json!({"type": "browser_origin_access"})),
        computer(json!({"type": "browser_origin_access", "decision": "deny", "action": "cancel"})),
        computer(json!({"type": "browser_authentication"})),
        computer(json!({"type": "browser_authentication", "action": "cancel", "fields": []})),
        computer(json!({"type": "browser_authentication", "action": "submit"})),
        computer(
            json!({"type": "browser_authentication", "action": "submit", "fields": vec![field(""); 7]}),
        ),
        computer(
            json!({"type": "browser_authentication", "action": "submit", "fields": [field(&"s".repeat(121 << 10))]}),
        ),
        computer(
            json!({"type": "browser_authentication", "action": "submit", "fields": [{"field_id": "f"}]}),
        ),
        computer(
            json!({"type": "browser_authentication", "action": "submit", "fields": [{"field_id": "f", "value": "", "x": 1}]}),
        ),
        one(json!({"type": "agent.session.input.mcp_approval_request_result", "response": {}})),
        one(json!({"type": "agent.session.input.mcp_approval_request_result", "request_id": "r"})),
    ];
    for result in refused {
        let error = result.unwrap_err();
        assert_eq!(error.status, 400);
        assert!(error.param.unwrap().starts_with("events[0].re"));
    }
}

#[test]
fn images_are_data() {
    let image = |url: &str| {
        create(with(
            "/input",
            json!([{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]),
        ))
    };
    let long = format!("data:image/png;base64,{}", "AAAA".repeat(262_138));
    assert_eq!(long.len(), MAX_TEXT - 2);
    for url in [
        "data:image/png;base64,iVBORw0KGgo=",
        "data:image/jpeg;base64,AA==",
        "data:image/gif;base64,AAAA",
        "data:image/webp;base64,+/+/",
        &long,
    ] {
        let input = image(url).unwrap().input.unwrap();
        assert_eq!(
            input.first().unwrap().content,
            [InputContent::InputImage {
                image_url: url.into()
            }]
        );
    }
    for url in [
        "",
        "x",
        "https://example.com/a.png",
        "http://h",
        "data:image/svg+xml;base64,AA==",
        "DATA:IMAGE/JPEG;BASE64,AAAA",
        "https://",
        "https:///a",
        "https:h",
        "ftp://h/a.png",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "//h/a.png",
        " https://h",
        "https://h/a b",
        "https://h/a\n",
        "https://h/\u{0}",
        "https://h/\u{85}",
        "data:,x",
        "data:image/png,AAAA",
        "data:image/png;base64",
        "data:image/png;base64,",
        "data:image/png;base64,=",
        "data:image/png;base64,A===",
        "data:image/png;base64,AAAA=",
        "data:image/png;base64,AAA",
        "data:image/png;base64,AA=A",
        "data:image/png;base64,AA\nA",
        "data:image/png;base64,AA_-",
        "data:image/png;base64,ééé",
        "data:image/;base64,AAAA",
        "data:image/p ng;base64,AAAA",
        "data:image/png;charset=x;base64,AAAA",
        "data:text/html;base64,AAAA",
        "é",
        "dataimag",
        &format!("{long}AAAA"),
    ] {
        let error = image(url).unwrap_err();
        assert_eq!(
            (error.status, error.param.as_deref()),
            (400, Some("input[0].content[0].image_url")),
            "{url}"
        );
        assert!(error.message.len() < 300);
    }
}
