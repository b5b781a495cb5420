//! Saves that overlap, are lost at the last moment, or are cancelled.
use crate::kit::{done, shell, Talk};
use crate::support::{self, shell as in_container, Gateway, Model};
use serde_json::json;
use std::time::Duration;

/// A line that puts a program into the packer's place. What `way` does begins with what the packer is to do and how often it
/// was run before, such as `save0`, in `$case`; `/sbin/honest` is the packer.
fn replace(way: &str) -> String {
    let program = format!(
        "#!/bin/sh\nn=$(cat /tmp/calls 2>/dev/null || echo 0)\necho $((n+1)) > /tmp/calls\ncase=$1$n\n{way}\nexec /sbin/honest \"$@\"\n"
    );
    format!(
        "mv /sbin/cloister-packer /sbin/honest; cat > /sbin/cloister-packer <<'END'\n{program}END\nchmod 755 /sbin/cloister-packer"
    )
}

/// Waits until the program has been run so often.
fn calls(sandbox: &str, count: usize) {
    support::wait_for("the packer", Duration::from_secs(40), || {
        let (calls, _) = in_container(sandbox, "cat /tmp/calls");
        (calls.trim().parse::<usize>().unwrap_or(0) >= count).then_some(())
    });
}

fn artifact_objects(talk: &Talk, gateway: &Gateway) -> Vec<String> {
    let objects = talk.objects(gateway).into_iter();
    let keys = objects.map(|object| object.key);
    keys.filter(|key| key.contains("/artifacts/")).collect()
}

/// An attempt goes on in the sandbox when the object that wanted it is gone. It ends while the next has stored its files and
/// has not ended: the turn publishes them all the same, and nothing is left of the first.
#[test]
fn two_saves_of_one_sandbox_do_not_mix() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    let slow = "if [ $case = save0 ]; then sleep 9; fi\nif [ $case = save1 ]; then /sbin/honest \"$@\"; code=$?; sleep 6; exit $code; fi";
    let line = format!("mkdir outputs; echo made > outputs/file; {}", replace(slow));
    talk.say("go", &[shell(&line), done()]);
    let sandbox = gateway.docker().sandbox();
    calls(&sandbox, 1);
    let abort = format!("/__test/abort-harness/{}", talk.id);
    assert_eq!(talk.client.post_raw(&abort, "").0, 200);
    let turn = talk.settled();
    assert_eq!(turn["status"], "completed", "{turn}");
    let path = format!("/v1/agents/sessions/{}/artifacts", talk.id);
    let (_, page) = talk.client.get(&path);
    let found: Vec<_> = page["data"].as_array().unwrap().iter().collect();
    assert_eq!(found.len(), 1, "{page}");
    assert_eq!(found[0]["path"], "/workspace/outputs/file");
    let content = format!("{path}/{}/content", found[0]["id"].as_str().unwrap());
    assert_eq!(talk.client.get(&content), (200, json!("made\n")));
    support::wait_for("the first attempt's end", Duration::from_secs(90), || {
        (artifact_objects(&talk, &gateway).len() == 1).then_some(())
    });
}

/// The sandbox is lost when it has stored what was to be published: the turn fails, and nothing of it stays.
#[test]
fn what_a_lost_sandbox_had_stored_is_garbage() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    let lost = "/sbin/honest \"$@\"; exit 10";
    let line = format!("mkdir outputs; echo made > outputs/file; {}", replace(lost));
    let turn = talk.turn("go", &line);
    assert_eq!(turn["error"]["code"], "sandbox_error", "{turn}");
    support::wait_for("the end of what it stored", Duration::from_secs(20), || {
        artifact_objects(&talk, &gateway).is_empty().then_some(())
    });
    assert_eq!(talk.run("next", "ls"), "");
}

/// A cancel that comes while the turn is stored ends what the turn has left running, as any cancel does.
#[test]
fn a_cancel_while_a_turn_is_stored_ends_what_it_left_running() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    let beat = "setsid sh -c 'while :; do echo x >> /tmp/beat; sleep 0.1; done' >/dev/null 2>&1 &";
    let line = format!("{}\n{beat}", replace("sleep 4"));
    talk.say("go", &[shell(&line), done()]);
    let sandbox = gateway.docker().sandbox();
    calls(&sandbox, 1);
    let cancel = json!({ "events": [{ "type": "agent.session.input.cancel" }] });
    let path = format!("/v1/agents/sessions/{}/events", talk.id);
    assert_eq!(talk.client.post(&path, &cancel).0, 202);
    assert_eq!(talk.settled()["status"], "cancelled");
    let beats = || in_container(&sandbox, "wc -l < /tmp/beat").0;
    let before = beats();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(beats(), before);
}
