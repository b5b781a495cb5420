#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;
use crate::tenant::Tenant;
use crate::wire::event::Event;
use crate::wire::item::{InputContent, Item};
use crate::wire::session as wire;
use crate::wire::turn::{TurnErrorCode, TurnStatus};
use cloister_protocol::{self as protocol, ItemKind, ItemStatus, Outcome};

/// A session with a clock and a log of its own.
struct Bench {
    session: Session,
    now: u64,
    drawn: u64,
    seq: u64,
    events: Vec<Event>,
    effects: Vec<Effect>,
    items: Vec<(String, Item)>,
}

impl Bench {
    fn new() -> Self {
        let public = serde_json::json!({
            "id": "sess_1", "object": "agent.session", "created_at": 1, "last_active_at": 1, "status": "idle", "error": null,
            "agent": {
                "id": "agent_1", "name": null, "model": "codex", "instructions": null, "reasoning": {"effort": null, "summary": null},
                "text": {"format": {"type": "text"}, "verbosity": "medium"}, "service_tier": "auto",
                "multi_agent": {"enabled": false, "max_concurrent_subagents": null}, "tools": [],
            },
            "environment": {"type": "none"}, "metadata": {}, "required_actions": [], "usage": null, "vault_ids": [],
        });
        let identity = Identity {
            tenant: Tenant::new("acme").unwrap().hash(),
            environment_id: "env_1".into(),
            preset: "codex".into(),
            settings: Default::default(),
        };
        let session = Session::new(identity, serde_json::from_value(public).unwrap());
        Self {
            session,
            now: 1_000_000,
            drawn: 0,
            seq: 0,
            events: vec![],
            effects: vec![],
            items: vec![],
        }
    }

    fn step(&mut self, input: Input) -> Step {
        let drawn = &mut self.drawn;
        let mut random = || {
            *drawn += 1;
            u128::from(*drawn).to_be_bytes()
        };
        let mut seeds = Seeds {
            now: self.now,
            random: &mut random,
            turn_deadline: 60_000,
            cancel_deadline: 5_000,
        };
        let step = self.session.step(input, &mut seeds);
        self.events.extend(step.events.clone());
        self.effects.extend(step.effects.clone());
        for write in &step.items {
            match write {
                ItemWrite::Append(item) => self.items.push((item.id().to_owned(), item.clone())),
                ItemWrite::Update(item) => {
                    self.items
                        .iter_mut()
                        .find(|(id, _)| id == item.id())
                        .unwrap()
                        .1 = item.clone()
                }
                ItemWrite::Remove(id) => self.items.retain(|(other, _)| other != id),
            }
        }
        step
    }

    fn say(&mut self, text: &str) -> Step {
        self.step(Input::Messages(vec![vec![InputContent::InputText {
            text: text.into(),
        }]]))
    }

    fn harness(&mut self, event: protocol::Event) -> Step {
        self.seq += 1;
        self.step(Input::Harness {
            epoch: 1,
            seq: self.seq,
            event,
        })
    }

    fn turn(&self) -> String {
        self.session.running_turn().unwrap().to_owned()
    }

    fn started(&mut self) -> String {
        self.say("go");
        let turn_id = self.turn();
        self.harness(protocol::Event::TurnStarted {
            turn_id: turn_id.clone(),
            thread: "t".into(),
        });
        turn_id
    }

    fn end(&mut self, outcome: Outcome) -> Step {
        let turn_id = self.turn();
        self.harness(protocol::Event::TurnEnded { turn_id, outcome })
    }

    fn names(&self) -> Vec<&'static str> {
        self.events
            .iter()
            .map(|event| {
                event
                    .name()
                    .trim_start_matches("agent.session.")
                    .trim_start_matches("agent.output.")
            })
            .collect()
    }

    fn last_turn(&self) -> (TurnStatus, Option<TurnErrorCode>) {
        let mut ends = self.events.iter().rev().filter_map(|event| match event {
            Event::TurnCompleted(end) | Event::TurnFailed(end) | Event::TurnCancelled(end) => {
                Some(&end.turn)
            }
            _ => None,
        });
        ends.next()
            .map(|turn| (turn.status, turn.error.as_ref().map(|error| error.code)))
            .unwrap()
    }
}

fn item(id: &str, status: ItemStatus, kind: ItemKind) -> protocol::Item {
    protocol::Item {
        id: id.into(),
        status,
        kind,
    }
}

fn message(text: &str) -> ItemKind {
    ItemKind::Message {
        text: text.into(),
        phase: None,
    }
}

