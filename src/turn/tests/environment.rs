//! What is said of the environment, and a session that fails with it.
use super::*;
use crate::environment::EnvironmentFault;
use crate::wire::request::{Change, SessionUpdate};
use cloister_protocol::Decision;
use std::collections::BTreeMap;

const SETUP: EnvironmentFault = EnvironmentFault::SetupFailed {
    command: 2,
    exit_code: Some(7),
};

impl Bench {
    /// The running turn was brought to a harness. Gives the events.
    fn brought(&mut self, new_sandbox: bool) -> Vec<&str> {
        let from = self.events.len();
        let turn_id = self.turn();
        self.step(Input::Started {
            turn_id,
            new_sandbox,
        });
        self.names(from)
    }

    /// The environment of the running turn cannot be made. Gives the events.
    fn fault(&mut self, fault: EnvironmentFault) -> Vec<&str> {
        let from = self.events.len();
        let turn_id = self.turn();
        let step = self.step(Input::NotStarted {
            turn_id,
            fault: Some(fault),
        });
        assert_eq!(step.effects, []);
        self.names(from)
    }

    /// The running turn ends, and its sandbox was lost before. Gives the events.
    fn end_lost(&mut self, outcome: Outcome) -> Vec<&str> {
        let from = self.events.len();
        let saved = Saved {
            workspace: None,
            sandbox_lost: true,
            ..saved(self.saving())
        };
        self.end_saved(saved, outcome);
        self.names(from)
    }

    fn failed() -> Self {
        let mut bench = Self::new();
        bench.say("go");
        bench.fault(SETUP);
        bench
    }
}

#[test]
fn a_creation_stream_begins_with_the_session_and_its_environment() {
    let mut bench = Bench::new();
    let mut step = Step::default();
    bench.session.created(&mut step);
    bench.commit(&step);
    assert_eq!(bench.names(0), ["created", "environment.pending"]);
    assert_eq!(bench.events[0]["session"]["status"], "idle");
    let mut event = bench.events[1].clone();
    event.as_object_mut().unwrap().remove("event_id");
    let expected = json!({
        "type": "agent.session.environment.pending", "session_id": "sess_1", "turn_id": null,
        "environment": {"id": "env_1", "type": "openai_hosted", "status": "pending", "error": null},
    });
    assert_eq!(event, expected);
    bench.say("go");
    bench.brought(true);
    let from = bench.names(2);
    let expected = [
        "turn.created",
        "turn.item.added",
        "in_progress",
        "environment.ready",
        "environment.connected",
    ];
    assert_eq!(from, expected);
    let ready = &bench.newest("environment.ready")["environment"];
    assert_eq!(
        (&ready["status"], &ready["error"]),
        (&json!("ready"), &json!(null))
    );
}

#[test]
fn it_is_told_once_whoever_comes_first() {
    let told = ["environment.ready", "environment.connected"];
    let mut bench = Bench::new();
    bench.say("go");
    assert_eq!(bench.brought(true), told);
    assert_eq!(bench.brought(true), [""; 0]);
    bench.start();
    let mut bench = Bench::new();
    bench.say("go");
    bench.start();
    assert_eq!(bench.names(3), [told[0], told[1], "turn.in_progress"]);
    assert_eq!(bench.brought(true), [""; 0]);
}

#[test]
fn any_report_of_the_turn_says_that_it_is_there() {
    let reports: [fn(&mut Bench); 3] = [
        |bench| drop(bench.begin("c", command(None))),
        |bench| drop(bench.finish("m", message("x"))),
        |bench| drop(bench.end(Outcome::Completed)),
    ];
    for report in reports {
        let mut bench = Bench::new();
        bench.say("go");
        report(&mut bench);
        let told = ["environment.ready", "environment.connected"];
        assert_eq!(bench.names(3)[..2], told);
    }
}

#[test]
fn the_same_sandbox_is_not_told_of_and_another_is() {
    let mut bench = Bench::new();
    for (new_sandbox, events) in [(false, 2), (false, 0), (true, 2), (false, 0)] {
        bench.say("go");
        assert_eq!(bench.brought(new_sandbox).len(), events, "{new_sandbox}");
        bench.start();
        bench.end(Outcome::Completed);
    }
    // Heard late, it would come behind what the turn has done.
    bench.started();
    assert_eq!(bench.brought(true), [""; 0]);
}

#[test]
fn another_turn_says_nothing_of_the_running_one() {
    let mut bench = Bench::new();
    let before = bench.started();
    bench.end(Outcome::Completed);
    bench.say("go");
    let late = bench.step(Input::Started {
        turn_id: before.clone(),
        new_sandbox: true,
    });
    assert_eq!(late, Step::default());
    let late = bench.step(Input::NotStarted {
        turn_id: before,
        fault: Some(SETUP),
    });
    assert_eq!(late, Step::default());
    assert_eq!(bench.status(), SessionStatus::InProgress);
}

