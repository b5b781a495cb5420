//! Both official SDKs, unmodified, against a gateway with real containers. What they check is in `tests/sdk/`; every answer
//! they get is checked against `tests/schemas/` besides. What a suite must have seen, so that nothing is left out, is here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod support;

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use support::{Gateway, Model};

/// Two suites at a time would only slow each other down.
static ONE_SUITE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Kinds of events that no suite brings about: what they tell of is not built, or is no client's doing.
const UNSEEN_EVENTS: [&str; 8] = [
    "agent.session.failed",
    "agent.session.budget_reached",
    "agent.session.environment.disconnected",
    "agent.session.environment.suspended",
    "agent.session.environment.expired",
    "agent.session.environment.failed",
    "agent.session.environment.reset",
    "error",
];

/// Items and inputs that each suite brings about.
const SEEN: [&str; 12] = [
    "item user_message",
    "item assistant_message",
    "item reasoning",
    "item command_execution",
    "item function_call",
    "item function_call_output",
    "item create_subagent_call",
    "item wait_for_subagents_call",
    "item close_subagent_call",
    "input agent.session.input.message",
    "input agent.session.input.cancel",
    "input agent.session.input.tool_result",
];

#[test]
fn official_sdk_for_node() {
    let (report, seen) = run(
        "CLOISTER_NODE",
        &[
            "--test",
            "--test-reporter=tap",
            "--test-concurrency=1",
            // Of a file as well as of a test; each test has shorter ones inside.
            "--test-timeout=300000",
            "tests/sdk/node/*.test.mjs",
        ],
    );
    assert!(number_in(&report, "# pass ") > 0, "nothing ran:\n{report}");
    for none in ["# skipped ", "# todo "] {
        assert_eq!(number_in(&report, none), 0, "{report}");
    }
    saw_everything(&seen);
}

#[test]
fn official_sdk_for_python() {
    let (report, seen) = run(
        "CLOISTER_PYTHON",
        &["-B", "-m", "unittest", "discover", "-s", "tests/sdk/python"],
    );
    assert!(number_in(&report, "Ran ") > 0, "nothing ran:\n{report}");
    assert!(!report.contains("skipped="), "{report}");
    saw_everything(&seen);
}

/// A suite has had each success that an endpoint has, each kind of event but those above, and those items and inputs.
fn saw_everything(seen: &BTreeSet<String>) {
    let mut expected: Vec<String> = SEEN.map(str::to_owned).into();
    expected.push("POST /agents/sessions stream".into());
    for (path, methods) in schema("routes.json") {
        for (method, statuses) in methods.as_object().unwrap() {
            let statuses = statuses.as_object().unwrap().keys();
            expected.extend(statuses.map(|status| format!("{method} {path} {status}")));
        }
    }
    let events = &schema("event.json")["$defs"];
    let kinds = events.as_object().unwrap().keys();
    let kinds = kinds.filter(|kind| !UNSEEN_EVENTS.contains(&kind.as_str()));
    expected.extend(kinds.map(|kind| format!("event {kind}")));
    expected.retain(|each| !seen.contains(each));
    assert!(expected.is_empty(), "no test had {expected:#?}");
}

fn schema(name: &str) -> Map<String, Value> {
    let text = std::fs::read_to_string(format!("tests/schemas/{name}")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Runs a suite with the program that `setting` names, against a gateway of its own, and gives what it printed and what
/// it saw.
fn run(setting: &str, arguments: &[&str]) -> (String, BTreeSet<String>) {
    let program = std::env::var(setting)
        .unwrap_or_else(|_| panic!("{setting} is not set: run these tests through ./dev test"));
    let _turn = ONE_SUITE_AT_A_TIME
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let seen = std::env::temp_dir().join(format!("cloister-seen-{}-{setting}", std::process::id()));
    let output = Command::new(&program)
        .args(arguments)
        .env("CLOISTER_BASE_URL", format!("{}/v1", gateway.url()))
        .env("CLOISTER_API_KEY", gateway.client("acme").key())
        .env("CLOISTER_OTHER_KEY", gateway.client("globex").key())
        .env(
            "CLOISTER_MODEL_URL",
            model.base_url().trim_end_matches("/v1"),
        )
        .env("CLOISTER_SEEN", &seen)
        .output()
        .unwrap_or_else(|error| panic!("{setting}={program}: {error}; ./dev setup installs it"));
    let report = [output.stdout, output.stderr].concat();
    let report = String::from_utf8_lossy(&report).into_owned();
    assert!(
        output.status.success(),
        "{program}: {}\n{report}",
        output.status
    );

    // Not through `println!`, which shows nothing of a test that passes.
    let closing: Vec<&str> = report.trim_end().lines().rev().take(8).collect();
    let mut terminal = std::io::stderr();
    for line in closing.iter().rev().filter(|line| !line.is_empty()) {
        writeln!(terminal, "  {line}").unwrap();
    }
    let lines = std::fs::read_to_string(&seen).unwrap();
    std::fs::remove_file(&seen).unwrap();
    (report, lines.lines().map(str::to_owned).collect())
}

/// The number that follows `label` at the beginning of a line.
fn number_in(report: &str, label: &str) -> u32 {
    let line = report.lines().find_map(|line| line.strip_prefix(label));
    let word = line.and_then(|rest| rest.split_whitespace().next());
    word.and_then(|word| word.parse().ok())
        .unwrap_or_else(|| panic!("no number after '{label}' in:\n{report}"))
}
