//! Requests for approval.
use super::*;
use cloister_protocol::Decision;

fn request(bench: &Bench, id: &str) -> E {
    E::ApprovalRequested {
        turn_id: bench.turn(),
        request_id: id.into(),
        server: "docs".into(),
        tool: Some("search".into()),
        message: "May I?".into(),
        arguments: Some(json_of(r#"{"q":"x"}"#)),
    }
}

fn ask(bench: &mut Bench, id: &str) -> Step {
    let event = request(bench, id);
    bench.harness(event)
}

fn decide(bench: &mut Bench, id: &str, decision: Decision) -> Result<Step, Refused> {
    let request_id = id.to_owned();
    bench.offer(Input::ApprovalResult {
        request_id,
        decision,
    })
}

/// The public id of the newest open request.
fn newest(bench: &Bench) -> String {
    let actions = &bench.newest("requires_action")["session"]["required_actions"];
    let action = actions.as_array().unwrap().last().unwrap();
    action["request_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_request_waits_for_its_answer() {
    for decision in [Decision::Approve, Decision::Deny, Decision::Cancel] {
        let mut bench = Bench::new();
        let turn_id = bench.started();
        let from = bench.events.len();
        ask(&mut bench, "h1");
        assert_eq!(bench.names(from), ["requires_action"]);
        assert_eq!(bench.stored_turn(&turn_id), "waiting");
        let id = newest(&bench);
        let action = &bench.events[from]["session"]["required_actions"][0];
        let expected = json!({
            "type": "mcp_approval_request", "turn_id": turn_id, "request_id": id,
            "request": {"type": "mcp_tool_call", "server_label": "docs", "name": "search", "message": "May I?", "arguments": {"q": "x"}},
        });
        assert_eq!(action, &expected);
        assert_ne!(id, "h1", "the harness's id is not shown");

        let step = decide(&mut bench, &id, decision).unwrap();
        let request_id = "h1".to_owned();
        assert_eq!(
            step.effects,
            [Effect::Approval {
                turn_id,
                request_id,
                decision
            }]
        );
        assert_eq!(bench.status(), SessionStatus::InProgress);
        assert_eq!(decide(&mut bench, &id, decision), Ok(Step::default()));
        bench.harness(E::ApprovalClosed {
            request_id: "h1".into(),
        });
        let closed = decide(&mut bench, &id, decision);
        assert_eq!(closed, Err(Refused::UnknownApproval(id)));
    }
}

#[test]
fn an_answer_is_given_once() {
    let mut bench = Bench::new();
    bench.started();
    ask(&mut bench, "h1");
    let id = newest(&bench);
    decide(&mut bench, &id, Decision::Deny).unwrap();
    let other = decide(&mut bench, &id, Decision::Approve);
    assert_eq!(other, Err(Refused::Answered(id)));
    let unknown = decide(&mut bench, "h1", Decision::Approve);
    assert_eq!(unknown, Err(Refused::UnknownApproval("h1".into())));
}

#[test]
fn a_request_that_the_harness_closes_is_gone() {
    let mut bench = Bench::new();
    bench.started();
    ask(&mut bench, "h1");
    bench.call("c1", "sum");
    let id = newest(&bench);
    bench.harness(E::ApprovalClosed {
        request_id: "h1".into(),
    });
    assert_eq!(
        bench.status(),
        SessionStatus::RequiresAction,
        "the call still waits"
    );
    let late = decide(&mut bench, &id, Decision::Approve);
    assert!(matches!(late, Err(Refused::UnknownApproval(_))));
}

#[test]
fn a_cancel_drops_requests() {
    let mut bench = Bench::new();
    bench.started();
    ask(&mut bench, "h1");
    let id = newest(&bench);
    bench.step(Input::Cancel);
    assert_eq!(bench.status(), SessionStatus::InProgress);
    let late = decide(&mut bench, &id, Decision::Approve);
    assert_eq!(late, Err(Refused::UnknownApproval(id)));
    // A request of a turn that stops is dismissed, so that the harness does not wait.
    let step = ask(&mut bench, "h2");
    assert!(matches!(
        &step.effects[..],
        [Effect::Approval {
            decision: Decision::Cancel,
            ..
        }]
    ));
    bench.end(Outcome::Interrupted);
    assert!(bench.session.is_settled());
}

#[test]
fn a_request_before_the_turn_has_begun_is_dismissed() {
    let mut bench = Bench::new();
    bench.say("go");
    let step = ask(&mut bench, "h1");
    assert!(matches!(
        &step.effects[..],
        [Effect::Approval {
            decision: Decision::Cancel,
            ..
        }]
    ));
    assert!(bench.session.public.required_actions.is_empty());
}

#[test]
fn requests_are_bounded() {
    let mut bench = Bench::new();
    bench.started();
    let long = |bench: &mut Bench, change: fn(&mut E)| {
        let mut event = request(bench, "h");
        change(&mut event);
        bench.harness(event)
    };
    let changes: [fn(&mut E); 3] = [
        |event| {
            if let E::ApprovalRequested { message, .. } = event {
                *message = "x".repeat((16 << 10) + 1);
            }
        },
        |event| {
            if let E::ApprovalRequested { server, .. } = event {
                *server = "x".repeat(257);
            }
        },
        |event| {
            if let E::ApprovalRequested { tool, .. } = event {
                *tool = Some("x".repeat(257));
            }
        },
    ];
    for change in changes {
        let step = long(&mut bench, change);
        assert_eq!(step.effects.len(), 1);
        assert!(step.chunks.is_empty());
    }
    // Arguments that are too deep are not shown; the question is.
    let step = long(&mut bench, |event| {
        if let E::ApprovalRequested { arguments, .. } = event {
            *arguments = Some(json_of(&("[".repeat(65) + &"]".repeat(65))));
        }
    });
    assert_eq!(step.effects, []);
    let shown = &bench.newest("requires_action")["session"]["required_actions"][0];
    assert_eq!(shown["request"]["arguments"], Value::Null);
    for number in 0..100 {
        ask(&mut bench, &number.to_string());
    }
    assert_eq!(bench.session.public.required_actions.len(), 64);
}
