//! The main job: a turn of the real harness in both containers, seen from every side.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod support;

use serde_json::json;
use std::time::Duration;
use support::{docker, script, shell, Gateway, Model};

/// One turn with a command, an edit and an answer; then a second in the same session.
#[test]
fn a_turn_runs_in_both_containers() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let patch = "*** Begin Patch\n*** Add File: edited.txt\n+by patch\n*** End Patch\n";
    let steps = [
        json!({ "think": "first a command", "shell": "echo by-command | tee made.txt; id -u; cat /proc/1/comm" }),
        json!({ "patch": patch }),
        json!({ "say": "All is done." }),
    ];
    let mut stream = acme.create_streaming(&script("go", &steps));
    let mut events = Vec::new();
    while let Some(event) = stream.next() {
        events.push(event);
    }
    assert_eq!(events[0]["type"], "agent.session.created");
    assert_eq!(
        events.last().unwrap()["type"],
        "agent.session.idle",
        "a creation stream ends after its turn"
    );
    let session = events[0]["session"]["id"].as_str().unwrap().to_owned();
    let done: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "agent.session.turn.item.done")
        .map(|event| &event["item"])
        .collect();
    let kinds: Vec<_> = done
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "reasoning",
            "command_execution",
            "command_execution",
            "message"
        ]
    );
    assert_eq!(done[1]["output"], "by-command\n0\ncloister-sandbo\n");
    assert_eq!(
        (&done[1]["exit_code"], &done[1]["status"]),
        (&json!(0), &json!("completed"))
    );
    assert_eq!(done[2]["output"], "A /workspace/edited.txt\n");
    assert_eq!(done[3]["content"][0]["text"], "All is done.");

    let (harness, sandbox) = (gateway.docker().harness(), gateway.docker().sandbox());
    assert_eq!(
        shell(&sandbox, "cat /workspace/made.txt /workspace/edited.txt").0,
        "by-command\nby patch\n"
    );
    let listing = docker(&["exec", &sandbox, "sh", "-c", "ls /workspace"]);
    assert_eq!(listing, "edited.txt\nmade.txt\n");
    let files = harness_files(&harness);
    assert!(
        !files.contains("made.txt") && !files.contains("edited.txt"),
        "{files}"
    );

    // Usage of three calls, as the scripted model counts it.
    let (_, shown) = acme.get(&format!("/v1/agents/sessions/{session}"));
    assert_eq!(
        (&shown["status"], &shown["usage"]["total_tokens"]),
        (&json!("idle"), &json!(3 * 1234))
    );

    acme.say(
        &session,
        &script(
            "again",
            &[
                json!({ "shell": "cat made.txt" }),
                json!({ "say": "Still here." }),
            ],
        ),
    );
    let turn = acme.settled_turn(&session);
    assert_eq!(turn["status"], "completed");
    let items = acme.items(&session);
    let last = items.last().unwrap();
    assert_eq!(last["content"][0]["text"], "Still here.");
    assert_eq!(items[items.len() - 2]["output"], "by-command\n");
    // The second turn's request begins with the first turn's items: one history.
    let requests = model.requests();
    let (first, second) = (&requests[0]["body"]["input"], &requests[3]["body"]["input"]);
    assert_eq!(
        first.as_array().unwrap()[..],
        second.as_array().unwrap()[..first.as_array().unwrap().len()]
    );

    assert_eq!(
        acme.delete(&format!("/v1/agents/sessions/{session}")).0,
        200
    );
    assert!(gateway
        .docker()
        .running(&std::env::var("CLOISTER_HARNESS_IMAGE").unwrap())
        .is_empty());
    assert!(gateway
        .docker()
        .running(&std::env::var("CLOISTER_SANDBOX_IMAGE").unwrap())
        .is_empty());
}

/// The credential is the gateway's, on each request, and the model and the cache key are forced.
#[test]
fn model_calls_carry_the_gateways_credential_and_choices() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let (acme, globex) = (gateway.client("acme"), gateway.client("globex"));
    for client in [&acme, &globex] {
        let session = client.session(Some(&script("go", &[json!({ "say": "Hi." })])));
        assert_eq!(
            client.settled_turn(session["id"].as_str().unwrap())["status"],
            "completed"
        );
    }
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!(request["path"], "/v1/responses");
        assert_eq!(
            request["headers"]["authorization"],
            format!("Bearer {}", Gateway::CANARY)
        );
        assert_eq!(
            (&request["body"]["model"], &request["body"]["store"]),
            (&json!("scripted-1"), &json!(false))
        );
        let headers: Vec<_> = request["headers"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        for forwarded in [
            "session-id",
            "thread-id",
            "x-codex-turn-metadata",
            "user-agent",
            "x-forwarded-for",
            "originator",
        ] {
            assert!(!headers.contains(&forwarded), "{headers:?}");
        }
    }
    assert_ne!(
        requests[0]["body"]["prompt_cache_key"],
        requests[1]["body"]["prompt_cache_key"]
    );
}

