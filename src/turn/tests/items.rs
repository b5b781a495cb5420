//! Items of each kind, as they are shown.
use super::*;
use cloister_protocol::{Effort, Phase, SubagentCall, WebAction};

/// A finished item, as it is shown.
fn finished(kind: ItemKind) -> Value {
    let mut bench = Bench::new();
    bench.started();
    bench.finish("i", kind);
    let names = bench.names(0);
    assert_eq!(names.last(), Some(&"turn.item.done"));
    let item = bench.events.last().unwrap()["item"].clone();
    let stored = &bench.store.items.last().unwrap().1;
    assert_eq!(
        serde_json::to_value(stored).unwrap(),
        item,
        "what is stored is what was shown"
    );
    without_ids(item)
}

fn without_ids(mut item: Value) -> Value {
    let fields = item.as_object_mut().unwrap();
    fields.remove("id");
    fields.remove("turn_id");
    item
}

#[test]
fn messages_have_a_phase() {
    let text = "done".to_owned();
    let shown = finished(ItemKind::Message {
        text,
        phase: Some(Phase::FinalAnswer),
    });
    assert_eq!(
        shown,
        json!({"type": "message", "role": "assistant", "status": "completed", "phase": "final_answer",
            "content": [{"type": "output_text", "text": "done"}]})
    );
}

#[test]
fn commands_have_their_output_when_they_are_done() {
    let mut bench = Bench::new();
    bench.started();
    bench.begin("c", command(None));
    let begun = without_ids(bench.events.last().unwrap()["item"].clone());
    let unknown = json!({"type": "command_execution", "command": "ls", "cwd": null, "output": null, "exit_code": null,
        "duration_ms": null, "status": "in_progress"});
    assert_eq!(begun, unknown);
    let done = finished(command(Some("a\n")));
    assert_eq!(
        (&done["output"], &done["exit_code"]),
        (&json!("a\n"), &json!(0))
    );
    assert_eq!(done["status"], "completed");
}

#[test]
fn a_command_that_is_final_without_having_ended_was_cut_short() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    for (id, status, shown) in [
        ("a", ItemStatus::InProgress, "incomplete"),
        ("b", ItemStatus::Failed, "failed"),
    ] {
        let item = item(id, status, command(None));
        bench.harness(E::ItemCompleted {
            turn_id: turn_id.clone(),
            item,
        });
        assert_eq!(bench.newest("turn.item.done")["item"]["status"], shown);
    }
}

#[test]
fn edits_are_shown_as_a_command() {
    let change = |path: &str, kind| protocol::FileChange {
        path: path.into(),
        kind,
    };
    let changes = vec![
        change("/workspace/a", protocol::FileChangeKind::Added),
        change("/workspace/b", protocol::FileChangeKind::Updated),
        change("/workspace/c", protocol::FileChangeKind::Deleted),
    ];
    let shown = finished(ItemKind::FileChanges { changes });
    assert_eq!(
        shown,
        json!({"type": "command_execution", "command": "apply_patch", "cwd": "/workspace",
            "output": "A /workspace/a\nM /workspace/b\nD /workspace/c\n", "exit_code": 0, "duration_ms": null, "status": "completed"})
    );
}

