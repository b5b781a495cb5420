//! How turns begin and end.
use super::*;
use cloister_protocol::FailureCode;

#[test]
fn a_turn_has_the_order_of_the_reference() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.begin("r", ItemKind::Reasoning { summary: vec![] });
    bench.harness(E::ReasoningDelta {
        turn_id,
        item_id: "r".into(),
        part: 0,
        delta: "why".into(),
    });
    let summary = vec!["why".into()];
    bench.finish("r", ItemKind::Reasoning { summary });
    bench.begin("c", command(None));
    let turn_id = bench.turn();
    bench.harness(E::OutputDelta {
        turn_id,
        item_id: "c".into(),
        delta: "a\n".into(),
    });
    bench.finish("c", command(Some("a\nb\n")));
    bench.begin("m", message(""));
    bench.text("m", "Hel");
    // What never came as a delta is sent before the end, so that deltas add up to the whole.
    bench.finish("m", message("Hello"));
    bench.end(Outcome::Completed);
    let expected = [
        "turn.created",
        "turn.item.added",
        "in_progress",
        "environment.ready",
        "environment.connected",
        "turn.in_progress",
        "turn.item.added",
        "turn.reasoning_summary_part.added",
        "turn.reasoning_summary_text.delta",
        "turn.reasoning_summary_text.done",
        "turn.reasoning_summary_part.done",
        "turn.item.done",
        "turn.item.added",
        "command_execution_output.delta",
        "turn.item.done",
        "turn.item.added",
        "turn.content_part.added",
        "turn.output_text.delta",
        "turn.output_text.delta",
        "turn.output_text.done",
        "turn.content_part.done",
        "turn.item.done",
        "turn.completed",
        "idle",
    ];
    assert_eq!(bench.names(0), expected);
    assert_eq!(bench.events[0]["turn"]["status"], "queued");
    assert!(bench.events[0]["turn"]["subagent_id"].is_null());
    assert_eq!(bench.store.items.len(), 4);
    assert!(bench.session.is_settled() && bench.session.wake_at().is_none());
    assert_eq!(bench.effects.len(), 1, "nothing but the run");
}

#[test]
fn d7_cancel_before_the_harness_has_the_turn_ends_it_as_cancelled() {
    let mut bench = Bench::new();
    bench.say("go");
    let turn_id = bench.turn();
    let step = bench.step(Input::Cancel);
    assert_eq!(step.effects, [Effect::Interrupt { turn_id }]);
    bench.start();
    bench.end(Outcome::Interrupted);
    assert_eq!(bench.last_end(), ("cancelled", None));
}

#[test]
fn a_turn_begins_once() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("c1", "sum");
    let thread = "t".into();
    let again = bench.harness(E::TurnStarted { turn_id, thread });
    assert_eq!(again, Step::default());
}

#[test]
fn d8_a_turn_may_end_before_it_has_begun() {
    for outcome in [Outcome::Completed, Outcome::Interrupted] {
        let mut bench = Bench::new();
        bench.say("go");
        let turn_id = bench.turn();
        bench.end(outcome);
        assert!(bench.session.is_settled());
        let thread = "t".into();
        let late = bench.harness(E::TurnStarted { turn_id, thread });
        assert_eq!(late, Step::default());
        bench.started();
    }
}

#[test]
fn h4_a_cancelled_turn_reads_cancelled_and_keeps_its_usage() {
    for outcome in [
        Outcome::Completed,
        Outcome::Interrupted,
        Outcome::Failed {
            code: FailureCode::ServerError,
        },
    ] {
        let mut bench = Bench::new();
        let turn_id = bench.started();
        let usage = protocol::TokenUsage {
            input_tokens: 10,
            cached_tokens: 4,
            output_tokens: 2,
            reasoning_tokens: 1,
        };
        bench.harness(E::Usage {
            turn_id: turn_id.clone(),
            usage,
        });
        bench.step(Input::Cancel);
        bench.harness(E::Usage {
            turn_id: turn_id.clone(),
            usage,
        });
        bench.end(outcome);
        assert_eq!(bench.last_end(), ("cancelled", None));
        assert_eq!(bench.newest("turn.cancelled")["usage"]["total_tokens"], 24);
        assert_eq!(bench.session.public.usage.unwrap().total_tokens, 24);
        let turn = bench.store.turn(&turn_id).unwrap();
        assert_eq!(turn.usage.unwrap().input_tokens_details.cached_tokens, 8);
    }
}

