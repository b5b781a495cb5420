//! The commit, when what was to hear of it is gone.
use crate::kit::{self, history, shell, Talk};
use crate::support::{self, Gateway, Model};
use serde_json::json;
use std::time::Duration;

/// What is ended when the end of the turn stands still.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The harness's object.
    Object,
    /// The process that runs the Worker.
    Worker,
}

/// Both containers are gone, and with them whoever could say again what became of the turn: it ends as was stored, once, and
/// what it made is there.
#[test]
fn h16_a_lost_commit_response_is_recovered_from_the_record() {
    let model = Model::start();
    let mut gateway = Gateway::start_with_faults(&model);
    for (point, end) in [
        ("committed", End::Object),
        ("committed", End::Worker),
        ("prepared", End::Object),
        ("prepared", End::Worker),
    ] {
        let mark = format!("{point} {end:?}");
        let talk = Talk::open(&gateway);
        let held = json!({ "wait": "end", "say": "Done." });
        talk.say(&mark, &[shell("echo kept > file"), held]);
        kit::wait_for_call(&model, &mark, 2);
        let hold = format!("/__test/hold/{}?at={point}", talk.id);
        assert_eq!(talk.client.post_raw(&hold, "").0, 200);
        let line = format!("\"at\":\"{point}\"");
        let held = || gateway.log().matches(&line).count();
        let before = held();
        assert!(model.release("end"));
        support::wait_for(point, Duration::from_secs(30), || {
            (held() > before).then_some(())
        });
        kit::kill_both(&gateway);
        match end {
            End::Object => {
                let abort = format!("/__test/abort-harness/{}", talk.id);
                assert_eq!(talk.client.post_raw(&abort, "").0, 200);
            }
            End::Worker => {
                gateway.kill();
                gateway.restart();
            }
        }
        let turn = talk.settled();
        assert_eq!(turn["status"], "completed", "{mark}: {turn}");
        let next = format!("after {mark}");
        assert_eq!(talk.run(&next, "cat file"), "kept\n", "{mark}");
        assert_eq!(history(&model, &next), (vec![mark], true));
        talk.each_turn_has_ended_once(&gateway);
        talk.only_one_checkpoint_is_left(&gateway);
        let path = format!("/v1/agents/sessions/{}", talk.id);
        assert_eq!(talk.client.delete(&path).0, 200);
    }
}
