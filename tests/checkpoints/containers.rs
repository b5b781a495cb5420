//! Containers that are not what they should be, or are lost while they are needed.
use crate::kit::{self, done, history, shell, Talk};
use crate::support::{docker, shell as in_container, Gateway, Model};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a turn finds of what was put into the sandbox between two turns, and of what was committed.
const LOOK: &str = "cat /workspace/committed /workspace/sneaked /srv/outside 2>/dev/null";
const SNEAK: &str = "echo sneaked > /workspace/sneaked; echo outside > /srv/outside";

/// The sandbox runs on between two turns. If its marker says that it holds what was committed, it is used again, with what is
/// outside of the workspace; without a marker, or with another, nothing of it is believed.
#[test]
fn h17_a_replaced_container_is_not_believed() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    talk.run(
        "one",
        "echo committed > committed; echo outside > /srv/outside",
    );
    let sandbox = gateway.docker().sandbox();
    assert_eq!(talk.run("two", LOOK), "committed\noutside\n");
    assert_eq!(gateway.docker().sandbox(), sandbox, "it is used again");

    let doubts = [
        "rm /run/cloister/marker",
        "printf 0123456789abcdef/ckpt_00000000000000000000000000000000 > /run/cloister/marker",
        ": > /run/cloister/marker",
        "rm /run/cloister/marker; mkdir /run/cloister/marker",
    ];
    for (n, doubt) in (0..).zip(doubts) {
        let sandbox = gateway.docker().sandbox();
        let (output, code) = in_container(&sandbox, &format!("{SNEAK}; {doubt}"));
        assert_eq!(code, 0, "{output}");
        assert_eq!(
            talk.run(&format!("doubt {n}"), LOOK),
            "committed\n",
            "{doubt}"
        );
        assert_ne!(gateway.docker().sandbox(), sandbox, "{doubt}");
    }
}

const PARTS: &str = "head -c 100000000 /dev/urandom > big; sha256sum big > sum";
const WHOLE: &str = "sha256sum -c --quiet sum && echo whole";

/// A sandbox that is lost while its workspace comes back is replaced once, and the turn has all of it. One that is lost each
/// time fails the turn, and nothing else.
#[test]
fn f10_a_container_replaced_in_mid_restore_is_restored_once_more() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    talk.run("one", PARTS);

    kit::kill_both(&gateway);
    talk.say("two", &[shell(WHOLE), done()]);
    docker(&["kill", &kit::packing(&gateway, "restore").sandbox]);
    let turn = talk.settled();
    assert_eq!(turn["status"], "completed", "{turn}");
    assert_eq!(talk.printed(&turn), "whole\n");

    kit::kill_both(&gateway);
    let asked = model.requests().len();
    let over = AtomicBool::new(false);
    let turn = std::thread::scope(|scope| {
        let killing = scope.spawn(|| {
            let mut killed = 0;
            while !over.load(Ordering::Relaxed) {
                if let Some(packing) = kit::is_packing(&gateway, "restore") {
                    docker(&["kill", &packing.sandbox]);
                    killed += 1;
                }
            }
            killed
        });
        let turn = talk.turn("three", WHOLE);
        over.store(true, Ordering::Relaxed);
        assert!(killing.join().unwrap() >= 2);
        turn
    });
    assert_eq!(
        (&turn["status"], &turn["error"]["code"]),
        (&json!("failed"), &json!("sandbox_error"))
    );
    assert_eq!(model.requests().len(), asked, "nothing ran");
    assert_eq!(talk.run("four", WHOLE), "whole\n");
    talk.each_turn_has_ended_once(&gateway);
}

/// A workspace that takes long to come back does not use up the time for which a sandbox may be idle.
#[test]
fn a_slow_restore_is_not_idle_time() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    talk.run("one", PARTS);
    kit::kill_both(&gateway);
    talk.say("two", &[shell(WHOLE), done()]);
    let kit::Packing { sandbox, packer } = kit::packing(&gateway, "restore");
    assert!(packer.signal("STOP"));
    // Longer than it may be idle from when the turn began, shorter than a restore may take.
    std::thread::sleep(Duration::from_secs(25));
    assert!(packer.signal("CONT"));
    let turn = talk.settled();
    assert_eq!(turn["status"], "completed", "{turn}");
    assert_eq!(talk.printed(&turn), "whole\n");
    assert_eq!(gateway.docker().sandbox(), sandbox, "it was not replaced");
}

/// A sandbox that is lost in the middle of a turn takes with it what the turn had changed. What was said is kept.
#[test]
fn a_sandbox_that_is_lost_in_mid_turn_leaves_the_committed_workspace() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    talk.run("one", "echo one > file");
    talk.say(
        "two",
        &[
            shell("echo two > file"),
            json!({ "wait": "mid", "say": "Done." }),
        ],
    );
    kit::wait_for_call(&model, "two", 2);
    docker(&["kill", &gateway.docker().sandbox()]);
    assert!(model.release("mid"));
    let turn = talk.settled();
    assert_eq!(
        (&turn["status"], &turn["error"]["code"]),
        (&json!("failed"), &json!("sandbox_error"))
    );
    assert_eq!(talk.run("three", "cat file"), "one\n");
    assert_eq!(
        history(&model, "three"),
        (vec!["one".into(), "two".into()], true)
    );
    // Once more from the store: that the workspace is of an earlier checkpoint does not matter.
    kit::kill_both(&gateway);
    assert_eq!(talk.run("four", "cat file; echo four > file"), "one\n");
    kit::kill_both(&gateway);
    assert_eq!(talk.run("five", "cat file"), "four\n");
    let all = ["one", "two", "three", "four"].map(str::to_owned);
    assert_eq!(history(&model, "five"), (all.into(), true));
    talk.only_one_checkpoint_is_left(&gateway);

    let events = gateway.stored_events();
    let told = events.iter().filter_map(|event| {
        let name = event["type"].as_str()?;
        name.strip_prefix("agent.session.environment.")
    });
    let expected = [
        &["pending", "ready", "connected"][..],
        &["disconnected", "reset", "ready", "connected"],
        // Those were replaced between turns: nothing was lost.
        &["ready", "connected"],
        &["ready", "connected"],
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected.concat());
}
