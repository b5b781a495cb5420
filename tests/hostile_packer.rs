//! Workspace code is root in the sandbox: it replaces the packer, and is given live grants by the Worker.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
#[path = "hostile_packer/announcements.rs"]
mod announcements;
#[path = "hostile_packer/archive.rs"]
mod archive;
#[path = "hostile_packer/grants.rs"]
mod grants;
#[path = "hostile_packer/lies.rs"]
mod lies;
#[path = "hostile_packer/restores.rs"]
mod restores;
#[path = "hostile_packer/root.rs"]
mod root;
#[path = "hostile_packer/session.rs"]
mod session;
mod support;

use serde_json::{json, Value};
use session::Hostile;
use support::Gateway;

/// Sends requests that are all to be refused: each with its name, its status and its code.
fn refused(from: &Hostile, attacks: &[(&str, Value, u16, &str)]) {
    let requests: Vec<Value> = attacks
        .iter()
        .map(|(_, request, ..)| request.clone())
        .collect();
    let answers = from.send(&requests);
    for ((name, _, status, code), answer) in attacks.iter().zip(answers) {
        let got = (&answer["status"], &answer["code"]);
        assert_eq!(got, (&json!(status), &json!(code)), "{name}: {answer}");
    }
}

/// With what code the last restore ended that failed.
fn not_restored(gateway: &Gateway) -> String {
    let log = gateway.log();
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut failed = lines.filter(|line: &Value| line["event"] == "workspace_not_restored");
    let last = failed
        .next_back()
        .unwrap_or_else(|| panic!("no restore failed: {log}"));
    last["code"].as_str().unwrap().to_owned()
}

fn ended(status: &str, code: &str) -> (String, String) {
    (status.to_owned(), code.to_owned())
}