#[test]
fn calls_of_mcp_tools_and_searches_are_shown() {
    let shown = finished(ItemKind::McpCall {
        server: "docs".into(),
        name: "find".into(),
        arguments: json_of(r#"{"q":1}"#),
        output: Some(json_of("[1,2]")),
        error: None,
    });
    assert_eq!(
        shown,
        json!({"type": "mcp_call", "server_label": "docs", "name": "find", "arguments": {"q": 1}, "output": [1, 2],
            "error": null, "status": "completed"})
    );
    let query = Some("q".to_owned());
    let action = Some(WebAction::Search {
        query,
        queries: None,
    });
    let shown = finished(ItemKind::WebSearch { action });
    assert_eq!(
        shown,
        json!({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q", "queries": null}})
    );
    assert_eq!(
        finished(ItemKind::WebSearch { action: None })["action"],
        Value::Null
    );
}

#[test]
fn json_that_is_too_large_or_too_deep_is_not_shown() {
    for arguments in [
        "[".repeat(65) + &"]".repeat(65),
        format!("\"{}\"", "x".repeat(protocol::MAX_JSON_BYTES)),
    ] {
        let shown = finished(ItemKind::McpCall {
            server: "docs".into(),
            name: "find".into(),
            arguments: json_of(&arguments),
            output: Some(json_of(&arguments)),
            error: Some(json_of(&arguments)),
        });
        for field in ["arguments", "output", "error"] {
            assert_eq!(shown[field], Value::Null);
        }
    }
}

#[test]
fn json_with_line_breaks_does_not_end_a_frame() {
    let mut bench = Bench::new();
    bench.started();
    let step = bench.finish(
        "i",
        ItemKind::McpCall {
            server: "a\n\nb".into(),
            name: "f".into(),
            arguments: json_of("{\n\n\"a\":\r\n1}"),
            output: None,
            error: None,
        },
    );
    let [chunk] = &step.chunks[..] else {
        panic!("{step:?}")
    };
    let frames = chunk.frames.matches("\n\n").count() as u64;
    assert_eq!(frames, chunk.last - chunk.first + 1);
}

#[test]
fn calls_about_subagents_name_agents_by_their_public_ids() {
    let kinds = [
        (SubagentCall::Create, "create_subagent_call"),
        (SubagentCall::SendInput, "send_subagent_input_call"),
        (SubagentCall::Wait, "wait_for_subagents_call"),
        (SubagentCall::Interrupt, "interrupt_subagent_call"),
        (SubagentCall::Resume, "resume_subagent_call"),
        (SubagentCall::Close, "close_subagent_call"),
    ];
    for (call, name) in kinds {
        let mut bench = Bench::new();
        let turn_id = bench.started();
        bench.harness(E::SubagentOpened {
            turn_id,
            subagent: "h1".into(),
            parent: None,
            name: None,
            prompt: None,
        });
        let child = bench.store.subagents[0].id.clone();
        bench.finish(
            "i",
            ItemKind::SubagentCall {
                call,
                sender: None,
                receivers: vec!["h1".into()],
                prompt: Some("help".into()),
                model: Some("m".into()),
                effort: Some(Effort::Low),
            },
        );
        let item = &bench.events.last().unwrap()["item"];
        assert_eq!(item["type"], name);
        let sender = if call == SubagentCall::Create {
            "agent_id"
        } else {
            "sender_agent_id"
        };
        assert_eq!(item[sender], "agent_1");
        match call {
            SubagentCall::Create => {
                assert_eq!(
                    (&item["model"], &item["reasoning_effort"]),
                    (&json!("m"), &json!("low"))
                );
                assert_eq!(
                    item["content"],
                    json!([{"type": "output_text", "text": "help"}])
                );
            }
            SubagentCall::Wait => assert_eq!(item["recipient_agent_ids"], json!([child])),
            SubagentCall::SendInput
            | SubagentCall::Interrupt
            | SubagentCall::Resume
            | SubagentCall::Close => assert_eq!(item["recipient_agent_id"], child),
        }
    }
}

#[test]
fn a_command_cut_by_a_cancel_is_shown_incomplete_and_not_kept() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.begin("c", command(None));
    bench.step(Input::Cancel);
    bench.end(Outcome::Interrupted);
    let from = bench.events.len() - 3;
    assert_eq!(
        bench.names(from),
        ["turn.item.done", "turn.cancelled", "idle"]
    );
    assert_eq!(bench.events[from]["item"]["status"], "incomplete");
    assert_eq!(bench.store.items.len(), 1, "the user's message");
    // Its late completion changes nothing: a stored event never changes.
    let item = item("c", ItemStatus::Failed, command(Some("x")));
    let late = bench.harness(E::ItemCompleted { turn_id, item });
    assert_eq!(late, Step::default());
}

#[test]
fn what_is_open_when_a_turn_ends_is_incomplete() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.begin("m", message(""));
    bench.text("m", "so f");
    bench.begin("r", ItemKind::Reasoning { summary: vec![] });
    let item_id = "r".into();
    bench.harness(E::ReasoningDelta {
        turn_id,
        item_id,
        part: 0,
        delta: "hm".into(),
    });
    bench.begin("c", command(None));
    bench.end(Outcome::Failed {
        code: protocol::FailureCode::ServerError,
    });
    let items = bench
        .store
        .items
        .iter()
        .map(|(_, item)| serde_json::to_value(item).unwrap());
    let items: Vec<Value> = items.skip(1).collect();
    assert!(
        items.iter().all(|item| item["status"] == "incomplete"),
        "{items:?}"
    );
    assert_eq!(items[0]["content"][0]["text"], "so f");
    assert_eq!(
        bench.newest("turn.reasoning_summary_part.done")["status"],
        "incomplete"
    );
    assert_eq!(bench.store.texts, []);
}

#[test]
fn an_item_that_begins_twice_or_is_never_begun_is_one_item() {
    let mut bench = Bench::new();
    bench.started();
    bench.begin("m", message(""));
    assert_eq!(bench.begin("m", message("")), Step::default());
    bench.finish("m", message("x"));
    bench.finish("n", message("y"));
    assert_eq!(bench.store.items.len(), 3);
    assert_eq!(bench.text("gone", "z"), Step::default());
}

#[test]
fn output_indexes_count_on_and_begin_anew_with_each_turn() {
    for _ in 0..2 {
        let mut bench = Bench::new();
        for _ in 0..2 {
            bench.started();
            bench.begin("a", message(""));
            bench.call("c", "mail");
            bench.finish("b", command(Some("")));
            bench.finish("a", message(""));
            let done = |event: &&Value| order::name_of(event) == "turn.item.done";
            let turn_id = bench.turn();
            let of_turn = bench
                .events
                .iter()
                .filter(|event| event["turn_id"] == turn_id.as_str());
            let indexes: Vec<&Value> = of_turn
                .filter(done)
                .map(|event| &event["output_index"])
                .collect();
            // A call id is known in the whole session.
            assert!(indexes == [1, 2, 0] || indexes == [1, 0], "{indexes:?}");
            bench.end(Outcome::Completed);
        }
    }
}
