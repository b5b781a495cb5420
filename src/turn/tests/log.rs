//! The event log: places, ids and chunks.
use super::*;

/// A log of some hundred events in chunks, each chunk of one step.
fn logged() -> Bench {
    let mut bench = Bench::new();
    for _ in 0..3 {
        bench.started();
        bench.begin("m", message(""));
        let deltas = (0..20).map(|number| E::TextDelta {
            turn_id: bench.turn(),
            item_id: "m".into(),
            delta: format!("{number}\n\n"),
        });
        let deltas: Vec<E> = deltas.collect();
        let inputs = deltas
            .into_iter()
            .map(|event| bench.reported(event))
            .collect();
        bench.offer_all(inputs).unwrap();
        bench.end(Outcome::Completed);
    }
    bench
}

#[test]
fn c7_frames_after_each_place_are_the_events_after_it() {
    let bench = logged();
    assert!(bench
        .store
        .log
        .iter()
        .any(|chunk| chunk.last > chunk.first + 10));
    for after in 0..=bench.session.last_event() {
        let frames = bench
            .store
            .log
            .iter()
            .map(|chunk| chunk.frames_after(after));
        let rest: String = frames.collect();
        let chunk = Chunk {
            first: after + 1,
            last: bench.session.last_event(),
            ends: Ends::Nothing,
            frames: rest,
        };
        let events = order::events_of(&[chunk]);
        assert_eq!(events.len() as u64, bench.session.last_event() - after);
        for (event, place) in events.iter().zip(after + 1..) {
            let id = event["event_id"].as_str().unwrap();
            assert_eq!(place_of(&bench.session.identity.stream, id), Some(place));
        }
    }
}

#[test]
fn places_far_behind_the_log_have_no_frames() {
    let bench = logged();
    let chunk = bench.store.log.last().unwrap();
    for after in [chunk.last, chunk.last + 1, 1 << 40, u64::MAX] {
        assert_eq!(chunk.frames_after(after), "");
    }
    assert_eq!(chunk.frames_after(0), chunk.frames);
}

#[test]
fn chunks_follow_each_other() {
    let bench = logged();
    let mut last = 0;
    for chunk in &bench.store.log {
        assert_eq!(chunk.first, last + 1);
        assert_eq!(
            chunk.frames.matches("\n\n").count() as u64,
            chunk.last - chunk.first + 1
        );
        last = chunk.last;
    }
    assert_eq!(last, bench.session.last_event());
    let bytes: usize = bench.store.log.iter().map(|chunk| chunk.frames.len()).sum();
    assert_eq!(bench.session.log_bytes(), bytes as u64);
}

#[test]
fn a_chunk_ends_where_streams_of_one_turn_end() {
    let mut bench = Bench::new();
    bench.started();
    bench.step(Input::Cancel);
    bench.say("next");
    let step = bench.end(Outcome::Interrupted);
    let [end, next] = &step.chunks[..] else {
        panic!("{:?}", step.chunks)
    };
    assert_eq!((end.ends, next.ends), (Ends::Turn, Ends::Nothing));
    let name = |chunk: &Chunk| {
        let events = order::events_of(std::slice::from_ref(chunk));
        order::name_of(events.last().unwrap()).to_owned()
    };
    assert_eq!(name(end), "idle");
    for ends in [Ends::Nothing, Ends::Turn, Ends::Session] {
        assert_eq!(Ends::of_letter(&ends.letter().to_string()), Some(ends));
    }
    for letter in ["", "x", "tt"] {
        assert_eq!(Ends::of_letter(letter), None);
    }
}

#[test]
fn large_steps_are_several_chunks() {
    let mut bench = Bench::new();
    bench.started();
    bench.begin("m", message(""));
    let inputs: Vec<Input> = (0..10)
        .map(|_| {
            let (turn_id, item_id) = (bench.turn(), "m".into());
            let delta = "x".repeat(12_000);
            bench.reported(E::TextDelta {
                turn_id,
                item_id,
                delta,
            })
        })
        .collect();
    let step = bench.offer_all(inputs).unwrap();
    assert!(step.chunks.len() > 1);
    assert!(step.chunks.iter().all(|chunk| chunk.frames.len() < 80_000));
}

#[test]
fn c7_ids_of_events_belong_to_one_log() {
    let (mine, other) = (stream_name([1; 16]), stream_name([2; 16]));
    for place in [0, 1, 255, u64::MAX] {
        let id = event_id(&mine, place);
        assert_eq!(id.len(), 4 + 32);
        assert_eq!(place_of(&mine, &id), Some(place));
        assert_eq!(place_of(&other, &id), None);
    }
    let id = event_id(&mine, 171);
    for bad in [
        String::new(),
        "evt_".into(),
        id[1..].to_owned(),
        id[..id.len() - 1].to_owned(),
        format!("{id}0"),
        id.to_uppercase(),
        id.replace("ab", "+b"),
        id.replace("ab", "é"),
        id.replace("evt_", "msg_"),
        event_id("", 171),
    ] {
        assert_eq!(place_of(&mine, &bad), None, "{bad}");
    }
}

#[test]
fn d17_a_log_that_was_trimmed_says_where_it_begins() {
    let mut bench = logged();
    assert_eq!(bench.session.log_begins(), 0);
    let first = bench.store.log.remove(0);
    let bytes = bench.session.log_bytes();
    bench
        .session
        .log_trimmed(first.frames.len() as u64, first.last);
    bench.commit(&Step::default());
    assert_eq!(bench.session.log_begins(), first.last);
    assert_eq!(bench.session.log_bytes(), bytes - first.frames.len() as u64);
    bench.started();
    bench
        .session
        .log_trimmed(u64::MAX, bench.session.last_event());
    assert_eq!(bench.session.log_bytes(), 0);
}
