//! What is said while a turn runs.
use super::*;

/// The input of the only effect, which steers.
fn steer(step: &Step) -> (String, Vec<protocol::Input>) {
    let [Effect::Steer {
        input_id, input, ..
    }] = &step.effects[..]
    else {
        panic!("{step:?}")
    };
    (input_id.clone(), input.clone())
}

fn run(step: &Step) -> Vec<protocol::Input> {
    let input = step.effects.iter().find_map(|effect| match effect {
        Effect::Run { input, .. } => Some(input.clone()),
        _ => None,
    });
    input.unwrap()
}

fn texts(texts: &[&str]) -> Vec<protocol::Input> {
    let texts = texts
        .iter()
        .map(|text| protocol::Input::Text((*text).into()));
    texts.collect()
}

/// The user's messages of a turn.
fn shown(bench: &Bench, turn_id: &str) -> usize {
    let items = bench.store.items.iter().map(|(_, item)| item);
    items.filter(|item| item.turn_id() == turn_id).count()
}

#[test]
fn a_steer_becomes_an_item_of_the_running_turn_when_it_is_taken() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    let step = bench.say("more");
    assert!(step.items.is_empty(), "its place is known when it is taken");
    assert!(!bench.session.is_settled());
    let (input_id, input) = steer(&step);
    assert_eq!(input, texts(&["more"]));
    bench.harness(E::Steered {
        input_id: input_id.clone(),
    });
    assert_eq!(shown(&bench, &turn_id), 2);
    assert_eq!(bench.harness(E::Steered { input_id }), Step::default());
}

#[test]
fn h2_a_refused_steer_becomes_the_next_turns_input() {
    for late in [false, true] {
        let mut bench = Bench::new();
        let first = bench.started();
        let (input_id, _) = steer(&bench.say("more"));
        if !late {
            bench.harness(E::SteerRefused {
                input_id: input_id.clone(),
            });
            assert!(!bench.session.is_settled(), "it waits");
        }
        let step = bench.end(Outcome::Completed);
        assert_eq!(run(&step), texts(&["more"]));
        let second = bench.turn();
        assert_eq!(bench.harness(E::SteerRefused { input_id }), Step::default());
        bench.end(Outcome::Completed);
        assert!(bench.session.is_settled());
        assert_eq!((shown(&bench, &first), shown(&bench, &second)), (1, 1));
    }
}

#[test]
fn a_steer_that_does_not_reach_the_harness_waits_for_the_next_turn() {
    let mut bench = Bench::new();
    bench.started();
    let (input_id, _) = steer(&bench.say("more"));
    bench.step(Input::NotSteered { input_id });
    assert_eq!(run(&bench.end(Outcome::Completed)), texts(&["more"]));
}

#[test]
fn d1_what_waits_keeps_its_order() {
    let mut bench = Bench::new();
    bench.started();
    let (first, _) = steer(&bench.say("1"));
    let (second, _) = steer(&bench.say("2"));
    bench.harness(E::SteerRefused { input_id: first });
    bench.say("3");
    bench.harness(E::SteerRefused { input_id: second });
    bench.now += TURN_DEADLINE;
    bench.step(Input::Tick);
    bench.say("4");
    let step = bench.end(Outcome::Interrupted);
    let mut all = run(&step);
    assert_eq!(
        all[0],
        protocol::Input::Text("3".into()),
        "it was on its way first"
    );
    all.sort_by_key(|input| format!("{input:?}"));
    assert_eq!(all, texts(&["1", "2", "3", "4"]));
}

#[test]
fn d11_messages_during_start_up_are_kept_and_steer_the_turn_once_it_runs() {
    let mut bench = Bench::new();
    bench.say("one");
    assert_eq!(bench.say("two").effects, []);
    assert_eq!(bench.say("three").effects, []);
    let turn_id = bench.turn();
    let thread = "t".into();
    let step = bench.harness(E::TurnStarted {
        turn_id: turn_id.clone(),
        thread,
    });
    let (input_id, input) = steer(&step);
    assert_eq!(input, texts(&["two", "three"]));
    bench.harness(E::Steered { input_id });
    assert_eq!(shown(&bench, &turn_id), 3);
}

#[test]
fn d11_messages_during_a_start_up_that_fails_are_the_next_turns() {
    let mut bench = Bench::new();
    bench.say("one");
    bench.say("two");
    let turn_id = bench.turn();
    let step = bench.step(not_started(turn_id));
    assert_eq!(run(&step), texts(&["two"]));
}

#[test]
fn d20_what_was_said_before_a_cancel_never_reaches_the_model() {
    let mut bench = Bench::new();
    bench.say("go");
    bench.say("and this");
    let turn_id = bench.turn();
    bench.step(Input::Cancel);
    assert_eq!(shown(&bench, &turn_id), 2, "it is shown with the turn");
    bench.end(Outcome::Interrupted);
    assert!(bench.session.is_settled());
    let input = |effect: &&Effect| matches!(effect, Effect::Run { .. } | Effect::Steer { .. });
    assert_eq!(bench.effects.iter().filter(input).count(), 1);
}