#[test]
fn a_lost_sandbox_is_told_with_its_turn_and_counted_with_the_next() {
    let mut bench = Bench::new();
    for (count, outcome) in [
        (1, Outcome::Completed),
        (2, Outcome::Interrupted),
        (3, Outcome::Completed),
    ] {
        bench.say("go");
        bench.start();
        if outcome == Outcome::Interrupted {
            bench.step(Input::Cancel);
        }
        let end = match outcome {
            Outcome::Completed => "turn.failed",
            _ => "turn.cancelled",
        };
        let expected = ["environment.disconnected", end, "idle"];
        assert_eq!(bench.end_lost(outcome), expected);
        bench.say("go");
        // It is lost, whatever is known of the new one.
        let expected = [
            "environment.reset",
            "environment.ready",
            "environment.connected",
        ];
        assert_eq!(bench.brought(count % 2 == 0), expected);
        let reset = bench.newest("environment.reset");
        assert_eq!(reset["reset_count"], count);
        assert_eq!(reset["environment_id"], "env_1");
        bench.start();
        bench.end(Outcome::Completed);
    }
}

#[test]
fn a_reset_waits_for_a_turn_that_is_brought_to_a_harness() {
    let mut bench = Bench::new();
    bench.started();
    bench.end_lost(Outcome::Completed);
    bench.say("go");
    let from = bench.events.len();
    bench.step(not_started(bench.turn()));
    assert_eq!(bench.names(from), ["turn.failed", "idle"]);
    let from = bench.events.len();
    bench.started();
    assert_eq!(bench.names(from)[3], "environment.reset");
}

#[test]
fn a_session_fails_with_its_environment() {
    let mut bench = Bench::new();
    bench.say("go");
    let turn_id = bench.turn();
    let expected = ["environment.failed", "error", "turn.failed", "failed"];
    assert_eq!(bench.fault(SETUP), expected);
    let text =
        "Failed to provision environment: script \"setup_commands[2]\" failed with exit code 7";
    let error =
        json!({"type": "environment_error", "code": "environment_setup_failed", "message": text});
    let environment = &bench.newest("environment.failed")["environment"];
    assert_eq!(
        (&environment["status"], &environment["error"]),
        (&json!("failed"), &error)
    );
    let told = &bench.newest("error")["error"];
    for member in ["type", "code", "message"] {
        assert_eq!(told[member], error[member]);
    }
    assert_eq!(told.get("param"), Some(&Value::Null));
    assert_eq!(bench.newest("error")["session_id"], "sess_1");
    assert_eq!(bench.last_end(), ("failed", Some("sandbox_error")));
    assert_eq!(bench.stored_turn(&turn_id), "failed");
    let shown = &bench.newest("failed")["session"];
    assert_eq!(
        (&shown["status"], &shown["error"]),
        (&json!("failed"), &json!(text))
    );
    assert_eq!(bench.status(), SessionStatus::Failed);
    let ends = bench.store.log.last().unwrap().ends;
    assert_eq!(ends, Ends::Session, "every stream ends with it");
}

#[test]
fn each_fault_has_its_text() {
    for (fault, code, end) in [
        (
            EnvironmentFault::SetupFailed {
                command: 0,
                exit_code: None,
            },
            "environment_setup_failed",
            "script \"setup_commands[0]\" was stopped before it ended",
        ),
        (
            EnvironmentFault::NotIsolated,
            "environment_not_isolated",
            "the isolation of the sandbox's network could not be confirmed",
        ),
    ] {
        let mut bench = Bench::new();
        bench.say("go");
        bench.fault(fault);
        let error = &bench.newest("error")["error"];
        assert_eq!(error["code"], code);
        let text = format!("Failed to provision environment: {end}");
        assert_eq!(error["message"], text);
    }
}

#[test]
fn a_cancelled_turn_reads_cancelled_in_a_session_that_fails() {
    let mut bench = Bench::new();
    bench.say("go");
    bench.step(Input::Cancel);
    let expected = ["environment.failed", "error", "turn.cancelled", "failed"];
    assert_eq!(bench.fault(SETUP), expected);
    assert_eq!(bench.last_end(), ("cancelled", None));
}

#[test]
fn what_waits_is_shown_with_the_turn_that_fails_and_begins_none() {
    let mut bench = Bench::new();
    bench.say("go");
    let turn_id = bench.turn();
    bench.say("one");
    bench.say("two");
    let events = bench.fault(SETUP);
    assert_eq!(
        events[..3],
        ["turn.item.added", "turn.item.added", "environment.failed"]
    );
    let turns = bench.store.items.iter().map(|(_, item)| item.turn_id());
    assert_eq!(turns.collect::<Vec<_>>(), [&turn_id; 3]);
    assert_eq!(bench.session.waiting_bytes(), 0);
    assert!(bench.session.is_settled(), "it can be deleted");
}

