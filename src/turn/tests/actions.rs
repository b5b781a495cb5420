//! Function calls.
use super::*;
use crate::turn::step::ToolResult;
use crate::wire::item::ToolOutput;
use crate::wire::session::RequiredAction;

fn result(turn_id: &str, call_id: &str, output: &str) -> ToolResult {
    ToolResult {
        turn_id: turn_id.into(),
        call_id: call_id.into(),
        success: true,
        output: Some(ToolOutput::Text(output.into())),
        error: None,
    }
}

fn give(bench: &mut Bench, result: ToolResult) -> Result<Step, Refused> {
    bench.offer(Input::ToolResult(result))
}

fn required(bench: &Bench) -> Vec<String> {
    let actions = bench.session.public.required_actions.iter();
    let ids = actions.map(|action| match action {
        RequiredAction::FunctionCall { call_id, .. } => call_id.clone(),
        RequiredAction::McpApprovalRequest { request_id, .. } => request_id.clone(),
    });
    ids.collect()
}

/// What the harness gets for a call.
fn outcome(step: &Step) -> (bool, Vec<protocol::Input>) {
    let [Effect::ToolResult {
        success, output, ..
    }] = &step.effects[..]
    else {
        panic!("{step:?}")
    };
    (*success, output.clone())
}

fn text(text: &str) -> protocol::Input {
    protocol::Input::Text(text.into())
}

#[test]
fn a_call_waits_for_its_result() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    let from = bench.events.len();
    bench.call("c1", "sum");
    assert_eq!(bench.names(from), ["turn.item.added", "requires_action"]);
    assert_eq!(bench.stored_turn(&turn_id), "waiting");
    let added = &bench.events[from];
    assert_eq!(added["output_index"], 0);
    assert_eq!(added["item"]["arguments"], json!({"a": 1}));
    let action = &bench.events[from + 1]["session"]["required_actions"][0];
    let expected = json!({"type": "function_call", "turn_id": turn_id, "call_id": "c1", "name": "sum", "arguments": {"a": 1}});
    assert_eq!(action, &expected);

    let from = bench.events.len();
    let step = give(&mut bench, result(&turn_id, "c1", "2")).unwrap();
    assert_eq!(outcome(&step), (true, vec![text("2")]));
    assert_eq!(
        bench.names(from),
        ["turn.item.done", "turn.item.added", "in_progress"]
    );
    assert_eq!(bench.events[from]["item"]["status"], "completed");
    let output = &bench.events[from + 1];
    assert_eq!(
        (&output["output_index"], &output["item"]["output"]),
        (&Value::Null, &json!("2"))
    );
    assert_eq!(
        bench.events[from + 2]["session"]["required_actions"],
        json!([])
    );
    assert_eq!(bench.stored_turn(&turn_id), "in_progress");
    bench.end(Outcome::Completed);
    assert_eq!(bench.last_end(), ("completed", None));
}

#[test]
fn a_function_that_failed_is_told_so() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("c1", "sum");
    let failed = ToolResult {
        success: false,
        error: Some("no".into()),
        ..result(&turn_id, "c1", "half")
    };
    let step = give(&mut bench, failed).unwrap();
    assert_eq!(outcome(&step), (false, vec![text("half"), text("no")]));
    assert_eq!(bench.newest("turn.item.done")["item"]["status"], "failed");
    let output = &bench.newest("turn.item.added")["item"];
    assert_eq!(
        (&output["status"], &output["error"]),
        (&json!("failed"), &json!("no"))
    );
}

#[test]
fn a_result_may_have_images_or_nothing() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("c1", "sum");
    bench.call("c2", "sum");
    let image = InputContent::InputImage {
        image_url: "https://a/b.png".into(),
    };
    let content = ToolResult {
        output: Some(ToolOutput::Content(vec![said("see"), image])),
        ..result(&turn_id, "c1", "")
    };
    let step = give(&mut bench, content).unwrap();
    let image = protocol::Input::Image("https://a/b.png".into());
    assert_eq!(outcome(&step), (true, vec![text("see"), image]));
    let nothing = ToolResult {
        output: None,
        ..result(&turn_id, "c2", "")
    };
    let step = give(&mut bench, nothing).unwrap();
    assert_eq!(outcome(&step), (true, vec![text("")]));
    assert_eq!(
        bench.events[bench.events.len() - 2]["item"]["output"],
        Value::Null
    );
}