fn command(output: Option<&str>) -> ItemKind {
    ItemKind::Command {
        command: "ls".into(),
        cwd: None,
        output: output.map(str::to_owned),
        exit_code: output.map(|_| 0),
        duration_ms: output.map(|_| 3),
    }
}

#[test]
fn a_turn_has_the_order_of_the_reference() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    let (t, i) = (|| turn_id.clone(), || "m".to_owned());
    bench.harness(protocol::Event::ItemStarted {
        turn_id: t(),
        item: item(
            "r",
            ItemStatus::InProgress,
            ItemKind::Reasoning { summary: vec![] },
        ),
    });
    bench.harness(protocol::Event::ReasoningDelta {
        turn_id: t(),
        item_id: "r".into(),
        part: 0,
        delta: "why".into(),
    });
    bench.harness(protocol::Event::ItemCompleted {
        turn_id: t(),
        item: item(
            "r",
            ItemStatus::Completed,
            ItemKind::Reasoning {
                summary: vec!["why".into()],
            },
        ),
    });
    bench.harness(protocol::Event::ItemStarted {
        turn_id: t(),
        item: item("c", ItemStatus::InProgress, command(None)),
    });
    bench.harness(protocol::Event::OutputDelta {
        turn_id: t(),
        item_id: "c".into(),
        delta: "a\n".into(),
    });
    bench.harness(protocol::Event::ItemCompleted {
        turn_id: t(),
        item: item("c", ItemStatus::Completed, command(Some("a\nb\n"))),
    });
    bench.harness(protocol::Event::ItemStarted {
        turn_id: t(),
        item: item("m", ItemStatus::InProgress, message("")),
    });
    bench.harness(protocol::Event::TextDelta {
        turn_id: t(),
        item_id: i(),
        delta: "Hel".into(),
    });
    bench.harness(protocol::Event::ItemCompleted {
        turn_id: t(),
        item: item("m", ItemStatus::Completed, message("Hello")),
    });
    bench.end(Outcome::Completed);
    let expected = [
        "turn.created",
        "turn.item.added",
        "in_progress",
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
    assert_eq!(bench.names(), expected);
    // What never came as a delta is sent before the end, so that deltas add up to the whole.
    let deltas: String = bench
        .events
        .iter()
        .filter_map(|event| match event {
            Event::OutputTextDelta(delta) => Some(delta.delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(deltas, "Hello");
    assert_eq!(bench.items.len(), 4);
    assert!(bench.session.is_settled() && bench.session.wake_at().is_none());
    let ids: std::collections::HashSet<&str> = bench.events.iter().map(Event::id).collect();
    assert_eq!(ids.len(), bench.events.len(), "event ids are unique");
}

#[test]
fn an_event_is_taken_once_and_an_older_instance_never() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    let text = |epoch, seq| Input::Harness {
        epoch,
        seq,
        event: protocol::Event::ItemCompleted {
            turn_id: turn_id.clone(),
            item: item("m", ItemStatus::Completed, message("x")),
        },
    };
    assert!(!bench.step(text(1, 2)).events.is_empty());
    assert!(bench.step(text(1, 2)).events.is_empty());
    assert!(bench.step(text(1, 1)).events.is_empty());
    assert!(bench.step(text(0, 9)).events.is_empty());
}

#[test]
fn d7_cancel_before_the_harness_has_the_turn_ends_it_as_cancelled() {
    let mut bench = Bench::new();
    bench.say("go");
    bench.step(Input::Cancel);
    let turn_id = bench.turn();
    assert_eq!(
        bench.effects.last(),
        Some(&Effect::Interrupt {
            turn_id: turn_id.clone()
        })
    );
    bench.harness(protocol::Event::TurnStarted {
        turn_id,
        thread: "t".into(),
    });
    bench.end(Outcome::Interrupted);
    assert_eq!(bench.last_turn(), (TurnStatus::Cancelled, None));
}

#[test]
fn d20_what_was_said_before_a_cancel_never_reaches_the_model() {
    let mut bench = Bench::new();
    bench.say("go");
    bench.say("and this");
    bench.step(Input::Cancel);
    bench.end(Outcome::Interrupted);
    assert!(bench.session.is_settled());
    assert_eq!(
        bench
            .effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Run { .. } | Effect::Steer { .. }))
            .count(),
        1
    );
}

#[test]
fn h4_a_cancelled_turn_reads_cancelled_and_keeps_its_usage() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    let usage = protocol::TokenUsage {
        input_tokens: 10,
        cached_tokens: 4,
        output_tokens: 2,
        reasoning_tokens: 1,
    };
    bench.harness(protocol::Event::Usage { turn_id, usage });
    bench.step(Input::Cancel);
    bench.end(Outcome::Completed);
    assert_eq!(bench.last_turn(), (TurnStatus::Cancelled, None));
    assert_eq!(bench.session.public.usage.unwrap().total_tokens, 12);
}

