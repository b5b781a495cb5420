//! Agents that the session's agent has made.
use super::*;
use cloister_protocol::SubagentEvent;

fn open(bench: &mut Bench, id: &str, parent: Option<&str>) -> Step {
    bench.harness(E::SubagentOpened {
        turn_id: bench.turn(),
        subagent: id.into(),
        parent: parent.map(str::to_owned),
        name: Some(format!("name of {id}")),
        prompt: Some("help".into()),
    })
}

fn does(bench: &mut Bench, id: &str, event: SubagentEvent) -> Step {
    bench.harness(E::Subagent {
        subagent: id.into(),
        turn: "t1".into(),
        event,
    })
}

fn usage() -> protocol::TokenUsage {
    protocol::TokenUsage {
        input_tokens: 5,
        ..protocol::TokenUsage::default()
    }
}

fn statuses(bench: &Bench) -> Vec<String> {
    bench
        .store
        .subagents
        .iter()
        .map(|subagent| word(&subagent.status))
        .collect()
}

#[test]
fn a_subagent_opens_works_and_closes() {
    let mut bench = Bench::new();
    let root = bench.started();
    let from = bench.events.len();
    open(&mut bench, "h1", None);
    assert_eq!(bench.names(from), ["subagent.created", "subagent.active"]);
    let child = bench.store.subagents[0].clone();
    let shown = &bench.events[from]["subagent"];
    assert_eq!(
        (&shown["id"], &shown["parent_agent_id"], &shown["name"]),
        (&json!(child.id), &json!("agent_1"), &json!("name of h1"))
    );
    assert_eq!(
        shown["instructions"],
        json!([{"type": "output_text", "text": "help"}])
    );

    let step = does(&mut bench, "h1", SubagentEvent::Started);
    assert!(step.chunks.is_empty(), "what it does is not in the stream");
    let turn = step.turns[0].clone();
    assert_eq!(turn.subagent_id.as_ref(), Some(&child.id));
    assert_eq!(turn.agent_id, "agent_1");
    assert_eq!(
        does(&mut bench, "h1", SubagentEvent::Started),
        Step::default()
    );
    let begun = item("i", ItemStatus::InProgress, message(""));
    assert_eq!(
        does(&mut bench, "h1", SubagentEvent::ItemStarted(begun)),
        Step::default()
    );
    let done = item("i", ItemStatus::Completed, message("x"));
    does(&mut bench, "h1", SubagentEvent::ItemCompleted(done));
    let (of, item) = bench.store.items.last().unwrap();
    assert_eq!(
        (of.as_ref(), item.turn_id()),
        (Some(&child.id), turn.id.as_str())
    );
    does(&mut bench, "h1", SubagentEvent::Usage(usage()));
    does(&mut bench, "h1", SubagentEvent::Ended(Outcome::Completed));
    let stored = bench.store.turn(&turn.id).unwrap();
    assert_eq!(word(&stored.status), "completed");
    assert_eq!(stored.usage.unwrap().total_tokens, 5);
    assert_eq!(bench.session.public.usage.unwrap().total_tokens, 5);

    let from = bench.events.len();
    bench.harness(E::SubagentClosed {
        subagent: "h1".into(),
    });
    assert_eq!(bench.names(from), ["subagent.closed"]);
    assert_eq!(
        bench.events[from]["subagent"]["closed_at"],
        json!(bench.now / 1000)
    );
    let again = bench.harness(E::SubagentClosed {
        subagent: "h1".into(),
    });
    assert_eq!(again, Step::default());
    bench.end(Outcome::Completed);
    assert_eq!(
        bench.store.turn(&root).unwrap().usage,
        None,
        "the root's own is its own"
    );
}

#[test]
fn children_of_children_name_their_parent() {
    let mut bench = Bench::new();
    bench.started();
    open(&mut bench, "h1", None);
    open(&mut bench, "h2", Some("h1"));
    open(&mut bench, "h3", Some("a stranger"));
    let parents = bench
        .store
        .subagents
        .iter()
        .map(|child| child.parent_agent_id.clone());
    let first = bench.store.subagents[0].id.clone();
    let root = "agent_1".to_owned();
    assert_eq!(parents.collect::<Vec<_>>(), [root.clone(), first, root]);
}

#[test]
fn a_turn_of_a_subagent_ends_as_the_harness_says() {
    let failed = Outcome::Failed {
        code: protocol::FailureCode::ServerError,
    };
    for (outcome, status) in [(Outcome::Interrupted, "cancelled"), (failed, "failed")] {
        let mut bench = Bench::new();
        bench.started();
        open(&mut bench, "h1", None);
        does(&mut bench, "h1", SubagentEvent::Started);
        let step = does(&mut bench, "h1", SubagentEvent::Ended(outcome));
        assert_eq!(word(&step.turns[0].status), status);
        assert_eq!(step.turns[0].error.is_some(), status == "failed");
    }
}