#[test]
fn d20_a_steer_on_its_way_at_a_cancel_ends_with_the_turn() {
    // The answer may come before the end of the turn, after it, or never.
    type Late = fn(String) -> Input;
    let answers: [Late; 2] = [
        |input_id| Input::NotSteered { input_id },
        |input_id| Input::Harness {
            epoch: 1,
            seq: 2,
            event: Box::new(E::SteerRefused { input_id }),
        },
    ];
    for answer in answers {
        for early in [true, false] {
            let mut bench = Bench::new();
            let turn_id = bench.started();
            let (input_id, _) = steer(&bench.say("more"));
            bench.step(Input::Cancel);
            assert_eq!(shown(&bench, &turn_id), 2);
            if early {
                assert_eq!(bench.step(answer(input_id.clone())), Step::default());
                bench.seq = 2;
            }
            bench.end(Outcome::Interrupted);
            assert!(bench.session.is_settled());
            assert_eq!(bench.step(answer(input_id)), Step::default());
            assert!(bench.session.is_settled());
        }
    }
}

#[test]
fn a_steer_on_its_way_when_a_harness_stops_by_itself_ends_with_the_turn() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.say("more");
    bench.end(Outcome::Interrupted);
    assert_eq!(bench.last_end(), ("cancelled", None));
    assert!(bench.session.is_settled());
    assert_eq!(shown(&bench, &turn_id), 2);
}

#[test]
fn what_is_said_after_a_cancel_is_the_next_turn() {
    let mut bench = Bench::new();
    bench.started();
    bench.step(Input::Cancel);
    assert_eq!(bench.say("instead").effects, []);
    let step = bench.end(Outcome::Interrupted);
    assert_eq!(run(&step), texts(&["instead"]));
    assert_eq!(bench.status(), SessionStatus::InProgress);
    let names = bench.names(0);
    let end = names
        .iter()
        .position(|name| *name == "turn.cancelled")
        .unwrap();
    assert_eq!(
        names[end..],
        [
            "turn.cancelled",
            "idle",
            "turn.created",
            "turn.item.added",
            "in_progress"
        ]
    );
}

#[test]
fn a_steer_of_unknown_outcome_belongs_to_the_lost_turn() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.say("more");
    bench.step(Input::Lost {
        turn_id: turn_id.clone(),
    });
    assert!(bench.session.is_settled());
    assert_eq!(shown(&bench, &turn_id), 2);
}

#[test]
fn a_steer_of_unknown_outcome_belongs_to_the_turn_whose_containers_end() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.say("more");
    bench.now += TURN_DEADLINE;
    bench.step(Input::Tick);
    bench.say("later");
    bench.now += CANCEL_DEADLINE;
    let step = bench.step(Input::Tick);
    let destroy = Effect::Destroy {
        turn_id: turn_id.clone(),
    };
    assert_eq!(step.effects[0], destroy);
    assert_eq!(
        run(&step),
        texts(&["later"]),
        "it is not said to a model again"
    );
    assert_eq!(shown(&bench, &turn_id), 2);
}

#[test]
fn messages_that_come_together_are_items_of_their_own() {
    let mut bench = Bench::new();
    let image = InputContent::InputImage {
        image_url: "data:image/png;base64,AA==".into(),
    };
    let messages = vec![vec![said("a"), image], vec![said("b")]];
    let step = bench.step(Input::Messages(messages));
    assert_eq!(
        run(&step),
        [
            protocol::Input::Text("a".into()),
            protocol::Input::Image("data:image/png;base64,AA==".into()),
            protocol::Input::Text("b".into()),
        ]
    );
    assert_eq!(bench.store.items.len(), 2);
    assert_eq!(
        bench.events[1]["item"]["content"],
        json!([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:image/png;base64,AA=="}])
    );
    assert_eq!(bench.events[1]["output_index"], Value::Null);
    assert_eq!(bench.step(Input::Messages(vec![])), Step::default());
}

#[test]
fn h14_what_waits_is_measured() {
    let mut bench = Bench::new();
    bench.say("go");
    assert_eq!(bench.session.waiting_bytes(), 0);
    bench.say(&"x".repeat(1_000));
    let waiting = bench.session.waiting_bytes();
    assert_eq!(waiting, bytes_of(&[said(&"x".repeat(1_000))]));
    bench.start();
    assert_eq!(
        bench.session.waiting_bytes(),
        waiting,
        "sent, and not taken yet"
    );
    let Some(Effect::Steer { input_id, .. }) = bench.effects.last().cloned() else {
        panic!("no steer")
    };
    bench.harness(E::Steered { input_id });
    assert_eq!(bench.session.waiting_bytes(), 0);
}