#[test]
fn a_command_cut_by_a_cancel_is_shown_incomplete_and_not_kept() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.harness(protocol::Event::ItemStarted {
        turn_id: turn_id.clone(),
        item: item("c", ItemStatus::InProgress, command(None)),
    });
    bench.step(Input::Cancel);
    bench.end(Outcome::Interrupted);
    assert_eq!(
        bench.names()[bench.names().len() - 3..],
        ["turn.item.done", "turn.cancelled", "idle"]
    );
    assert_eq!(bench.items.len(), 1, "the user's message");
    // Its late completion changes nothing: a stored event never changes.
    let late = bench.harness(protocol::Event::ItemCompleted {
        turn_id,
        item: item("c", ItemStatus::Failed, command(Some("x"))),
    });
    assert_eq!(late, Step::default());
}

#[test]
fn a_turn_that_does_not_stop_ends_with_its_containers() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.step(Input::Cancel);
    assert_eq!(bench.session.wake_at(), Some(bench.now + 5_000));
    assert_eq!(bench.step(Input::Tick), Step::default());
    bench.now += 5_000;
    bench.step(Input::Tick);
    assert_eq!(bench.effects.last(), Some(&Effect::Destroy));
    assert_eq!(bench.last_turn(), (TurnStatus::Cancelled, None));
    assert_eq!(
        bench.harness(protocol::Event::TurnEnded {
            turn_id,
            outcome: Outcome::Completed
        }),
        Step::default()
    );
}

#[test]
fn a_turn_past_its_deadline_is_stopped_and_fails() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.now += 60_000;
    bench.step(Input::Tick);
    assert_eq!(bench.effects.last(), Some(&Effect::Interrupt { turn_id }));
    bench.end(Outcome::Interrupted);
    assert_eq!(
        bench.last_turn(),
        (TurnStatus::Failed, Some(TurnErrorCode::RequestTimeout))
    );
}

#[test]
fn h2_a_refused_steer_becomes_the_next_turns_input() {
    let mut bench = Bench::new();
    bench.started();
    bench.say("more");
    let Some(Effect::Steer { input_id, .. }) = bench.effects.last().cloned() else {
        panic!("no steer")
    };
    bench.end(Outcome::Completed);
    assert!(!bench.session.is_settled(), "the message is not lost");
    bench.harness(protocol::Event::SteerRefused { input_id });
    assert!(matches!(bench.effects.last(), Some(Effect::Run { .. })));
    bench.end(Outcome::Completed);
    assert!(bench.session.is_settled());
    assert_eq!(bench.items.len(), 2);
}

#[test]
fn a_steer_becomes_an_item_of_the_running_turn_when_it_is_taken() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    assert!(
        bench.say("more").items.is_empty(),
        "order is given when it is taken"
    );
    let Some(Effect::Steer { input_id, .. }) = bench.effects.last().cloned() else {
        panic!("no steer")
    };
    bench.harness(protocol::Event::Steered { input_id });
    assert_eq!(bench.items.last().unwrap().1.turn_id(), turn_id);
}

#[test]
fn d11_messages_during_start_up_are_kept_and_steer_the_turn_once_it_runs() {
    let mut bench = Bench::new();
    bench.say("one");
    bench.say("two");
    bench.say("three");
    let turn_id = bench.turn();
    let step = bench.harness(protocol::Event::TurnStarted {
        turn_id,
        thread: "t".into(),
    });
    let [Effect::Steer { input, .. }] = &step.effects[..] else {
        panic!("{step:?}")
    };
    assert_eq!(input.len(), 2);
}

#[test]
fn d2_every_way_a_turn_can_be_lost_ends_it_once() {
    type Loss = fn(String) -> Input;
    let losses: [(Loss, TurnErrorCode); 3] = [
        (
            |turn_id| Input::NotStarted { turn_id },
            TurnErrorCode::SandboxError,
        ),
        (
            |turn_id| Input::Lost { turn_id },
            TurnErrorCode::InternalError,
        ),
        (
            |_| Input::Harness {
                epoch: 1,
                seq: 9,
                event: protocol::Event::HarnessLost { exit_code: Some(1) },
            },
            TurnErrorCode::InternalError,
        ),
    ];
    for (loss, code) in losses {
        let mut bench = Bench::new();
        bench.say("go");
        let turn_id = bench.turn();
        bench.step(loss(turn_id.clone()));
        assert_eq!(bench.last_turn(), (TurnStatus::Failed, Some(code)));
        assert_eq!(bench.step(loss(turn_id)), Step::default());
        assert_eq!(bench.session.public.status, wire::SessionStatus::Idle);
    }
}