#[test]
fn a_subagent_works_on_after_the_turn_and_into_the_next() {
    let mut bench = Bench::new();
    bench.started();
    open(&mut bench, "h1", None);
    does(&mut bench, "h1", SubagentEvent::Started);
    bench.end(Outcome::Completed);
    assert!(bench.session.is_settled());
    let done = item("i", ItemStatus::Completed, message("x"));
    does(&mut bench, "h1", SubagentEvent::ItemCompleted(done));
    bench.started();
    does(&mut bench, "h1", SubagentEvent::Ended(Outcome::Completed));
    assert_eq!(statuses(&bench), ["active"]);
    assert!(bench
        .store
        .turns
        .iter()
        .any(|turn| turn.subagent_id.is_some() && word(&turn.status) == "completed"));
}

#[test]
fn strangers_and_forged_ids_are_not_taken() {
    let mut bench = Bench::new();
    bench.started();
    open(&mut bench, "h1", None);
    assert_eq!(open(&mut bench, "h1", None), Step::default());
    assert_eq!(open(&mut bench, &"h".repeat(257), None), Step::default());
    for event in [
        SubagentEvent::Started,
        SubagentEvent::Usage(usage()),
        SubagentEvent::Ended(Outcome::Completed),
    ] {
        assert_eq!(does(&mut bench, "h2", event), Step::default());
    }
    let done = item("i", ItemStatus::Completed, message("x"));
    let early = does(&mut bench, "h1", SubagentEvent::ItemCompleted(done));
    assert_eq!(early, Step::default(), "its turn has not begun");
    bench.end(Outcome::Completed);
    let turn_id = "turn_0".to_owned();
    let late = bench.harness(E::SubagentOpened {
        turn_id,
        subagent: "h9".into(),
        parent: None,
        name: None,
        prompt: None,
    });
    assert_eq!(
        late,
        Step::default(),
        "nobody runs who could have opened it"
    );
}

#[test]
fn a_closed_subagent_ends_its_turns_and_begins_none() {
    let mut bench = Bench::new();
    bench.started();
    open(&mut bench, "h1", None);
    does(&mut bench, "h1", SubagentEvent::Started);
    let step = bench.harness(E::SubagentClosed {
        subagent: "h1".into(),
    });
    assert_eq!(word(&step.turns[0].status), "cancelled");
    assert_eq!(
        does(&mut bench, "h1", SubagentEvent::Started),
        Step::default()
    );
}

#[test]
fn a_harness_that_is_lost_takes_its_subagents_along() {
    type Loss = fn(&mut Bench);
    let losses: [Loss; 4] = [
        |bench| {
            bench.harness(E::HarnessLost { exit_code: None });
        },
        |bench| {
            let turn_id = bench.turn();
            bench.step(Input::Lost { turn_id });
        },
        |bench| {
            bench.step(Input::Cancel);
            bench.now += CANCEL_DEADLINE;
            bench.step(Input::Tick);
        },
        |bench| {
            bench.end(Outcome::Completed);
            bench.harness(E::HarnessLost { exit_code: None });
        },
    ];
    for loss in losses {
        let mut bench = Bench::new();
        bench.started();
        open(&mut bench, "h1", None);
        open(&mut bench, "h2", None);
        does(&mut bench, "h1", SubagentEvent::Started);
        bench.harness(E::SubagentClosed {
            subagent: "h2".into(),
        });
        loss(&mut bench);
        assert_eq!(statuses(&bench), ["closed", "closed"]);
        assert!(bench
            .store
            .turns
            .iter()
            .all(|turn| turn.status.is_terminal()));
        assert!(bench.session.subagents.is_empty());
        let late = does(&mut bench, "h1", SubagentEvent::Started);
        assert_eq!(late, Step::default());
    }
}

#[test]
fn the_next_instance_knows_no_subagent_of_the_one_before() {
    let mut bench = Bench::new();
    bench.started();
    open(&mut bench, "h1", None);
    does(&mut bench, "h1", SubagentEvent::Started);
    bench.end(Outcome::Completed);
    // The containers ended with the idle timeout: nobody has said so.
    bench.say("again");
    (bench.epoch, bench.seq) = (2, 0);
    let step = bench.harness(E::Ready {
        harness: "codex".into(),
    });
    assert_eq!(word(&step.turns[0].status), "failed");
    assert_eq!(statuses(&bench), ["closed"]);
    bench.start();
    open(&mut bench, "h1", None);
    assert_eq!(statuses(&bench), ["closed", "active"]);
}

#[test]
fn subagents_are_bounded() {
    let mut bench = Bench::new();
    bench.started();
    for number in 0..200 {
        open(&mut bench, &number.to_string(), None);
    }
    assert_eq!(bench.store.subagents.len(), 128);
    // One that is closed makes room for another.
    bench.harness(E::SubagentClosed {
        subagent: "5".into(),
    });
    open(&mut bench, "new", None);
    assert_eq!(bench.store.subagents.len(), 129);
    assert_eq!(bench.session.subagents.len(), 128);
    let start = |bench: &mut Bench, turn: String| {
        let (subagent, event) = ("new".into(), SubagentEvent::Started);
        bench.harness(E::Subagent {
            subagent,
            turn,
            event,
        })
    };
    let begun = (0..9).filter(|turn| start(&mut bench, turn.to_string()) != Step::default());
    assert_eq!(begun.count(), 4);
    assert_eq!(start(&mut bench, "t".repeat(257)), Step::default());
}
