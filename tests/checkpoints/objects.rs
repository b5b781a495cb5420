//! What is stored: damaged, or of no use any more.
use crate::kit::{self, Talk};
use crate::support::{self, flip, Gateway, Model};
use serde_json::json;
use std::time::Duration;

/// What goes to the store and comes from it passes no policy of the tenant, which allows nothing here; and what was damaged
/// there is refused before anything runs with it.
#[test]
fn f5_a_restore_never_passes_the_tenants_policy() {
    let model = Model::start();
    let gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    talk.run(
        "one",
        "echo kept > file; head -c 20000000 /dev/urandom > big; sha256sum big > sum",
    );
    kit::kill_both(&gateway);
    let look = "cat file; sha256sum -c --quiet sum && echo whole";
    assert_eq!(talk.run("two", look), "kept\nwhole\n");
    assert!(!gateway.log().contains("sandbox_egress_refused"));

    let asked = model.requests().len();
    let stored = talk.objects(&gateway);
    for name in [
        "workspace/00000",
        "workspace/00001",
        "history/00000",
        "manifest",
    ] {
        let object = talk.object(&gateway, name);
        kit::kill_both(&gateway);
        flip(&object.file);
        let turn = talk.turn(&format!("damaged {name}"), look);
        assert_eq!(
            (&turn["status"], &turn["error"]["code"]),
            (&json!("failed"), &json!("sandbox_error")),
            "{name}"
        );
        assert_eq!(talk.objects(&gateway), stored, "{name}");
        flip(&object.file);
    }
    assert_eq!(model.requests().len(), asked, "nothing ran");
    assert_eq!(talk.run("three", look), "kept\nwhole\n");
    assert_eq!(
        kit::history(&model, "three"),
        (vec!["one".into(), "two".into()], true)
    );
    assert!(!gateway.log().contains("sandbox_egress_refused"));
}

/// The Worker is killed right after it has answered that a session is deleted: its objects go all the same, and no other's.
#[test]
fn a_deleted_session_leaves_no_object() {
    let model = Model::start();
    let mut gateway = Gateway::start_with_faults(&model);
    let make = "head -c 40000000 /dev/urandom > big; mkdir outputs; cp big outputs";
    let talks = [Talk::open(&gateway), Talk::open(&gateway)];
    for (n, talk) in talks.iter().enumerate() {
        talk.run(&format!("make {n}"), make);
        kit::kill_both(&gateway);
    }
    let [gone, kept] = talks;
    let before = kept.objects(&gateway);
    assert!(before
        .iter()
        .any(|object| object.key.contains("/artifacts/")));
    assert_eq!(gone.objects(&gateway).len(), before.len());

    let (status, answer) = gone
        .client
        .delete(&format!("/v1/agents/sessions/{}", gone.id));
    assert_eq!(status, 200, "{answer}");
    gateway.kill();
    gateway.restart();
    support::wait_for("the objects to go", Duration::from_secs(30), || {
        gone.objects(&gateway).is_empty().then_some(())
    });
    assert_eq!(kept.objects(&gateway), before);
    assert_eq!(
        kept.run("again", "cmp big outputs/big && echo same"),
        "same\n"
    );
}

/// The containers and the Worker die when some of a checkpoint is stored: the next turn has the one before, and what was
/// stored goes, also what might have come late.
#[test]
fn f8_a_checkpoint_is_visible_only_after_its_commit() {
    let model = Model::start();
    let mut gateway = Gateway::start_with_faults(&model);
    let talk = Talk::open(&gateway);
    talk.run("one", "echo one > file");
    let parts = |gateway: &Gateway| {
        let sizes = gateway.blob_sizes().into_iter();
        sizes.filter(|size| *size == 16 << 20).count()
    };
    assert_eq!(parts(&gateway), 0);
    let big = "echo two > file; head -c 150000000 /dev/urandom > big";
    talk.say("two", &[kit::shell(big), kit::done()]);
    support::wait_for("parts", Duration::from_secs(30), || {
        (parts(&gateway) >= 2).then_some(())
    });
    gateway.kill();
    let stored = parts(&gateway);
    assert!((2..9).contains(&stored), "{stored} parts");
    kit::kill_both(&gateway);
    gateway.restart();
    let turn = talk.settled();
    assert_eq!(turn["status"], "failed", "{turn}");
    assert!(turn["error"]["code"].is_string(), "{turn}");
    assert_eq!(talk.run("three", "cat file; ls"), "one\nfile\n");
    assert_eq!(kit::history(&model, "three"), (vec!["one".into()], true));
    talk.each_turn_has_ended_once(&gateway);
    talk.only_one_checkpoint_is_left(&gateway);
    // Of the attempt that was given up, something may appear until its deadline.
    support::wait_for("the last sweep", Duration::from_secs(60), || {
        (gateway.garbage() == 0).then_some(())
    });
    talk.only_one_checkpoint_is_left(&gateway);
}
