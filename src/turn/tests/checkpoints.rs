//! Checkpoints: how they are made, and what a turn's end has to do with it.
use super::*;
use crate::checkpoint::key::{Content, Home};
use crate::checkpoint::{Garbage, SavedArtifact, Unsaved};
use crate::turn::lifecycle::MAX_TURN_BYTES;
use crate::turn::saving::MAX_ATTEMPTS;
use crate::wire::id::Kind;
use cloister_protocol::backup::MAX_ANNOUNCED_FILES;
use cloister_protocol::FailureCode;

mod stops;

const FAILED: Outcome = Outcome::Failed {
    code: FailureCode::ServerError,
};

fn home() -> Home {
    let session = session();
    Home::of(&session.identity.tenant, &session.public.id)
}

/// A turn that runs and is being saved.
fn saving() -> (Bench, CheckpointId) {
    let mut bench = Bench::new();
    bench.started();
    let id = bench.saving();
    (bench, id)
}

fn files(count: usize) -> Vec<SavedArtifact> {
    let file = |index| SavedArtifact {
        index,
        path: format!("/workspace/outputs/{index}"),
        bytes: 7,
        sha256: Digest::of(&index.to_be_bytes()),
    };
    (0..count as u32).map(file).collect()
}

/// A whole checkpoint with two files, and one that is not whole.
fn with_files(id: CheckpointId) -> Saved {
    Saved {
        artifacts: files(2),
        dropped: vec![2],
        ..saved(id)
    }
}

impl Bench {
    fn said_of(&self, saved: Saved) -> Input {
        let (turn_id, saved) = (self.turn(), Box::new(saved));
        Input::Saved { turn_id, saved }
    }

    fn end_unsaved(&mut self, why: Unsaved, outcome: Outcome) -> Step {
        let turn_id = self.turn();
        let inputs = vec![Input::Unsaved { turn_id, why }, self.ended(outcome)];
        self.offer_all(inputs).unwrap()
    }

    /// The committed checkpoint's generation and id.
    fn committed(&self) -> Option<(u64, CheckpointId)> {
        let checkpoint = self.session.checkpoint()?;
        Some((checkpoint.generation, checkpoint.id.clone()))
    }
}

fn prefixes(step: &Step) -> Vec<&str> {
    step.garbage.iter().map(|row| row.prefix.as_str()).collect()
}

/// All of an attempt that is given up.
fn given_up(id: &CheckpointId, until: u64) -> [Garbage; 2] {
    [home().checkpoint(id), home().artifacts(id)].map(|prefix| Garbage { prefix, until })
}

#[test]
fn a_turn_ends_with_its_checkpoint() {
    let (mut bench, first) = saving();
    assert_eq!(bench.session.attempt(), Some(&first));
    assert_eq!(bench.session.wake_at(), Some(bench.now + SAVE_DEADLINE));
    assert_eq!(bench.status(), SessionStatus::InProgress);
    let step = bench.end_saved(saved(first.clone()), Outcome::Completed);
    assert_eq!(bench.last_end(), ("completed", None));
    assert_eq!((step.garbage, step.artifacts), (vec![], vec![]));
    let checkpoint = bench.session.checkpoint().unwrap();
    assert_eq!(checkpoint.manifest, saved(first.clone()).manifest);
    assert_eq!(checkpoint.workspace.as_ref(), Some(&first));
    assert_eq!(bench.committed(), Some((1, first.clone())));
    assert_eq!(bench.session.attempt(), None);

    bench.started();
    let second = bench.saving();
    let step = bench.end_saved(saved(second.clone()), Outcome::Completed);
    let (prefix, until) = (home().checkpoint(&first), bench.now);
    assert_eq!(step.garbage, [Garbage { prefix, until }]);
    assert_eq!(bench.committed(), Some((2, second)));
}

#[test]
fn an_attempt_is_known_before_anything_else_happens() {
    let mut bench = Bench::new();
    bench.say("go");
    let id = bench.saving();
    assert_eq!(bench.session.attempt(), Some(&id), "of a turn that waits");
    let wake_at = bench.session.wake_at();
    bench.now += 1_000;
    let turn_id = bench.turn();
    let again = bench.step(Input::Saving {
        turn_id,
        checkpoint: id.clone(),
    });
    assert_eq!(again, Step::default());
    assert_eq!(bench.session.wake_at(), wake_at);
    bench.end_saved(saved(id), Outcome::Completed);
    assert_eq!(bench.last_end(), ("completed", None));
}