#[test]
fn a_steer_of_unknown_outcome_belongs_to_the_lost_turn() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.say("more");
    bench.step(Input::Lost {
        turn_id: turn_id.clone(),
    });
    assert!(bench.session.is_settled());
    assert_eq!(
        bench
            .items
            .iter()
            .map(|(_, item)| item.turn_id())
            .collect::<Vec<_>>(),
        [&turn_id, &turn_id]
    );
}

#[test]
fn a_forged_harness_cannot_grow_what_is_stored() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    for n in 0..1_000 {
        bench.harness(protocol::Event::ItemStarted {
            turn_id: turn_id.clone(),
            item: item(&n.to_string(), ItemStatus::InProgress, message("")),
        });
    }
    assert!(bench.items.len() <= 65);
    for _ in 0..10 {
        bench.harness(protocol::Event::TextDelta {
            turn_id: turn_id.clone(),
            item_id: "0".into(),
            delta: "ä".repeat(40_000),
        });
    }
    for n in 0..64 {
        bench.harness(protocol::Event::TextDelta {
            turn_id: turn_id.clone(),
            item_id: n.to_string(),
            delta: "y".repeat(100_000),
        });
    }
    let long = item(&"i".repeat(1_000_000), ItemStatus::InProgress, message(""));
    let refused = bench.harness(protocol::Event::ItemStarted {
        turn_id: turn_id.clone(),
        item: long,
    });
    assert_eq!(refused, Step::default());
    let row = serde_json::to_string(&bench.session).unwrap().len();
    assert!(row < 400_000, "the session's row has {row} bytes");
    bench.harness(protocol::Event::ReasoningDelta {
        turn_id: turn_id.clone(),
        item_id: "0".into(),
        part: u32::MAX,
        delta: "x".into(),
    });
    let usage = protocol::TokenUsage {
        input_tokens: u64::MAX,
        cached_tokens: u64::MAX,
        output_tokens: u64::MAX,
        reasoning_tokens: u64::MAX,
    };
    bench.harness(protocol::Event::Usage {
        turn_id: turn_id.clone(),
        usage,
    });
    bench.harness(protocol::Event::Usage { turn_id, usage });
    bench.end(Outcome::Completed);
}

#[test]
fn events_of_other_turns_change_nothing() {
    let mut bench = Bench::new();
    bench.started();
    let other = || "turn_other".to_owned();
    let strange = [
        protocol::Event::TurnEnded {
            turn_id: other(),
            outcome: Outcome::Completed,
        },
        protocol::Event::TurnStarted {
            turn_id: other(),
            thread: "t".into(),
        },
        protocol::Event::ItemCompleted {
            turn_id: other(),
            item: item("m", ItemStatus::Completed, message("x")),
        },
        protocol::Event::Steered {
            input_id: "nobody's".into(),
        },
        protocol::Event::SteerRefused {
            input_id: "nobody's".into(),
        },
    ];
    for event in strange {
        assert_eq!(bench.harness(event), Step::default());
    }
}

#[test]
fn edits_are_shown_as_a_command() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    let changes = vec![protocol::FileChange {
        path: "/workspace/a".into(),
        kind: protocol::FileChangeKind::Added,
    }];
    bench.harness(protocol::Event::ItemCompleted {
        turn_id,
        item: item(
            "f",
            ItemStatus::Completed,
            ItemKind::FileChanges { changes },
        ),
    });
    let Item::CommandExecution(edit) = &bench.items.last().unwrap().1 else {
        panic!("{:?}", bench.items)
    };
    assert_eq!(
        (
            edit.command.as_str(),
            edit.output.as_deref(),
            edit.exit_code
        ),
        ("apply_patch", Some("A /workspace/a\n"), Some(0))
    );
}

#[test]
fn h14_what_waits_is_measured() {
    let mut bench = Bench::new();
    bench.say("go");
    assert_eq!(bench.session.waiting_bytes(), "[[]]".len());
    bench.say(&"x".repeat(1_000));
    assert!(bench.session.waiting_bytes() > 1_000);
    let turn_id = bench.turn();
    bench.harness(protocol::Event::TurnStarted {
        turn_id,
        thread: "t".into(),
    });
    assert!(
        bench.session.waiting_bytes() > 1_000,
        "sent, and not taken yet"
    );
}
