#![allow(clippy::unwrap_used)]
use cloister_protocol::Json;

use super::*;
use crate::wire::{session::Effort, subagent::AgentContent};

#[test]
fn items_of_calls() {
    let json = |text: &str| Json::parse(text.into(), 9).unwrap();
    let (id, turn_id) = (|| "i".to_owned(), || "t".to_owned());
    let said = || vec![AgentContent::OutputText { text: "w".into() }];
    let one = || SubagentCall {
        id: id(),
        turn_id: turn_id(),
        sender_agent_id: "a".into(),
        recipient_agent_id: "b".into(),
        status: CallStatus::Completed,
    };
    let items = [
        (
            Item::FunctionCall(FunctionCall {
                id: id(),
                turn_id: turn_id(),
                call_id: "c".into(),
                name: "f".into(),
                arguments: json(r#"{"b":1,"a":[]}"#),
                status: CallStatus::InProgress,
            }),
            r#""function_call","id":"i","turn_id":"t","call_id":"c","name":"f","arguments":{"b":1,"a":[]},"status":"in_progress""#,
        ),
        (
            Item::FunctionCallOutput(FunctionCallOutput {
                id: id(),
                turn_id: turn_id(),
                call_id: "c".into(),
                output: Some(ToolOutput::Text("o".into())),
                error: None,
                status: CallStatus::Completed,
            }),
            r#""function_call_output","id":"i","turn_id":"t","call_id":"c","output":"o","error":null,"status":"completed""#,
        ),
        (
            Item::FunctionCallOutput(FunctionCallOutput {
                id: id(),
                turn_id: turn_id(),
                call_id: "c".into(),
                output: Some(ToolOutput::Content(vec![
                    InputContent::InputText { text: "x".into() },
                    InputContent::InputImage {
                        image_url: "https://h/i.png".into(),
                    },
                ])),
                error: Some("e".into()),
                status: CallStatus::Failed,
            }),
            r#""function_call_output","id":"i","turn_id":"t","call_id":"c","output":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"https://h/i.png"}],"error":"e","status":"failed""#,
        ),
        (
            Item::McpCall(McpCall {
                id: id(),
                turn_id: turn_id(),
                server_label: "s".into(),
                name: "n".into(),
                arguments: json("null"),
                output: Some(json("[1]")),
                error: None,
                status: CallStatus::Completed,
            }),
            r#""mcp_call","id":"i","turn_id":"t","server_label":"s","name":"n","arguments":null,"output":[1],"error":null,"status":"completed""#,
        ),
        (
            Item::WebSearchCall(WebSearchCall {
                id: id(),
                turn_id: turn_id(),
                status: OutputStatus::InProgress,
                action: None,
            }),
            r#""web_search_call","id":"i","turn_id":"t","status":"in_progress","action":null"#,
        ),
        (
            Item::CreateSubagentCall(CreateSubagentCall {
                id: id(),
                turn_id: turn_id(),
                agent_id: "a".into(),
                content: said(),
                model: None,
                reasoning_effort: Some(Effort::Xhigh),
                status: CallStatus::Completed,
            }),
            r#""create_subagent_call","id":"i","turn_id":"t","agent_id":"a","content":[{"type":"output_text","text":"w"}],"model":null,"reasoning_effort":"xhigh","status":"completed""#,
        ),
        (
            Item::SendSubagentInputCall(SendSubagentInputCall {
                id: id(),
                turn_id: turn_id(),
                sender_agent_id: "a".into(),
                recipient_agent_id: "b".into(),
                content: said(),
                status: CallStatus::Incomplete,
            }),
            r#""send_subagent_input_call","id":"i","turn_id":"t","sender_agent_id":"a","recipient_agent_id":"b","content":[{"type":"output_text","text":"w"}],"status":"incomplete""#,
        ),
        (
            Item::WaitForSubagentsCall(WaitForSubagentsCall {
                id: id(),
                turn_id: turn_id(),
                sender_agent_id: "a".into(),
                recipient_agent_ids: vec!["b".into()],
                status: CallStatus::Completed,
            }),
            r#""wait_for_subagents_call","id":"i","turn_id":"t","sender_agent_id":"a","recipient_agent_ids":["b"],"status":"completed""#,
        ),
        (
            Item::InterruptSubagentCall(one()),
            r#""interrupt_subagent_call","id":"i","turn_id":"t","sender_agent_id":"a","recipient_agent_id":"b","status":"completed""#,
        ),
        (
            Item::ResumeSubagentCall(one()),
            r#""resume_subagent_call","id":"i","turn_id":"t","sender_agent_id":"a","recipient_agent_id":"b","status":"completed""#,
        ),
        (
            Item::CloseSubagentCall(one()),
            r#""close_subagent_call","id":"i","turn_id":"t","sender_agent_id":"a","recipient_agent_id":"b","status":"completed""#,
        ),
        (
            Item::AgentMessage(AgentMessage {
                id: id(),
                turn_id: turn_id(),
                sender_agent_id: "a".into(),
                recipient_agent_id: "b".into(),
                content: said(),
            }),
            r#""agent_message","id":"i","turn_id":"t","sender_agent_id":"a","recipient_agent_id":"b","content":[{"type":"output_text","text":"w"}]"#,
        ),
    ];
    for (item, text) in items {
        assert_eq!((item.id(), item.turn_id()), ("i", "t"));
        assert_eq!(
            serde_json::to_string(&item).unwrap(),
            format!(r#"{{"type":{text}}}"#)
        );
    }
    for (action, text) in [
        (
            WebAction::Search {
                query: Some("q".into()),
                queries: None,
            },
            r#"{"type":"search","query":"q","queries":null}"#,
        ),
        (
            WebAction::OpenPage { url: None },
            r#"{"type":"open_page","url":null}"#,
        ),
        (
            WebAction::FindInPage {
                url: None,
                pattern: Some("p".into()),
            },
            r#"{"type":"find_in_page","url":null,"pattern":"p"}"#,
        ),
        (WebAction::Other, r#"{"type":"other"}"#),
    ] {
        assert_eq!(serde_json::to_string(&action).unwrap(), text);
    }
}