#[test]
fn only_the_running_turn_is_saved() {
    let mut bench = Bench::new();
    let saving = |checkpoint| Input::Saving {
        turn_id: "turn_other".into(),
        checkpoint,
    };
    let id = CheckpointId::new([9; 16]);
    assert_eq!(bench.step(saving(id.clone())), Step::default());
    bench.started();
    assert_eq!(bench.step(saving(id)), Step::default());
    assert_eq!(bench.session.attempt(), None);
    assert_eq!(bench.session.wake_at(), Some(bench.now + TURN_DEADLINE));
    let last = bench.saving();
    bench.end_saved(saved(last.clone()), Outcome::Completed);
    bench.started();
    let turn_id = bench.turn();
    bench.step(Input::Saving {
        turn_id,
        checkpoint: last,
    });
    assert_eq!(bench.session.attempt(), None, "it is committed already");
}

#[test]
fn completed_never_comes_before_its_checkpoint() {
    type End = fn(&mut Bench, CheckpointId) -> Step;
    let ends: [(End, &str); 3] = [
        (
            |bench, _| {
                let ended = bench.ended(Outcome::Completed);
                bench.step(ended)
            },
            "internal_error",
        ),
        (
            |bench, _| bench.end_unsaved(Unsaved::TooLarge, Outcome::Completed),
            "sandbox_error",
        ),
        (
            |bench, _| bench.end_unsaved(Unsaved::Failed, Outcome::Completed),
            "sandbox_error",
        ),
    ];
    for (end, code) in ends {
        let (mut bench, id) = saving();
        let until = bench.now + SAVE_DEADLINE;
        bench.now += 1_000;
        let step = end(&mut bench, id.clone());
        assert_eq!(bench.last_end(), ("failed", Some(code)));
        assert_eq!(step.garbage, given_up(&id, until));
        assert_eq!(bench.committed(), None);
        assert_eq!(bench.session.attempt(), None);

        // Without an attempt there is nothing to throw away.
        let mut bench = Bench::new();
        bench.started();
        let step = end(&mut bench, id);
        assert_eq!(bench.last_end(), ("failed", Some(code)));
        assert_eq!(step.garbage, []);
    }
}

#[test]
fn a_turn_that_fails_of_itself_keeps_its_code() {
    let (mut bench, id) = saving();
    bench.end_saved(saved(id.clone()), FAILED);
    assert_eq!(bench.last_end(), ("failed", Some("server_error")));
    assert_eq!(bench.committed(), Some((1, id)), "what it changed stays");
    let (mut bench, id) = saving();
    let step = bench.end_unsaved(Unsaved::Failed, FAILED);
    assert_eq!(bench.last_end(), ("failed", Some("server_error")));
    assert_eq!(step.garbage.len(), 2);
    assert_eq!(bench.committed(), None);
    drop(id);
}

#[test]
fn what_a_lost_sandbox_had_made_is_lost_with_it() {
    let mut bench = Bench::new();
    bench.started();
    bench.end(Outcome::Completed);
    let (_, first) = bench.committed().unwrap();
    bench.started();
    let until = bench.now + SAVE_DEADLINE;
    let second = bench.saving();
    let lost = Saved {
        workspace: Some(first.clone()),
        sandbox_lost: true,
        ..with_files(second.clone())
    };
    bench.now += 1_000;
    let step = bench.end_saved(lost, Outcome::Completed);
    assert_eq!(bench.last_end(), ("failed", Some("sandbox_error")));
    assert_eq!(
        bench.committed(),
        Some((2, second.clone())),
        "the conversation is kept"
    );
    assert_eq!(step.artifacts, []);
    let home = home();
    let garbage = |prefix, until| Garbage { prefix, until };
    let expected = [
        garbage(home.stream(&second, Content::Workspace), until),
        garbage(home.manifest(&first), bench.now),
        garbage(home.stream(&first, Content::History), bench.now),
        garbage(home.artifacts(&second), until),
    ];
    assert_eq!(step.garbage, expected);
    // Once more: the first still has the workspace, and the second nothing.
    bench.started();
    let third = bench.saving();
    let lost = Saved {
        workspace: Some(first.clone()),
        sandbox_lost: true,
        ..saved(third.clone())
    };
    let step = bench.end_saved(lost, FAILED);
    let expected = [
        home.stream(&third, Content::Workspace),
        home.checkpoint(&second),
        // Nobody told of any, but the sandbox may have stored some before it was lost.
        home.artifacts(&third),
    ];
    assert_eq!(prefixes(&step), expected);
    // A workspace that is stored again replaces the one that lived elsewhere.
    bench.started();
    let fourth = bench.saving();
    let step = bench.end_saved(saved(fourth.clone()), Outcome::Completed);
    let expected = [
        home.checkpoint(&third),
        home.stream(&first, Content::Workspace),
    ];
    assert_eq!(prefixes(&step), expected);
    assert_eq!(bench.committed(), Some((4, fourth)));
}

