//! A turn that is stopped and saved.
use super::*;

#[test]
fn h4_a_cancel_while_a_turn_is_saved_decides_how_it_reads() {
    let (mut bench, id) = saving();
    let turn_id = bench.turn();
    bench.say("more");
    let wake_at = bench.session.wake_at();
    let step = bench.step(Input::Cancel);
    let interrupt = Effect::Interrupt {
        turn_id: turn_id.clone(),
    };
    assert_eq!(step.effects, [interrupt], "what is left running ends");
    assert_eq!(step.items.len(), 1, "what waits is shown with this turn");
    assert_eq!(bench.session.wake_at(), wake_at);
    assert_eq!(bench.step(Input::Cancel), Step::default());
    bench.now += CANCEL_DEADLINE;
    assert_eq!(bench.step(Input::Tick), Step::default());
    let step = bench.end_saved(with_files(id.clone()), Outcome::Completed);
    assert_eq!(bench.last_end(), ("cancelled", None));
    assert_eq!(bench.stored_turn(&turn_id), "cancelled");
    assert_eq!(step.artifacts, []);
    assert_eq!(bench.committed(), Some((1, id)), "what it changed stays");
    assert!(bench.session.is_settled());
}

#[test]
fn a_turn_that_was_stopped_is_saved_too() {
    let mut bench = Bench::new();
    bench.started();
    bench.now += TURN_DEADLINE;
    bench.step(Input::Tick);
    let id = bench.saving();
    assert_eq!(bench.session.wake_at(), Some(bench.now + SAVE_DEADLINE));
    bench.now += CANCEL_DEADLINE;
    assert_eq!(bench.step(Input::Tick), Step::default());
    bench.end_saved(saved(id.clone()), Outcome::Interrupted);
    assert_eq!(bench.last_end(), ("failed", Some("request_timeout")));
    assert_eq!(bench.committed(), Some((1, id)));
}

#[test]
fn h7_a_turn_that_is_not_saved_in_time_ends_with_its_containers() {
    let ends: [(fn(&mut Bench), _); 3] = [
        (|_| {}, ("failed", Some("sandbox_error"))),
        (
            |bench| {
                bench.step(Input::Cancel);
            },
            ("cancelled", None),
        ),
        (
            |bench| {
                bench.now += TURN_DEADLINE;
                bench.step(Input::Tick);
            },
            ("failed", Some("request_timeout")),
        ),
    ];
    for (before, expected) in ends {
        let mut bench = Bench::new();
        let turn_id = bench.started();
        bench.say("more");
        before(&mut bench);
        let id = bench.saving();
        let until = bench.now + SAVE_DEADLINE;
        bench.now = until - 1;
        assert_eq!(bench.step(Input::Tick), Step::default());
        bench.now = until;
        let step = bench.step(Input::Tick);
        assert_eq!(step.effects, [Effect::Destroy { turn_id }]);
        assert_eq!(step.garbage, given_up(&id, until));
        assert_eq!(bench.last_end(), expected);
        assert_eq!(bench.store.items.len(), 2, "a steer may have been taken");
        assert!(bench.session.is_settled() && bench.session.wake_at().is_none());
        assert_eq!(bench.committed(), None);
    }
}

#[test]
fn the_turns_own_deadline_does_not_stop_what_is_saved() {
    let mut bench = Bench::new();
    bench.started();
    bench.now += TURN_DEADLINE - 1_000;
    let id = bench.saving();
    bench.now += 2_000;
    assert_eq!(bench.step(Input::Tick), Step::default());
    bench.end_saved(saved(id), Outcome::Completed);
    assert_eq!(bench.last_end(), ("completed", None));
}

#[test]
fn a_flood_that_was_reported_late_stops_nothing_more() {
    let (mut bench, id) = saving();
    let running = bench.session.core.running.as_mut().unwrap();
    running.written = MAX_TURN_BYTES + 1;
    bench.commit(&Step::default());
    let turn_id = bench.turn();
    let usage = protocol::TokenUsage::default();
    let step = bench.harness(E::Usage { turn_id, usage });
    assert_eq!(step.effects, []);
    bench.end_saved(saved(id.clone()), Outcome::Completed);
    assert_eq!(bench.last_end(), ("failed", Some("max_output_tokens")));
    assert_eq!(bench.committed(), Some((1, id)));
}