#[test]
fn d28_a_cancel_that_meets_a_finished_harness_keeps_what_is_there() {
    let mut bench = Bench::new();
    bench.started();
    bench.finish("m", message("done"));
    bench.step(Input::Cancel);
    bench.end(Outcome::Completed);
    assert_eq!(bench.last_end(), ("cancelled", None));
    assert_eq!(bench.store.items.len(), 2);
    assert_eq!(bench.status(), SessionStatus::Idle);
}

#[test]
fn a_cancel_again_or_while_idle_does_nothing() {
    let mut bench = Bench::new();
    assert_eq!(bench.step(Input::Cancel), Step::default());
    bench.started();
    bench.step(Input::Cancel);
    let wake_at = bench.session.wake_at();
    bench.now += 1_000;
    assert_eq!(bench.step(Input::Cancel), Step::default());
    assert_eq!(bench.session.wake_at(), wake_at, "it is not put off");
}

#[test]
fn h7_a_turn_that_does_not_stop_ends_with_its_containers() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.step(Input::Cancel);
    assert_eq!(bench.session.wake_at(), Some(bench.now + CANCEL_DEADLINE));
    assert_eq!(bench.step(Input::Tick), Step::default());
    bench.now += CANCEL_DEADLINE;
    let step = bench.step(Input::Tick);
    let destroy = Effect::Destroy {
        turn_id: turn_id.clone(),
    };
    assert_eq!(step.effects, [destroy]);
    assert_eq!(bench.last_end(), ("cancelled", None));
    let outcome = Outcome::Completed;
    let late = bench.harness(E::TurnEnded { turn_id, outcome });
    assert_eq!(late, Step::default());
    assert_eq!(bench.session.wake_at(), None);
}

#[test]
fn a_turn_past_its_deadline_is_stopped_and_fails() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    assert_eq!(bench.session.wake_at(), Some(bench.now + TURN_DEADLINE));
    bench.now += TURN_DEADLINE;
    let step = bench.step(Input::Tick);
    assert_eq!(step.effects, [Effect::Interrupt { turn_id }]);
    bench.end(Outcome::Interrupted);
    assert_eq!(bench.last_end(), ("failed", Some("request_timeout")));
}

#[test]
fn a_cancel_of_a_turn_past_its_deadline_reads_cancelled() {
    let mut bench = Bench::new();
    bench.started();
    bench.now += TURN_DEADLINE;
    bench.step(Input::Tick);
    let wake_at = bench.session.wake_at();
    assert_eq!(bench.step(Input::Cancel).effects, []);
    assert_eq!(bench.session.wake_at(), wake_at);
    bench.end(Outcome::Interrupted);
    assert_eq!(bench.last_end(), ("cancelled", None));
}

#[test]
fn d2_every_way_a_turn_can_be_lost_ends_it_once() {
    type Loss = fn(String) -> Input;
    let losses: [(Loss, &str); 3] = [
        (not_started, "sandbox_error"),
        (|turn_id| Input::Lost { turn_id }, "internal_error"),
        (
            |_| Input::Harness {
                epoch: 1,
                seq: 9,
                event: Box::new(E::HarnessLost { exit_code: Some(1) }),
            },
            "internal_error",
        ),
    ];
    for (loss, code) in losses {
        let mut bench = Bench::new();
        let turn_id = bench.started();
        bench.begin("m", message(""));
        bench.begin("c", command(None));
        bench.call("1", "sum");
        bench.step(loss(turn_id.clone()));
        assert_eq!(bench.last_end(), ("failed", Some(code)));
        assert_eq!(bench.stored_turn(&turn_id), "failed");
        assert_eq!(bench.status(), SessionStatus::Idle);
        // What was cut short stays.
        assert_eq!(bench.store.items.len(), 4);
        assert_eq!(bench.step(loss(turn_id)), Step::default());
    }
}

