#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;
use cloister_protocol::{
    FailureCode, FileChange, FileChangeKind, FromSupervisor, Item, ItemKind, ItemStatus,
    MAX_FRAME_BYTES,
};
use serde_json::{json, Value};

fn mapper() -> Mapper {
    let mut mapper = Mapper::default();
    mapper.bind("T", "U1", "turn_1");
    mapper.bind("T", "U2", "turn_2");
    mapper
}

fn map(mapper: &mut Mapper, method: &str, params: Value) -> Option<Mapped> {
    mapper.map(method, &RawValue::from_string(params.to_string()).unwrap())
}

fn completed(item: Value) -> Option<Item> {
    let params = json!({ "threadId": "T", "turnId": "U1", "item": item });
    match map(&mut mapper(), "item/completed", params) {
        Some(Mapped::Event(Event::ItemCompleted { turn_id, item })) => {
            assert_eq!(turn_id, "turn_1");
            Some(item)
        }
        None => None,
        other => panic!("{other:?}"),
    }
}

fn command(output: Value, status: &str, exit_code: Value) -> Value {
    json!({ "type": "commandExecution", "id": "c", "command": "ls", "cwd": "/workspace", "status": status,
        "aggregatedOutput": output, "exitCode": exit_code, "durationMs": 5, "processId": "1", "unknown": {} })
}

#[test]
fn only_our_turns() {
    for (thread, turn, expected) in [
        ("T", "U1", Some("turn_1")),
        ("T", "U2", Some("turn_2")),
        ("subagent", "U1", None),
        ("T", "U3", None),
    ] {
        let params = json!({ "threadId": thread, "turnId": turn, "itemId": "m", "delta": "hi" });
        let event = map(&mut mapper(), "item/agentMessage/delta", params);
        let expected = expected.map(|turn_id| {
            Mapped::Event(Event::TextDelta {
                turn_id: turn_id.into(),
                item_id: "m".into(),
                delta: "hi".into(),
            })
        });
        assert_eq!(event, expected, "{thread} {turn}");
    }
}

#[test]
fn statuses_of_commands() {
    for (status, code, expected, exit_code) in [
        ("completed", json!(0), ItemStatus::Completed, Some(0)),
        ("failed", json!(3), ItemStatus::Completed, Some(3)),
        ("failed", json!(-1), ItemStatus::Failed, None),
        ("failed", json!(null), ItemStatus::Failed, None),
        ("declined", json!(null), ItemStatus::Failed, None),
        ("somethingNew", json!(null), ItemStatus::Failed, None),
    ] {
        let item = completed(command(json!(null), status, code)).unwrap();
        let ItemKind::Command {
            exit_code: code, ..
        } = item.kind
        else {
            panic!()
        };
        assert_eq!((item.status, code), (expected, exit_code), "{status}");
    }
}

#[test]
fn ignored_items_and_notifications() {
    for kind in [
        "userMessage",
        "hookPrompt",
        "functionCallOutput",
        "plan",
        "dynamicToolCall",
        "subAgentActivity",
        "imageView",
        "imageGeneration",
        "sleep",
        "enteredReviewMode",
        "exitedReviewMode",
        "contextCompaction",
        "somethingNew",
    ] {
        assert_eq!(
            completed(json!({ "type": kind, "id": "x", "status": "completed", "text": "t" })),
            None,
            "{kind}"
        );
    }
    let params = json!({ "threadId": "T", "turnId": "U1", "willRetry": true, "error": { "message": "secret" } });
    for method in [
        "error",
        "turn/plan/updated",
        "turn/diff/updated",
        "warning",
        "thread/started",
    ] {
        assert_eq!(map(&mut mapper(), method, params.clone()), None, "{method}");
    }
    for method in [
        "turn/completed",
        "item/started",
        "item/agentMessage/delta",
        "thread/tokenUsage/updated",
    ] {
        assert_eq!(
            map(&mut mapper(), method, json!({ "threadId": 1 })),
            None,
            "{method}"
        );
    }
}

#[test]
fn file_changes() {
    let item = completed(json!({ "type": "fileChange", "id": "f", "status": "completed", "changes": [
        { "path": "/workspace/a", "kind": { "type": "add" }, "diff": "x" },
        { "path": "/workspace/b", "kind": { "type": "update", "move_path": null }, "diff": "x" },
        { "path": "/workspace/c", "kind": { "type": "update", "move_path": "/workspace/d" }, "diff": "x" },
        { "path": "/workspace/e", "kind": { "type": "delete" }, "diff": "x" },
        { "path": "x".repeat(5000), "kind": { "type": "delete" }, "diff": "x" },
    ] }))
    .unwrap();
    let change = |path: &str, kind| FileChange {
        path: path.into(),
        kind,
    };
    let changes = vec![
        change("/workspace/a", FileChangeKind::Added),
        change("/workspace/b", FileChangeKind::Updated),
        change("/workspace/c", FileChangeKind::Deleted),
        change("/workspace/d", FileChangeKind::Added),
        change("/workspace/e", FileChangeKind::Deleted),
    ];
    assert_eq!(item.kind, ItemKind::FileChanges { changes });
}

