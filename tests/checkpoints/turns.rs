//! What of a turn is kept, by how it ended and by what the client wants kept.
use crate::kit::{self, done, history, shell, Talk};
use crate::support::{self, shell as in_container, Gateway, Model};
use serde_json::json;
use std::time::Duration;

/// What a cancelled turn had done is done.
#[test]
fn a_cancelled_turn_is_kept() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    talk.run("one", "echo one > file");
    talk.say("two", &[shell("echo two > file; sleep 100"), done()]);
    let sandbox = gateway.docker().sandbox();
    support::wait_for("the command", Duration::from_secs(30), || {
        let (output, _) = in_container(&sandbox, "cat /workspace/file");
        (output == "two\n").then_some(())
    });
    let cancel = json!({ "events": [{ "type": "agent.session.input.cancel" }] });
    let path = format!("/v1/agents/sessions/{}/events", talk.id);
    assert_eq!(talk.client.post(&path, &cancel).0, 202);
    assert_eq!(talk.settled()["status"], "cancelled");
    kit::kill_both(&gateway);
    assert_eq!(talk.run("three", "cat file"), "two\n");
    assert_eq!(history(&model, "three").0, ["one", "two"]);
    talk.each_turn_has_ended_once(&gateway);
    talk.only_one_checkpoint_is_left(&gateway);
}

/// What the session's environment leaves out of checkpoints does not come back, and all else does.
#[test]
fn what_is_excluded_is_not_kept() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let client = gateway.client("acme");
    let body = json!({
        "agent": { "model": "codex" },
        "environment": { "type": "openai_hosted", "checkpoint": { "exclude": ["node_modules", "**/*.log"] } },
    });
    let (status, session) = client.post("/v1/agents/sessions", &body);
    assert_eq!(status, 201, "{session}");
    let id = session["id"].as_str().unwrap().to_owned();
    let talk = Talk { client, id };
    let files = "node_modules/m/index.js a/node_modules/kept.js a/b/c.log a/b/c.txt root.log";
    let make = format!("for f in {files}; do mkdir -p $(dirname $f); echo x > $f; done");
    let find = "find . -type f | sort";
    let all: &str = "./a/b/c.log\n./a/b/c.txt\n./a/node_modules/kept.js\n./node_modules/m/index.js\n./root.log\n";
    assert_eq!(talk.run("one", &format!("{make}; {find}")), all);
    // A sandbox that lives on still has it.
    assert_eq!(talk.run("two", find), all);
    kit::kill_both(&gateway);
    let kept = "./a/b/c.txt\n./a/node_modules/kept.js\n";
    assert_eq!(talk.run("three", find), kept);
    kit::kill_both(&gateway);
    assert_eq!(
        talk.run("four", &format!("ls -d node_modules; {find}"))
            .lines()
            .last(),
        kept.lines().last()
    );
}

/// A workspace that is more than may be kept fails its turn, and the session goes on from what was kept last.
#[test]
fn a_workspace_that_is_too_large_fails_its_turn() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    talk.run("one", "echo one > file");
    let deep = "echo two > file; mkdir -p $(printf 'd/%.0s' $(seq 200))";
    let turn = talk.turn("two", deep);
    assert_eq!(
        (&turn["status"], &turn["error"]["code"]),
        (&json!("failed"), &json!("sandbox_error"))
    );
    assert_eq!(talk.run("three", "cat file; ls"), "one\nfile\n");
    assert_eq!(history(&model, "three"), (vec!["one".into()], true));
    talk.each_turn_has_ended_once(&gateway);
    talk.only_one_checkpoint_is_left(&gateway);
}
