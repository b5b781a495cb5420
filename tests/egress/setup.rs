//! How an environment is made: self-test, variables, set-up commands, and what comes of those that fail.
use crate::kit::World;
use crate::support::{docker, script, wait_for, Gateway, Model, Upstream};
use serde_json::{json, Value};
use std::time::Duration;

const CANARY: &str = "canary-4f1d7c0e";

fn environment(network: Value, setup: &[&str]) -> Value {
    let commands: Vec<Value> = setup
        .iter()
        .map(|line| json!({ "command": line }))
        .collect();
    json!({ "type": "openai_hosted", "network": network, "env": { "GREETING": CANARY }, "setup_commands": commands })
}

#[test]
fn set_up_has_its_own_policy_and_leaves_nothing_running() {
    let world = World::with(environment(
        json!({ "access": "disabled" }),
        &[
            "test -z \"$(ls -A /workspace)\" && echo $GREETING >/workspace/one && curl -sf http://pkg.example/bytes/10 -o /opt/installed",
            "cat one >two && curl -sf https://pkg.example/host >>two && (setsid sleep 4321 & curl -sN http://pkg.example/drip >/tmp/drip & sleep 1)",
        ],
    ));
    let said =
        world.shell("cat /workspace/two; wc -c </opt/installed; pgrep -x sleep; pgrep -x curl");
    assert_eq!(said, format!("{CANARY}\npkg.example10\n"));
    assert_eq!(
        world.curl("http://pkg.example/host").refused(),
        "network_disabled"
    );
    world.upstream.wait_for_closed("pkg.example/drip");
    let hosts = world.upstream.hosts();
    assert!(hosts.iter().all(|host| host == "pkg.example"), "{hosts:?}");
    // The variable is in every process, and nowhere where it is stored; nor are the commands.
    assert_eq!(world.shell("echo $GREETING").trim(), CANARY);
    world.model.release("held");
    assert_eq!(
        world.acme.settled_turn(&world.session)["status"],
        "completed"
    );
    let stored = std::process::Command::new("grep")
        .args(["-rlaE", &format!("{CANARY}|pkg.example/drip")])
        .arg(world.gateway.state())
        .output()
        .unwrap();
    let places = String::from_utf8(stored.stdout).unwrap();
    // The workspace was stored with what set-up wrote into it.
    assert!(
        places.lines().all(|place| place.contains("/r2/")),
        "{places}"
    );
    let log = world.gateway.log();
    assert!(
        !log.contains(CANARY) && !log.contains("pkg.example"),
        "{log}"
    );
}

#[test]
fn a_new_container_is_set_up_before_its_workspace_comes_back() {
    let world = World::with(environment(
        json!({ "access": "disabled" }),
        &["ls -A /workspace >/opt/seen; echo fresh >/workspace/made; echo extra >/workspace/extra"],
    ));
    world.shell("echo changed >/workspace/made; rm /workspace/extra; echo kept >/workspace/kept");
    world.model.release("held");
    assert_eq!(
        world.acme.settled_turn(&world.session)["status"],
        "completed"
    );
    docker(&["kill", &world.sandbox]);
    world.acme.say(
        &world.session,
        &script("again", &[json!({ "wait": "again", "say": "ok" })]),
    );
    wait_for("the second turn's call", Duration::from_secs(60), || {
        (world.model.requests().len() >= 2).then_some(())
    });
    let sandbox = world.gateway.docker().sandbox();
    assert_ne!(sandbox, world.sandbox);
    let said = crate::support::shell(&sandbox, "cat /opt/seen; cd /workspace; grep . *").0;
    assert_eq!(said, "kept:kept\nmade:changed\n");
    world.model.release("again");
    assert_eq!(
        world.acme.settled_turn(&world.session)["status"],
        "completed"
    );
}

/// The events of a session that was created with this environment, to the end of the creation's stream.
fn events_of(environment: Value) -> (Gateway, Value, Vec<Value>) {
    let model = Model::start();
    let upstream = Upstream::start();
    let gateway = Gateway::start_with_upstream(&model, &upstream);
    let acme = gateway.client("acme");
    let body = json!({ "agent": { "model": "codex" }, "environment": environment, "input": "hello", "stream": true });
    let mut stream = acme.create_streaming_of(&body);
    let events = std::iter::from_fn(|| stream.next()).collect::<Vec<_>>();
    let id = events[0]["session"]["id"].as_str().unwrap().to_owned();
    let (_, session) = acme.get(&format!("/v1/agents/sessions/{id}"));
    assert!(
        model.requests().is_empty(),
        "a harness that has no sandbox asks no model"
    );
    (gateway, session, events)
}

#[test]
fn set_up_that_fails_ends_the_session_and_tells_nothing_of_it() {
    let failing = format!("echo {CANARY}; echo {CANARY} >&2; exit 7");
    let (gateway, session, events) = events_of(environment(
        json!({ "access": "disabled" }),
        &["true", &failing, "touch /never"],
    ));
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert!(
        kinds.contains(&"agent.session.environment.failed"),
        "{kinds:?}"
    );
    assert_eq!(kinds.last(), Some(&"agent.session.failed"));
    let failed = events
        .iter()
        .find(|event| event["type"] == "agent.session.environment.failed")
        .unwrap();
    assert_eq!(
        failed["environment"]["error"]["code"],
        "environment_setup_failed"
    );
    let error = events
        .iter()
        .find(|event| event["type"] == "error")
        .unwrap();
    assert_eq!(
        error["error"]["message"],
        "Failed to provision environment: script \"setup_commands[1]\" failed with exit code 7"
    );
    assert_eq!(session["status"], "failed");
    let all = format!("{events:?}{session}{}", gateway.log());
    assert!(!all.contains(CANARY), "{all}");

    let acme = gateway.client("acme");
    let id = session["id"].as_str().unwrap();
    let message = json!({ "events": [{ "type": "agent.session.input.message", "input": [{ "role": "user", "content": [{ "type": "input_text", "text": "more" }] }] }] });
    let (status, refused) = acme.post(&format!("/v1/agents/sessions/{id}/events"), &message);
    assert_eq!(
        (status, &refused["error"]["code"]),
        (409, &json!("conflict_error"))
    );
    assert_eq!(acme.delete(&format!("/v1/agents/sessions/{id}")).0, 200);
    for image in ["CLOISTER_HARNESS_IMAGE", "CLOISTER_SANDBOX_IMAGE"] {
        let image = std::env::var(image).unwrap();
        assert_eq!(gateway.docker().running(&image), [""; 0]);
    }
}