#[test]
fn each_failure_of_the_harness_has_its_code() {
    for (code, expected) in [
        (
            FailureCode::ContextLengthExceeded,
            "context_length_exceeded",
        ),
        (FailureCode::UsageLimitExceeded, "usage_limit_exceeded"),
        (FailureCode::CyberPolicy, "cyber_policy"),
        (FailureCode::AuthenticationError, "authentication_error"),
        (FailureCode::InternalError, "internal_error"),
    ] {
        let mut bench = Bench::new();
        bench.started();
        bench.end(Outcome::Failed { code });
        assert_eq!(bench.last_end(), ("failed", Some(expected)));
        let text = &bench.newest("turn.failed")["turn"]["error"]["message"];
        assert!(text.as_str().unwrap().ends_with('.'), "{text}");
    }
}

#[test]
fn an_event_is_taken_once_and_an_older_instance_never() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    let text = |epoch, seq, id: &str| Input::Harness {
        epoch,
        seq,
        event: Box::new(E::ItemCompleted {
            turn_id: turn_id.clone(),
            item: item(id, ItemStatus::Completed, message("x")),
        }),
    };
    assert_ne!(bench.step(text(1, 2, "a")), Step::default());
    for (epoch, seq) in [(1, 2), (1, 1), (0, 9)] {
        assert_eq!(bench.step(text(epoch, seq, "b")), Step::default());
    }
    assert_eq!((bench.session.seen(1), bench.session.seen(2)), (2, 0));
    assert_ne!(bench.step(text(2, 1, "c")), Step::default());
    assert_eq!(bench.step(text(1, 3, "d")), Step::default());
}

#[test]
fn events_of_other_turns_change_nothing() {
    let mut bench = Bench::new();
    bench.started();
    let turn_id = || "turn_other".to_owned();
    let strange = [
        E::TurnEnded {
            turn_id: turn_id(),
            outcome: Outcome::Completed,
        },
        E::TurnStarted {
            turn_id: turn_id(),
            thread: "t".into(),
        },
        E::ItemStarted {
            turn_id: turn_id(),
            item: item("m", ItemStatus::InProgress, message("")),
        },
        E::ItemCompleted {
            turn_id: turn_id(),
            item: item("m", ItemStatus::Completed, message("x")),
        },
        E::Usage {
            turn_id: turn_id(),
            usage: protocol::TokenUsage::default(),
        },
        E::ToolCall {
            turn_id: turn_id(),
            call_id: "1".into(),
            name: "sum".into(),
            arguments: Json::null(),
        },
        E::ApprovalClosed {
            request_id: "1".into(),
        },
        E::Steered {
            input_id: "nobody's".into(),
        },
        E::SteerRefused {
            input_id: "nobody's".into(),
        },
        E::SubagentClosed {
            subagent: "nobody".into(),
        },
    ];
    for event in strange {
        assert_eq!(bench.harness(event), Step::default());
    }
    assert_eq!(bench.session.public.usage, None);
    bench.end(Outcome::Completed);
    // Late ones, of a turn that has ended.
    let ended = bench.order.ended[0].0.clone();
    let item = item("m", ItemStatus::Completed, message("x"));
    let late = bench.harness(E::ItemCompleted {
        turn_id: ended,
        item,
    });
    assert_eq!(late, Step::default());
}

#[test]
fn the_catalog_is_told_of_what_changes_and_not_of_each_event() {
    let mut bench = Bench::new();
    bench.started();
    let version = bench.session.version;
    bench.begin("m", message(""));
    bench.text("m", "x");
    assert_eq!(bench.session.version, version);
    bench.end(Outcome::Completed);
    assert!(bench.session.version > version);
    assert_eq!(bench.session.public.last_active_at, bench.now / 1000);
}