/// The first word reaches the client while the model still holds the second back.
#[test]
fn the_first_byte_does_not_wait_for_the_second() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let mut stream = gateway.client("acme").create_streaming(&script(
        "go",
        &[json!({ "say": "First second.", "hold": "word" })],
    ));
    let events = stream.until("agent.session.turn.output_text.delta");
    assert_eq!(events.last().unwrap()["delta"], "First ");
    assert!(model.release("word"), "the model still held its answer");
    let events = stream.until("agent.session.turn.output_text.delta");
    assert_eq!(events.last().unwrap()["delta"], "second.");
    stream.until("agent.session.idle");
}

/// A cancel ends the turn and what it runs in the sandbox; the session goes on.
#[test]
fn d25_a_cancel_ends_what_has_detached_itself() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let detached = "setsid sh -c 'while :; do date +%s%N > /workspace/tock; sleep 0.1; done' >/dev/null 2>&1 & sleep 4242";
    let steps = [json!({ "shell": detached, "args": { "yield_time_ms": 30000 } })];
    let session = acme.session(Some(&script("go", &steps)));
    let id = session["id"].as_str().unwrap();
    let sandbox = gateway.docker().sandbox();
    let tock = || shell(&sandbox, "cat /workspace/tock").0;
    support::wait_for("the command", Duration::from_secs(30), || {
        (!tock().is_empty()).then_some(())
    });
    let cancel = json!({ "events": [{ "type": "agent.session.input.cancel" }] });
    let (status, _) = acme.post(&format!("/v1/agents/sessions/{id}/events"), &cancel);
    assert_eq!(status, 202);
    assert_eq!(acme.settled_turn(id)["status"], "cancelled");
    let last = tock();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(tock(), last, "it still runs");
    let steps = [json!({ "shell": "echo alive" }), json!({ "say": "ok" })];
    acme.say(id, &script("again", &steps));
    assert_eq!(acme.settled_turn(id)["status"], "completed");
    let items = acme.items(id);
    assert!(
        items.iter().any(|item| item["output"] == "alive\n"),
        "{items:#?}"
    );
}

#[test]
fn cancel_kills_what_runs() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let session = acme.session(Some(&script(
        "go",
        &[json!({ "shell": "touch begun; sleep 4242", "args": { "yield_time_ms": 30000 } })],
    )));
    let id = session["id"].as_str().unwrap();
    let sandbox = gateway.docker().sandbox();
    support::wait_for("the command", Duration::from_secs(30), || {
        shell(&sandbox, "ls /workspace")
            .0
            .contains("begun")
            .then_some(())
    });
    let cancel = json!({ "events": [{ "type": "agent.session.input.cancel" }] });
    assert_eq!(
        acme.post(&format!("/v1/agents/sessions/{id}/events"), &cancel)
            .0,
        202
    );
    assert_eq!(acme.settled_turn(id)["status"], "cancelled");
    support::wait_for("the command's end", Duration::from_secs(15), || {
        shell(&sandbox, "pgrep -f 'sleep 424[2]'")
            .0
            .is_empty()
            .then_some(())
    });
    assert!(
        acme.items(id).iter().all(|item| item["type"] == "message"),
        "a cut command is not kept"
    );
    acme.say(
        id,
        &script("again", &[json!({ "shell": "ls" }), json!({ "say": "ok" })]),
    );
    assert_eq!(acme.settled_turn(id)["status"], "completed");
}

/// A message during a turn steers it.
#[test]
fn a_message_during_a_turn_steers_it() {
    let model = Model::start();
    let gateway = Gateway::start(&model);
    let acme = gateway.client("acme");
    let mut stream = acme.create_streaming(&script(
        "go",
        &[
            json!({ "shell": "true" }),
            json!({ "wait": "second", "say": "One." }),
        ],
    ));
    let started = stream.until("agent.session.turn.item.done");
    let session = started[0]["session"]["id"].as_str().unwrap().to_owned();
    acme.say(&session, "and this");
    let added = stream.until("agent.session.turn.item.added");
    assert_eq!(
        added.last().unwrap()["item"]["content"][0]["text"],
        "and this"
    );
    // The harness asks the model again with what was added, so the answer is held once more.
    support::wait_for("the end of the turn", Duration::from_secs(30), || {
        model.release("second");
        let session = acme.get(&format!("/v1/agents/sessions/{session}")).1;
        (session["status"] == "idle").then_some(())
    });
    let (_, turns) = acme.get(&format!("/v1/agents/sessions/{session}/turns"));
    assert_eq!(turns["data"].as_array().unwrap().len(), 1, "no second turn");
    assert!(model.requests().last().unwrap()["body"]["input"]
        .to_string()
        .contains("and this"));
}

/// Everything in a container's file system, by name.
fn harness_files(container: &str) -> String {
    let export = format!("docker export {container} | tar -t");
    let out = std::process::Command::new("sh")
        .args(["-c", &export])
        .output()
        .unwrap();
    assert!(out.status.success());
    String::from_utf8(out.stdout).unwrap()
}
