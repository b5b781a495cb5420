//! Cancels at awkward moments, and what is left of a turn that did not end by itself.
use crate::kit::blow::{leftovers, strike, Blow};
use crate::kit::check::wrong_records;
use crate::kit::subject::{Request, Script, Subject};
use crate::support::{wait_for, Gateway, Model};
use serde_json::{json, Value};
use std::time::{Duration, Instant};

/// A command that nothing but its end ends.
fn endless(subject: &Subject) -> Script {
    let shell = format!("echo begun; (exec -a load-{} sleep 3600)", subject.name);
    let steps = vec![
        json!({ "shell": shell, "args": { "yield_time_ms": 30_000 } }),
        json!({ "say": "never" }),
    ];
    Script {
        steps,
        ..Script::default()
    }
}

fn words(words: &str) -> Script {
    Script {
        steps: vec![json!({ "say": words })],
        words: words.to_owned(),
        ..Script::default()
    }
}

fn in_seconds(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

fn last_turn(subject: &Subject) -> Value {
    subject.client.whole(&subject.id, "turns").pop().unwrap()
}

fn runs_in(gateway: &Gateway, subject: &Subject) -> bool {
    !leftovers(&gateway.docker(), &format!("load-{}", subject.name)).is_empty()
}

fn wait_until_it_runs(gateway: &Gateway, subject: &Subject) {
    wait_for("the command", Duration::from_secs(40), || {
        runs_in(gateway, subject).then_some(())
    });
}

fn wait_until_nothing_runs(gateway: &Gateway, subject: &Subject) {
    wait_for("the end of what it ran", Duration::from_secs(15), || {
        (!runs_in(gateway, subject)).then_some(())
    });
}

fn all_is_well(gateway: &Gateway, model: &Model, subjects: &[Subject]) {
    let wrong = wrong_records(gateway, model, subjects);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// From before there is a container until after the first command runs: the turn ends as cancelled, nothing goes on in
/// the sandbox, and what was said before the cancel and not taken never reaches the model.
#[test]
fn d7_d20_a_cancel_at_any_moment_of_the_start() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let moments = [0, 400, 900, 1_500, 2_500];
    let names: Vec<_> = moments.iter().map(|ms| format!("after{ms}")).collect();
    let mut subjects: Vec<_> = names
        .iter()
        .map(|name| Subject::open(&gateway, name))
        .collect();
    std::thread::scope(|scope| {
        for (subject, ms) in subjects.iter_mut().zip(moments) {
            scope.spawn(move || {
                subject.ask(Request::Turn(endless(subject)), 1);
                std::thread::sleep(Duration::from_millis(ms));
                subject.ask(Request::Steer, 1);
                subject.ask(Request::Cancel, 1);
            });
        }
    });
    let end = in_seconds(60);
    for subject in &mut subjects {
        subject.settle(end).unwrap();
        assert_eq!(
            last_turn(subject)["status"],
            "cancelled",
            "{}",
            subject.name
        );
        wait_until_nothing_runs(&gateway, subject);
    }
    for subject in &mut subjects {
        subject.probe(2).unwrap();
    }
    all_is_well(&gateway, &model, &subjects);
}

/// Whichever way a turn ends before its command does, the command ends too.
#[test]
fn d25_nothing_goes_on_after_its_turn() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let mut subjects = vec![
        Subject::start(&gateway, "cancelled"),
        Subject::start(&gateway, "killed"),
        Subject::start(&gateway, "codex"),
    ];
    for subject in &mut subjects {
        subject.ask(Request::Turn(endless(subject)), 1);
    }
    for subject in &subjects {
        wait_until_it_runs(&gateway, subject);
    }
    subjects[0].ask(Request::Cancel, 1);
    assert!(strike(Blow::Harness, &subjects[1].names, &mut Vec::new()));
    assert!(strike(Blow::Codex, &subjects[2].names, &mut Vec::new()));
    for subject in &subjects {
        subject.settle(in_seconds(60)).unwrap();
        wait_until_nothing_runs(&gateway, subject);
    }
    let ends: Vec<_> = subjects
        .iter()
        .map(|subject| last_turn(subject)["status"].clone())
        .collect();
    assert_eq!(ends, ["cancelled", "failed", "failed"]);
    for subject in &mut subjects {
        subject.probe(2).unwrap();
    }
    all_is_well(&gateway, &model, &subjects);
}

/// A cancel that comes when the harness is gone already: the turn reads as cancelled or as failed, once, and keeps what it
/// had saved.
#[test]
fn d28_a_cancel_after_the_harness_is_gone() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::start(&gateway, "gone");
    let mut script = endless(&subject);
    script.steps.insert(
        0,
        json!({ "shell": "echo saved", "args": { "yield_time_ms": 30_000 } }),
    );
    subject.ask(Request::Turn(script), 1);
    wait_until_it_runs(&gateway, &subject);
    assert!(strike(Blow::Harness, &subject.names, &mut Vec::new()));
    subject.ask(Request::Cancel, 1);
    subject.settle(in_seconds(60)).unwrap();
    let turn = last_turn(&subject);
    assert!(
        matches!(turn["status"].as_str(), Some("cancelled" | "failed")),
        "{turn}"
    );
    let items = subject.client.whole(&subject.id, "items");
    assert!(
        items.iter().any(|item| item["output"] == "saved\n"),
        "{items:#?}"
    );
    subject.probe(2).unwrap();
    all_is_well(&gateway, &model, &[subject]);
}

/// A cancel that meets the end of its turn: the turn ends one way, and everywhere reads that way.
#[test]
fn h4_a_cancel_that_meets_the_end() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::start(&gateway, "meets");
    for ms in [50, 100, 150, 200, 250, 300, 350, 400, 500, 600] {
        subject.ask(Request::Turn(words("Short.")), ms);
        std::thread::sleep(Duration::from_millis(ms));
        subject.ask(Request::Cancel, ms);
        subject.settle(in_seconds(60)).unwrap();
        let turn = last_turn(&subject);
        assert!(
            matches!(turn["status"].as_str(), Some("cancelled" | "completed")),
            "{turn}"
        );
    }
    subject.probe(2).unwrap();
    all_is_well(&gateway, &model, &[subject]);
}

/// A Codex that stops for good does not keep its turn from being cancelled: the containers end instead.
#[test]
fn h7_what_does_not_stop_is_ended_with_its_containers() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::start(&gateway, "stuck");
    subject.ask(Request::Turn(endless(&subject)), 1);
    wait_until_it_runs(&gateway, &subject);
    assert!(strike(Blow::StopCodex, &subject.names, &mut Vec::new()));
    subject.ask(Request::Cancel, 1);
    subject.settle(in_seconds(45)).unwrap();
    assert_eq!(last_turn(&subject)["status"], "cancelled");
    wait_until_nothing_runs(&gateway, &subject);
    subject.probe(2).unwrap();
    all_is_well(&gateway, &model, &[subject]);
}