#[test]
fn d19_parallel_calls_are_answered_one_by_one_in_any_order() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    for call in ["c1", "c2", "c3"] {
        bench.call(call, "sum");
    }
    assert_eq!(required(&bench), ["c1", "c2", "c3"]);
    for (call, left) in [("c2", vec!["c1", "c3"]), ("c3", vec!["c1"])] {
        give(&mut bench, result(&turn_id, call, call)).unwrap();
        assert_eq!(required(&bench), left);
        assert_eq!(bench.status(), SessionStatus::RequiresAction);
    }
    give(&mut bench, result(&turn_id, "c1", "c1")).unwrap();
    assert_eq!(bench.status(), SessionStatus::InProgress);
    let names = bench.names(0);
    assert_eq!(
        names.iter().filter(|name| **name == "in_progress").count(),
        2,
        "{names:?}"
    );
}

#[test]
fn results_that_come_together_are_taken_together_or_not_at_all() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("c1", "sum");
    bench.call("c2", "sum");
    let both = |second: &str| {
        let results = [result(&turn_id, "c1", "1"), result(&turn_id, second, "2")];
        results.map(Input::ToolResult).to_vec()
    };
    let mut copy = bench.session.clone();
    let refused = stepped(&mut copy, bench.now, &mut 1_000, both("c9"));
    assert_eq!(refused, Err(Refused::UnknownCall("c9".into())));
    let step = bench.offer_all(both("c2")).unwrap();
    assert_eq!(step.effects.len(), 2);
    assert_eq!(bench.status(), SessionStatus::InProgress);
}

#[test]
fn the_same_result_again_is_taken_and_another_is_not() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("c1", "sum");
    let first = result(&turn_id, "c1", "2");
    give(&mut bench, first.clone()).unwrap();
    assert_eq!(give(&mut bench, first.clone()), Ok(Step::default()));
    let others = [
        result(&turn_id, "c1", "3"),
        ToolResult {
            success: false,
            ..first.clone()
        },
        ToolResult {
            output: None,
            ..first.clone()
        },
        ToolResult {
            error: Some(String::new()),
            ..first.clone()
        },
    ];
    for other in others {
        assert_eq!(give(&mut bench, other), Err(Refused::Answered("c1".into())));
    }
    bench.end(Outcome::Completed);
    assert_eq!(
        give(&mut bench, first),
        Ok(Step::default()),
        "also when the turn is over"
    );
}

#[test]
fn a_result_must_name_a_call_and_its_turn() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("c1", "sum");
    let unknown = give(&mut bench, result(&turn_id, "c2", "2"));
    assert_eq!(unknown, Err(Refused::UnknownCall("c2".into())));
    let other = give(&mut bench, result("turn_0", "c1", "2"));
    assert_eq!(other, Err(Refused::OtherTurn("c1".into())));
}

#[test]
fn a_result_after_the_end_of_its_turn_is_refused() {
    for cancel in [true, false] {
        let mut bench = Bench::new();
        let turn_id = bench.started();
        bench.call("c1", "sum");
        bench.call("c2", "mail");
        if cancel {
            bench.step(Input::Cancel);
            assert_eq!(
                bench.status(),
                SessionStatus::InProgress,
                "it waits for nobody"
            );
            assert_eq!(bench.stored_turn(&turn_id), "in_progress");
        } else {
            bench.step(Input::Lost {
                turn_id: turn_id.clone(),
            });
        }
        for call in ["c1", "c2"] {
            let late = give(&mut bench, result(&turn_id, call, "2"));
            assert_eq!(late, Err(Refused::Answered(call.into())));
        }
        assert_eq!(required(&bench), [""; 0]);
        assert_eq!(
            bench.newest("turn.item.done")["item"]["status"],
            "incomplete"
        );
        assert_eq!(bench.store.items.len(), 3, "what was called is kept");
    }
}