#[test]
fn output_is_cut_between_characters() {
    let output = "€".repeat(MAX_OUTPUT_BYTES);
    let item = completed(command(json!(output), "completed", json!(0))).unwrap();
    let ItemKind::Command {
        output: Some(output),
        ..
    } = item.kind
    else {
        panic!()
    };
    assert_eq!(output.len(), MAX_OUTPUT_BYTES / 3 * 3);
}

#[test]
fn deltas_of_one_item_are_bounded_together() {
    let mut mapper = mapper();
    let mut total = 0;
    let params =
        json!({ "threadId": "T", "turnId": "U1", "itemId": "c", "delta": "x".repeat(50_000) });
    for _ in 0..10 {
        if let Some(Mapped::Event(Event::OutputDelta { delta, .. })) = map(
            &mut mapper,
            "item/commandExecution/outputDelta",
            params.clone(),
        ) {
            total += delta.len();
        }
    }
    assert_eq!(total, MAX_OUTPUT_BYTES);
}

/// Every byte of every text may need six in JSON, and still the frame is not too large.
#[test]
fn the_worst_items_fit_a_frame() {
    let bad = "\u{1}".repeat(200 << 10);
    let many: Vec<_> = (0..2000)
        .map(|_| json!({ "path": "\u{1}".repeat(1000), "kind": { "type": "add" } }))
        .collect();
    let worst = [
        json!({ "type": "commandExecution", "id": bad, "command": bad, "cwd": bad, "status": "completed",
            "aggregatedOutput": bad, "exitCode": i32::MAX, "durationMs": u64::MAX }),
        json!({ "type": "agentMessage", "id": bad, "text": bad, "phase": "final_answer" }),
        json!({ "type": "reasoning", "id": bad, "summary": vec![bad.as_str(); 8] }),
        json!({ "type": "reasoning", "id": bad, "summary": vec!["\u{1}"; 50_000] }),
        json!({ "type": "fileChange", "id": bad, "status": "completed", "changes": many }),
    ];
    for item in worst {
        let item = completed(item).unwrap();
        let event = Event::ItemCompleted {
            turn_id: "x".repeat(64),
            item,
        };
        let frame = serde_json::to_string(&FromSupervisor::Event {
            seq: u64::MAX,
            event,
        })
        .unwrap();
        assert!(frame.len() <= MAX_FRAME_BYTES, "{}", frame.len());
    }
}

#[test]
fn outcomes() {
    for (turn, expected) in [
        (
            json!({ "id": "U1", "status": "completed", "error": null }),
            Outcome::Completed,
        ),
        (
            json!({ "id": "U1", "status": "interrupted", "error": null }),
            Outcome::Interrupted,
        ),
        (
            json!({ "id": "U1", "status": "failed", "error": { "message": "m", "codexErrorInfo": "serverOverloaded" } }),
            Outcome::Failed {
                code: FailureCode::ServerOverloaded,
            },
        ),
        (
            json!({ "id": "U1", "status": "failed", "error": null }),
            Outcome::Failed {
                code: FailureCode::InternalError,
            },
        ),
    ] {
        let mapped = map(
            &mut mapper(),
            "turn/completed",
            json!({ "threadId": "T", "turn": turn }),
        );
        let (thread, turn) = ("T".to_owned(), "U1".to_owned());
        assert_eq!(
            mapped,
            Some(Mapped::TurnCompleted {
                thread,
                turn,
                outcome: expected
            })
        );
    }
}

