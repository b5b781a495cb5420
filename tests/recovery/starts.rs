//! What is asked while things start, or while nothing seems to happen.
use crate::kit::check::wrong_records;
use crate::kit::subject::{Request, Script, Subject};
use crate::support::{Gateway, Model};
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn in_seconds(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

fn scripted(steps: Vec<serde_json::Value>) -> Request {
    Request::Turn(Script {
        steps,
        ..Script::default()
    })
}

/// Messages that come while the containers start are kept, in order, and all reach the model.
#[test]
fn d11_messages_during_the_start_are_kept_in_order() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::open(&gateway, "early");
    let shell = json!({ "shell": "sleep 3", "args": { "yield_time_ms": 30_000 } });
    subject.ask(scripted(vec![shell, json!({ "say": "All." })]), 1);
    for _ in 0..3 {
        subject.ask(Request::Steer, 1);
    }
    subject.settle(in_seconds(60)).unwrap();
    let asked = model.log();
    for said in &subject.said {
        assert!(
            asked.contains(&said.mark),
            "{} did not reach the model",
            said.mark
        );
    }
    let wrong = wrong_records(&gateway, &model, &[subject]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A command that says nothing for longer than the idle timeout is work all the same: its containers stay.
#[test]
fn d14_a_silent_command_keeps_its_containers() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let mut subject = Subject::start(&gateway, "silent");
    let before = (gateway.docker().harness(), gateway.docker().sandbox());
    let silent = json!({ "shell": "sleep 28; echo through", "args": { "yield_time_ms": 60_000 } });
    subject.ask(scripted(vec![silent, json!({ "say": "Done." })]), 1);
    subject.settle(in_seconds(90)).unwrap();
    let items = subject.client.whole(&subject.id, "items");
    assert!(
        items.iter().any(|item| item["output"] == "through\n"),
        "{items:#?}"
    );
    assert_eq!(
        (gateway.docker().harness(), gateway.docker().sandbox()),
        before
    );
}

/// A harness that never comes up: the turn fails with a code after a bounded number of tries, each of which starts a sandbox
/// as well; no model call is paid, and nothing is tried again afterwards.
#[test]
fn d16_a_harness_that_never_starts_is_given_up() {
    let model = Model::start();
    // An image that has no program, or one that ends at once.
    let image = std::env::var("CLOISTER_BASE_IMAGE").unwrap();
    let sandbox = std::env::var("CLOISTER_SANDBOX_IMAGE").unwrap();
    let build = std::env::var("CLOISTER_FAULTS_BUILD").unwrap();
    let gateway = Gateway::start_with(
        &model,
        &["--build", &build, "--image", &format!("harness={image}")],
    );
    let mut listening = Command::new("docker");
    listening.args([
        "events",
        "--filter",
        "event=start",
        "--filter",
        &format!("image={sandbox}"),
        "--format",
        "{{.Actor.Attributes.name}}",
    ]);
    let mut listening = listening.stdout(Stdio::piped()).spawn().unwrap();
    let mut subject = Subject::open(&gateway, "hopeless");
    subject.ask(Request::Steer, 1);
    subject.settle(in_seconds(100)).unwrap();
    let turn = subject.client.whole(&subject.id, "turns").pop().unwrap();
    assert_eq!(turn["status"], "failed", "{turn}");
    std::thread::sleep(Duration::from_secs(8));
    listening.kill().unwrap();
    let starts = String::from_utf8(listening.wait_with_output().unwrap().stdout).unwrap();
    let ours = starts
        .lines()
        .filter(|name| name.contains(gateway.docker().session()))
        .count();
    assert!((1..=5).contains(&ours), "{ours} starts:\n{starts}");
    assert_eq!(model.log(), "", "no model call");
    let wrong = wrong_records(&gateway, &model, &[subject]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