#[test]
fn a_turn_may_end_with_open_calls() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("c1", "sum");
    bench.end(Outcome::Completed);
    assert_eq!(bench.status(), SessionStatus::Idle);
    let late = give(&mut bench, result(&turn_id, "c1", "2"));
    assert_eq!(late, Err(Refused::Answered("c1".into())));
}

#[test]
fn calls_that_cannot_be_made_are_answered_at_once() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    let deep = "[".repeat(65) + &"]".repeat(65);
    let large = format!("\"{}\"", "x".repeat(protocol::MAX_JSON_BYTES));
    let calls = [
        ("c1".to_owned(), "unknown", "1"),
        ("c2".to_owned(), "sum", deep.as_str()),
        ("c3".to_owned(), "sum", large.as_str()),
        ("c".repeat(257), "sum", "1"),
    ];
    for (call_id, name, arguments) in calls {
        let step = bench.harness(E::ToolCall {
            turn_id: turn_id.clone(),
            call_id,
            name: name.into(),
            arguments: json_of(arguments),
        });
        assert!(!outcome(&step).0);
        assert!(step.chunks.is_empty() && step.items.is_empty());
    }
    assert_eq!(bench.status(), SessionStatus::InProgress);
}

#[test]
fn a_call_id_is_taken_once() {
    let mut bench = Bench::new();
    bench.started();
    bench.call("c1", "sum");
    assert_eq!(bench.call("c1", "sum"), Step::default());
}

#[test]
fn a_call_of_a_turn_that_stops_is_not_made() {
    let mut bench = Bench::new();
    bench.started();
    bench.step(Input::Cancel);
    assert_eq!(bench.call("c1", "sum"), Step::default());
}

#[test]
fn an_asynchronous_call_does_not_stop_the_turn() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    let from = bench.events.len();
    bench.call("c1", "mail");
    assert_eq!(bench.names(from), ["turn.item.added", "turn.item.done"]);
    assert_eq!(bench.status(), SessionStatus::InProgress);
    assert_eq!(required(&bench), ["c1"], "the client can see what is open");
    let step = give(&mut bench, result(&turn_id, "c1", "sent")).unwrap();
    let [Effect::Steer { input, .. }] = &step.effects[..] else {
        panic!("{step:?}")
    };
    let head = "Result of the function call c1 (mail):";
    assert_eq!(input, &[text(head), text("sent")]);
    assert_eq!(required(&bench), [""; 0]);
    let items = bench.store.items.len();
    let Some(Effect::Steer { input_id, .. }) = bench.effects.last().cloned() else {
        panic!("no steer")
    };
    assert_eq!(bench.harness(E::Steered { input_id }), Step::default());
    assert_eq!(
        bench.store.items.len(),
        items,
        "it is no message of the user"
    );
}

#[test]
fn a_late_result_of_an_asynchronous_call_begins_a_turn() {
    let mut bench = Bench::new();
    let first = bench.started();
    bench.call("c1", "mail");
    bench.end(Outcome::Completed);
    assert_eq!(
        required(&bench),
        [""; 0],
        "an idle session requires nothing"
    );
    let from = bench.events.len();
    let late = result(&first, "c1", "sent");
    let step = give(&mut bench, late.clone()).unwrap();
    assert!(matches!(&step.effects[..], [Effect::Run { input, .. }] if input.len() == 2));
    assert_eq!(
        bench.names(from),
        ["turn.item.added", "turn.created", "in_progress"]
    );
    assert_eq!(
        bench.events[from]["turn_id"], first,
        "the output belongs to its call"
    );
    assert_eq!(give(&mut bench, late), Ok(Step::default()));
}