#[test]
fn calls_of_mcp_tools() {
    let call = |arguments: Value, result: Value, error: Value, status: &str| {
        json!({ "type": "mcpToolCall", "id": "m", "server": "tickets", "tool": "book", "status": status,
            "arguments": arguments, "result": result, "error": error })
    };
    let deep = |depth: usize| -> Value {
        serde_json::from_str(&("[".repeat(depth) + &"]".repeat(depth))).unwrap()
    };
    for (item, expected) in [
        (
            call(
                json!({ "a": 1 }),
                json!({ "content": [] }),
                Value::Null,
                "completed",
            ),
            (
                ItemStatus::Completed,
                r#"{"a":1}"#,
                Some(r#"{"content":[]}"#),
                None,
            ),
        ),
        (
            call(
                Value::Null,
                Value::Null,
                json!({ "message": "no" }),
                "failed",
            ),
            (
                ItemStatus::Failed,
                "null",
                None,
                Some(r#"{"message":"no"}"#),
            ),
        ),
        (
            call(
                deep(65),
                json!("x".repeat(300_000)),
                Value::Null,
                "completed",
            ),
            (ItemStatus::Completed, "null", Some("null"), None),
        ),
    ] {
        let item = completed(item).unwrap();
        let ItemKind::McpCall {
            server,
            name,
            arguments,
            output,
            error,
        } = &item.kind
        else {
            panic!("{item:?}")
        };
        assert_eq!((server.as_str(), name.as_str()), ("tickets", "book"));
        let text = |json: &'_ Option<cloister_protocol::Json>| {
            json.as_ref().map(|j| j.as_str().to_owned())
        };
        let (status, told, gave, failed) = expected;
        assert_eq!((item.status, arguments.as_str()), (status, told));
        assert_eq!(
            (text(output).as_deref(), text(error).as_deref()),
            (gave, failed)
        );
    }
}

#[test]
fn searches_of_the_web() {
    use cloister_protocol::WebAction;
    let search = |query: &str, action: Value| {
        let item = json!({ "type": "webSearch", "id": "w", "query": query, "action": action, "results": null });
        match completed(item).unwrap().kind {
            ItemKind::WebSearch { action } => action,
            other => panic!("{other:?}"),
        }
    };
    let searched = |query: &str, queries: Option<Vec<String>>| {
        let query = Some(query.to_owned());
        Some(WebAction::Search { query, queries })
    };
    assert_eq!(search("", Value::Null), None);
    assert_eq!(search("rust", Value::Null), searched("rust", None));
    assert_eq!(
        search(
            "",
            json!({ "type": "search", "query": "a", "queries": ["a", "b"] })
        ),
        searched("a", Some(vec!["a".into(), "b".into()]))
    );
    let url = Some("https://example.org".to_owned());
    assert_eq!(
        search("", json!({ "type": "openPage", "url": url })),
        Some(WebAction::OpenPage { url: url.clone() })
    );
    let pattern = Some("x".to_owned());
    assert_eq!(
        search(
            "",
            json!({ "type": "findInPage", "url": url, "pattern": pattern })
        ),
        Some(WebAction::FindInPage { url, pattern })
    );
    for kind in ["other", "ofALaterVersion"] {
        assert_eq!(search("", json!({ "type": kind })), Some(WebAction::Other));
    }
}

#[test]
fn calls_about_subagents() {
    use cloister_protocol::SubagentCall;
    for (tool, expected) in [
        ("spawnAgent", Some(SubagentCall::Create)),
        ("sendInput", Some(SubagentCall::SendInput)),
        ("sendMessage", Some(SubagentCall::SendInput)),
        ("followupTask", Some(SubagentCall::SendInput)),
        ("wait", Some(SubagentCall::Wait)),
        ("interruptAgent", Some(SubagentCall::Interrupt)),
        ("resumeAgent", Some(SubagentCall::Resume)),
        ("closeAgent", Some(SubagentCall::Close)),
        ("listAgents", None),
        ("ofALaterVersion", None),
    ] {
        for (model, told) in [("", None), ("cloister", None), ("other", Some("other"))] {
            let item = completed(
                json!({ "type": "collabAgentToolCall", "id": "s", "tool": tool, "status": "interrupted",
                "senderThreadId": "T", "receiverThreadIds": ["C"], "prompt": null, "model": model }),
            );
            let kind = item.map(|item| (item.status, item.kind));
            let expected = expected.map(|call| {
                let kind = ItemKind::SubagentCall {
                    call,
                    sender: Some("T".into()),
                    receivers: vec!["C".into()],
                    prompt: None,
                    model: told.map(Into::into),
                    effort: None,
                };
                (ItemStatus::Failed, kind)
            });
            assert_eq!(kind, expected, "{tool} {model}");
        }
    }
}

/// Codex tells a usage again, or one of nothing, around a compaction.
#[test]
fn a_usage_counts_once() {
    let mut mapper = mapper();
    let mut count = |thread: &str, last: u64, total: u64| {
        let tokens = |n: u64| json!({ "inputTokens": n, "cachedInputTokens": 0, "outputTokens": 0, "reasoningOutputTokens": 0 });
        let usage = json!({ "threadId": thread, "turnId": "U1", "tokenUsage": { "last": tokens(last), "total": tokens(total) } });
        map(&mut mapper, "thread/tokenUsage/updated", usage).is_some()
    };
    for (thread, last, total, counts) in [
        ("T", 10, 10, true),
        ("T", 10, 10, false),
        ("T", 0, 10, false),
        ("C", 10, 10, true),
        ("T", 10, 20, true),
    ] {
        assert_eq!(
            count(thread, last, total),
            counts,
            "{thread} {last} {total}"
        );
    }
}