#[test]
fn a_session_that_only_talks_is_saved_without_a_workspace() {
    let mut bench = Bench::new();
    bench.session.identity.environment_id = None;
    bench.session.public_changed = true;
    bench.commit(&Step::default());
    let mut last = None;
    for _ in 0..2 {
        bench.started();
        let id = bench.saving();
        let talk = Saved {
            workspace: None,
            ..with_files(id.clone())
        };
        let step = bench.end_saved(talk, Outcome::Completed);
        assert_eq!(bench.last_end(), ("completed", None));
        assert_eq!(step.artifacts, [], "it has no files");
        let old = last.replace(id.clone());
        let old = old.iter().map(|old| home().checkpoint(old));
        let expected: Vec<_> = old.chain([home().artifacts(&id)]).collect();
        assert_eq!(prefixes(&step), expected);
    }
}

#[test]
fn a_completed_turn_publishes_what_is_whole() {
    let (mut bench, id) = saving();
    let turn_id = bench.turn();
    let until = bench.now + SAVE_DEADLINE;
    let step = bench.end_saved(with_files(id.clone()), Outcome::Completed);
    let [first, second] = &step.artifacts[..] else {
        panic!("{step:?}")
    };
    assert!(Kind::Artifact.fits(&first.artifact.id));
    assert_ne!(first.artifact.id, second.artifact.id);
    let shown = serde_json::to_value(&second.artifact).unwrap();
    let expected = json!({
        "id": second.artifact.id, "object": "agent.session.artifact", "session_id": "sess_1", "turn_id": turn_id,
        "environment_id": "env_1", "path": "/workspace/outputs/1", "size_bytes": 7, "created_at": bench.now / 1000,
    });
    assert_eq!(shown, expected);
    assert_eq!((&second.checkpoint, second.index), (&id, 1));
    assert_eq!(second.sha256, Digest::of(&1u32.to_be_bytes()));
    let prefix = home().artifact(&id, 2);
    assert_eq!(step.garbage, [Garbage { prefix, until }]);
}

#[test]
fn a_turn_that_is_not_completed_publishes_nothing() {
    for outcome in [FAILED, Outcome::Interrupted] {
        let (mut bench, id) = saving();
        let until = bench.now + SAVE_DEADLINE;
        let step = bench.end_saved(with_files(id.clone()), outcome);
        assert_eq!(step.artifacts, []);
        let prefix = home().artifacts(&id);
        assert_eq!(step.garbage, [Garbage { prefix, until }]);
        assert_eq!(bench.committed(), Some((1, id)));
    }
}

#[test]
fn h16_a_commit_is_recovered_from_the_record() {
    let (mut bench, id) = saving();
    let inputs = vec![
        bench.said_of(with_files(id.clone())),
        bench.ended(Outcome::Completed),
    ];
    bench.offer_all(inputs.clone()).unwrap();
    let (events, committed) = (bench.events.len(), bench.committed());
    // The answer was lost: the harness's object says it again, and asks for what is committed.
    assert_eq!(bench.offer_all(inputs.clone()), Ok(Step::default()));
    assert_eq!(bench.events.len(), events);
    assert_eq!(bench.committed(), committed);
    // Nor does it touch the next turn.
    bench.started();
    let next = bench.saving();
    assert_eq!(bench.offer_all(inputs), Ok(Step::default()));
    assert_eq!(bench.committed(), committed);
    assert_eq!(bench.session.attempt(), Some(&next));
}

#[test]
fn another_attempt_gives_the_first_up() {
    let (mut bench, first) = saving();
    let until = bench.now + SAVE_DEADLINE;
    bench.now += 1_000;
    bench.attempts += 1;
    let second = CheckpointId::new(bench.attempts.to_be_bytes());
    let turn_id = bench.turn();
    let attempt = |checkpoint: &CheckpointId| Input::Saving {
        turn_id: turn_id.clone(),
        checkpoint: checkpoint.clone(),
    };
    let step = bench.step(attempt(&second));
    assert_eq!(step.garbage, given_up(&first, until));
    assert_eq!(bench.session.wake_at(), Some(until), "it is not put off");
    // What was said of the first, late.
    assert_eq!(bench.step(attempt(&first)), Step::default());
    assert_eq!(bench.session.attempt(), Some(&second));
    let late = bench.said_of(saved(first.clone()));
    assert_eq!(bench.step(late), Step::default());
    bench.end_saved(saved(second.clone()), Outcome::Completed);
    assert_eq!(bench.last_end(), ("completed", None));
    assert_eq!(bench.committed(), Some((1, second)));
}