#[test]
fn an_environment_may_fail_after_it_was_connected_or_lost() {
    let ends: [fn(&mut Bench); 2] = [
        |bench| drop(bench.end(Outcome::Completed)),
        |bench| drop(bench.end_lost(Outcome::Completed)),
    ];
    for end in ends {
        let mut bench = Bench::new();
        bench.started();
        end(&mut bench);
        bench.say("go");
        let expected = ["environment.failed", "error", "turn.failed", "failed"];
        assert_eq!(bench.fault(EnvironmentFault::NotIsolated), expected);
    }
}

#[test]
fn a_failed_session_takes_nothing_from_its_client() {
    let mut bench = Bench::failed();
    let turn_id = bench.store.turns[0].id.clone();
    let result = ToolResult {
        turn_id,
        call_id: "c".into(),
        success: true,
        output: None,
        error: None,
    };
    let approval = Input::ApprovalResult {
        request_id: "r".into(),
        decision: Decision::Deny,
    };
    for input in [
        Input::Messages(vec![vec![said("x")]]),
        Input::Cancel,
        Input::ToolResult(result),
        approval,
    ] {
        assert_eq!(bench.offer(input), Err(Refused::Failed));
    }
}

#[test]
fn an_answered_call_is_not_answered_again_in_a_failed_session() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("c1", "mail");
    bench.end(Outcome::Completed);
    bench.say("go");
    bench.fault(SETUP);
    let result = Input::ToolResult(ToolResult {
        turn_id,
        call_id: "c1".into(),
        success: true,
        output: None,
        error: None,
    });
    assert_eq!(bench.offer(result), Err(Refused::Failed));
}

#[test]
fn nothing_follows_in_a_failed_session() {
    let mut bench = Bench::failed();
    let turn_id = bench.store.turns[0].id.clone();
    let fault = Some(SETUP);
    let inputs = [
        Input::Started {
            turn_id: turn_id.clone(),
            new_sandbox: true,
        },
        Input::NotStarted {
            turn_id: turn_id.clone(),
            fault,
        },
        Input::Lost {
            turn_id: turn_id.clone(),
        },
        Input::Saving {
            turn_id: turn_id.clone(),
            checkpoint: CheckpointId::new([1; 16]),
        },
        Input::Tick,
        bench.reported(E::Ready {
            harness: "codex".into(),
        }),
        bench.reported(E::TurnStarted {
            turn_id: turn_id.clone(),
            thread: "t".into(),
        }),
        bench.reported(E::SubagentOpened {
            turn_id: turn_id.clone(),
            subagent: "s".into(),
            parent: None,
            name: None,
            prompt: None,
        }),
    ];
    for input in inputs {
        let step = bench.step(input.clone());
        assert_eq!(step, Step::default(), "{input:?}");
    }
    assert_eq!(bench.session.seen(1), bench.seq, "they do not come again");
    assert_eq!(bench.session.wake_at(), None);
    assert!(!bench.session.wants(&bench.effects[0]));
}

#[test]
fn a_failed_session_can_be_updated() {
    let mut bench = Bench::failed();
    let notes = BTreeMap::from([("ticket".to_owned(), "7".to_owned())]);
    let update = SessionUpdate {
        metadata: Change::Set(notes.clone()),
        ..SessionUpdate::default()
    };
    let version = bench.session.version;
    let step = bench.step(Input::Update(Box::new(update)));
    assert_eq!(step, Step::default());
    assert_eq!(bench.session.public.metadata, notes);
    assert_eq!(bench.session.version, version + 1);
    assert_eq!(bench.status(), SessionStatus::Failed);
}

#[test]
fn a_session_that_only_talks_hears_of_no_environment() {
    let mut bench = Bench::new();
    bench.session.identity.environment_id = None;
    bench.session.public_changed = true;
    let mut step = Step::default();
    bench.session.created(&mut step);
    bench.commit(&step);
    bench.say("go");
    assert_eq!(bench.brought(false), [""; 0]);
    bench.start();
    bench.end(Outcome::Completed);
    let of_environment = |name: &&str| name.starts_with("environment");
    assert!(!bench.names(0).iter().any(of_environment));
}

#[test]
fn sessions_that_were_stored_before_environments_were_told_of_are_read() {
    let mut bench = Bench::new();
    bench.started();
    let key = (CellKind::Core, 0);
    let mut core: Value = serde_json::from_str(&bench.store.cells[&key]).unwrap();
    assert!(core
        .as_object_mut()
        .unwrap()
        .remove("environment")
        .is_some());
    let running = core["running"].as_object_mut().unwrap();
    assert!(running.remove("brought").is_some());
    bench.store.cells.insert(key, core.to_string());
    let mut loaded = bench.store.load();
    let mut drawn = 100;
    let input = bench.ended(Outcome::Completed);
    stepped(&mut loaded, bench.now, &mut drawn, vec![input]).unwrap();
    assert!(loaded.is_settled());
}
