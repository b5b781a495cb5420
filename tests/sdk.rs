//! Both official SDKs, unmodified, against a gateway with real containers. What they check is in `tests/sdk/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod support;

use std::io::Write;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use support::{Gateway, Model};

/// Two suites at a time would only slow each other down.
static ONE_SUITE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn official_sdk_for_node() {
    let report = run(
        "CLOISTER_NODE",
        &[
            "--test",
            "--test-reporter=tap",
            "--test-concurrency=1",
            "--test-timeout=120000",
            "tests/sdk/node/*.test.mjs",
        ],
    );
    assert!(number_in(&report, "# pass ") > 0, "nothing ran:\n{report}");
    for none in ["# skipped ", "# todo "] {
        assert_eq!(number_in(&report, none), 0, "{report}");
    }
}

#[test]
fn official_sdk_for_python() {
    let report = run(
        "CLOISTER_PYTHON",
        &["-B", "-m", "unittest", "discover", "-s", "tests/sdk/python"],
    );
    assert!(number_in(&report, "Ran ") > 0, "nothing ran:\n{report}");
    assert!(!report.contains("skipped="), "{report}");
}

/// Runs a suite with the program that `setting` names, against a gateway of its own, and gives what it printed.
fn run(setting: &str, arguments: &[&str]) -> String {
    let program = std::env::var(setting)
        .unwrap_or_else(|_| panic!("{setting} is not set: run these tests through ./dev test"));
    let _turn = ONE_SUITE_AT_A_TIME
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let output = Command::new(&program)
        .args(arguments)
        .env("CLOISTER_BASE_URL", format!("{}/v1", gateway.url()))
        .env("CLOISTER_API_KEY", gateway.client("acme").key())
        .env(
            "CLOISTER_MODEL_URL",
            model.base_url().trim_end_matches("/v1"),
        )
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
    report
}

/// The number that follows `label` at the beginning of a line.
fn number_in(report: &str, label: &str) -> u32 {
    let line = report.lines().find_map(|line| line.strip_prefix(label));
    let word = line.and_then(|rest| rest.split_whitespace().next());
    word.and_then(|word| word.parse().ok())
        .unwrap_or_else(|| panic!("no number after '{label}' in:\n{report}"))
}