#[test]
fn a_late_result_waits_while_the_next_turn_starts_or_stops() {
    let mut bench = Bench::new();
    let first = bench.started();
    bench.call("c1", "mail");
    bench.call("c2", "mail");
    bench.end(Outcome::Completed);
    bench.say("next");
    let step = give(&mut bench, result(&first, "c1", "sent")).unwrap();
    assert_eq!(step.effects, []);
    let step = bench.step(Input::Cancel);
    assert_eq!(step.items, [], "what the function gave is shown already");
    // A cancel of the next turn does not drop what the first has called.
    let step = give(&mut bench, result(&first, "c2", "sent")).unwrap();
    assert_eq!(step.effects, []);
    let step = bench.end(Outcome::Interrupted);
    let [Effect::Run { input, .. }] = &step.effects[..] else {
        panic!("{step:?}")
    };
    assert_eq!(input.len(), 2, "only what came after the cancel");
}

#[test]
fn calls_are_bounded() {
    let mut bench = Bench::new();
    bench.started();
    for number in 0..64 {
        bench.call(&number.to_string(), "sum");
    }
    assert!(!outcome(&bench.call("64", "sum")).0);
    assert_eq!(bench.session.public.required_actions.len(), 64);

    let mut bench = Bench::new();
    let turn_id = bench.started();
    let arguments = format!("\"{}\"", "x".repeat(200_000));
    let taken = (0..5).filter(|number| {
        let step = bench.harness(E::ToolCall {
            turn_id: turn_id.clone(),
            call_id: number.to_string(),
            name: "sum".into(),
            arguments: json_of(&arguments),
        });
        step.effects.is_empty()
    });
    assert_eq!(taken.count(), 2, "all of them are in the session's row");
}

#[test]
fn old_calls_are_forgotten_and_open_ones_never() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("kept", "mail");
    for number in 0..400 {
        let call_id = number.to_string();
        let given = Input::ToolResult(result(&turn_id, &call_id, "x"));
        let called = bench.reported(E::ToolCall {
            turn_id: turn_id.clone(),
            call_id,
            name: "sum".into(),
            arguments: Json::null(),
        });
        let inputs = vec![called, given];
        stepped(&mut bench.session, bench.now, &mut bench.drawn, inputs).unwrap();
    }
    // The log is not looked at.
    bench
        .store
        .save(&bench.session.take_changes().unwrap(), &Step::default());
    assert!(bench.session.calls.len() <= 256 + 64);
    let mut give = |call: &str| {
        let inputs = vec![Input::ToolResult(result(&turn_id, call, "x"))];
        stepped(&mut bench.session, bench.now, &mut bench.drawn, inputs)
    };
    assert_eq!(give("399"), Ok(Step::default()));
    assert_eq!(give("0"), Err(Refused::UnknownCall("0".into())));
    assert!(give("kept").is_ok());
}

#[test]
fn calls_that_earlier_turns_left_open_leave_room_for_others() {
    let mut bench = Bench::new();
    let mut turns = vec![];
    for turn in 0..3 {
        turns.push(bench.started());
        for number in 0..64 {
            let step = bench.call(&format!("{turn}.{number}"), "mail");
            assert_eq!(step.effects, []);
        }
        bench.end(Outcome::Completed);
    }
    assert!(give(&mut bench, result(&turns[0], "0.0", "x")).is_ok());
}

#[test]
fn d17_calls_that_are_over_keep_no_arguments() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    for (call_id, name) in [("c1", "sum"), ("c2", "mail"), ("c3", "mail")] {
        bench.harness(E::ToolCall {
            turn_id: turn_id.clone(),
            call_id: call_id.into(),
            name: name.into(),
            arguments: json_of(&format!("\"{}\"", "x".repeat(100_000))),
        });
    }
    let stored = |bench: &Bench| {
        let calls = bench.store.cells.iter();
        let calls = calls.filter(|((kind, _), _)| *kind == CellKind::Call);
        calls.map(|(_, json)| json.len()).sum::<usize>()
    };
    assert!(stored(&bench) > 300_000);
    give(&mut bench, result(&turn_id, "c1", "x")).unwrap();
    assert!(stored(&bench) < 210_000);
    bench.end(Outcome::Completed);
    assert!(
        stored(&bench) < 2_000,
        "no item and no action is made of them any more"
    );
    give(&mut bench, result(&turn_id, "c2", "x")).unwrap();
}