#[test]
fn a_turn_ends_without_what_was_said_of_an_earlier_attempt() {
    let (mut bench, first) = saving();
    bench.attempts += 1;
    let checkpoint = CheckpointId::new(bench.attempts.to_be_bytes());
    let inputs = vec![
        bench.said_of(saved(first)),
        Input::Saving {
            turn_id: bench.turn(),
            checkpoint,
        },
        bench.ended(Outcome::Completed),
    ];
    let step = bench.offer_all(inputs).unwrap();
    assert_eq!(bench.last_end(), ("failed", Some("internal_error")));
    assert_eq!(step.garbage.len(), 4);
    assert_eq!(bench.committed(), None);
}

#[test]
fn each_other_end_of_a_turn_gives_its_attempt_up() {
    let losses: [fn(String) -> Input; 3] = [
        not_started,
        |turn_id| Input::Lost { turn_id },
        |_| Input::Harness {
            epoch: 1,
            seq: 9,
            event: Box::new(E::HarnessLost { exit_code: None }),
        },
    ];
    for loss in losses {
        let (mut bench, id) = saving();
        let until = bench.now + SAVE_DEADLINE;
        // Nothing but the end of the turn commits, whatever comes with it.
        let inputs = vec![bench.said_of(saved(id.clone())), loss(bench.turn())];
        let step = bench.offer_all(inputs).unwrap();
        assert_eq!(step.garbage, given_up(&id, until));
        assert_eq!(bench.committed(), None);
        assert_eq!(bench.session.attempt(), None);
    }
}

#[test]
fn what_is_said_of_a_checkpoint_counts_in_its_own_step_only() {
    let (mut bench, id) = saving();
    let many = Saved {
        artifacts: files(MAX_ANNOUNCED_FILES),
        ..saved(id.clone())
    };
    let early = bench.said_of(many);
    bench.step(early);
    let core = &bench.store.cells[&(CellKind::Core, 0)];
    assert!(core.len() < 2_000, "it is not stored");
    let ended = bench.ended(Outcome::Completed);
    bench.step(ended);
    assert_eq!(bench.last_end(), ("failed", Some("internal_error")));
    assert_eq!(bench.committed(), None);
    // Nor does it reach the next turn of the same step.
    bench.started();
    bench.say("next");
    let turn_id = bench.turn();
    let why = Unsaved::Failed;
    let inputs = vec![
        Input::Unsaved {
            turn_id: turn_id.clone(),
            why,
        },
        Input::Lost { turn_id },
        Input::Messages(vec![vec![said("more")]]),
    ];
    let step = bench.offer_all(inputs).unwrap();
    assert_eq!(step.save, None);
}

#[test]
fn a_checkpoint_that_refers_to_what_is_not_stored_is_none() {
    type Change = fn(&mut Saved);
    let changes: [Change; 4] = [
        |saved| saved.workspace = Some(CheckpointId::new([9; 16])),
        |saved| saved.artifacts = files(MAX_ANNOUNCED_FILES + 1),
        |saved| saved.dropped = vec![1],
        |saved| saved.artifacts[0].index = 1,
    ];
    for change in changes {
        let (mut bench, id) = saving();
        let mut saved = with_files(id);
        change(&mut saved);
        bench.end_saved(saved, Outcome::Completed);
        assert_eq!(bench.last_end(), ("failed", Some("internal_error")));
        assert_eq!(bench.committed(), None);
    }
}

#[test]
fn what_is_said_while_a_turn_is_saved_waits_for_the_next() {
    for queued in [false, true] {
        let mut bench = Bench::new();
        bench.say("go");
        if !queued {
            bench.start();
        }
        let id = bench.saving();
        let step = bench.say("more");
        assert_eq!((step.effects, step.items), (vec![], vec![]));
        if queued {
            // Its beginning comes late.
            let turn_id = bench.turn();
            let thread = "t".into();
            let step = bench.harness(E::TurnStarted { turn_id, thread });
            assert_eq!(step.effects, []);
        }
        let step = bench.end_saved(saved(id), Outcome::Completed);
        assert!(matches!(&step.effects[..], [Effect::Run { input, .. }] if input.len() == 1));
        assert_eq!(bench.session.wake_at(), Some(bench.now + TURN_DEADLINE));
    }
}

#[test]
fn attempts_are_bounded() {
    let mut bench = Bench::new();
    bench.started();
    let last = (0..MAX_ATTEMPTS).map(|_| bench.saving()).last();
    assert_eq!(bench.session.attempt(), last.as_ref());
    bench.saving();
    assert_eq!(bench.session.attempt(), last.as_ref(), "no more are begun");
}
