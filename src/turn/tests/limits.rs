//! A forged harness: nothing that it sends is stored without a bound.
use super::*;
use crate::turn::lifecycle::MAX_TURN_BYTES;
use cloister_protocol::SubagentEvent;

/// Bytes of all cells and texts.
fn stored(bench: &Bench) -> usize {
    let cells = bench.store.cells.values().map(String::len);
    let texts = bench.store.texts.iter().map(|text| text.delta.len());
    cells.chain(texts).sum()
}

#[test]
fn items_and_texts_are_bounded() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    for number in 0..100 {
        bench.begin(&number.to_string(), message(""));
    }
    assert_eq!(bench.store.items.len(), 65);
    for _ in 0..10 {
        bench.text("0", &"ä".repeat(80_000));
    }
    for number in 0..64 {
        bench.text(&number.to_string(), &"y".repeat(100_000));
    }
    let long = "i".repeat(257);
    assert_eq!(bench.begin(&long, message("")), Step::default());
    assert_eq!(bench.finish(&long, message("x")), Step::default());
    assert!(stored(&bench) < 600_000, "{} bytes", stored(&bench));
    let usage = protocol::TokenUsage {
        input_tokens: u64::MAX,
        cached_tokens: u64::MAX,
        output_tokens: u64::MAX,
        reasoning_tokens: u64::MAX,
    };
    for _ in 0..2 {
        bench.harness(E::Usage {
            turn_id: turn_id.clone(),
            usage,
        });
    }
    bench.end(Outcome::Completed);
    assert_eq!(bench.session.public.usage.unwrap().total_tokens, u64::MAX);
}

/// A turn that has almost written what it may.
fn almost() -> Bench {
    let mut bench = Bench::new();
    bench.started();
    bench.begin("m", message(""));
    bench.session.core.running.as_mut().unwrap().written = MAX_TURN_BYTES - 5_000;
    bench.commit(&Step::default());
    bench
}

#[test]
fn a_turn_that_writes_too_much_is_stopped_and_fails() {
    let mut bench = almost();
    assert_eq!(bench.text("m", "x").effects, []);
    let step = bench.text("m", &"x".repeat(5_000));
    assert_eq!(
        step.effects,
        [Effect::Interrupt {
            turn_id: bench.turn()
        }]
    );
    let deadline = bench.session.wake_at();
    bench.now += 1_000;
    assert_eq!(bench.text("m", "x").effects, [], "it is told once");
    assert_eq!(bench.session.wake_at(), deadline);
    bench.end(Outcome::Interrupted);
    assert_eq!(bench.last_end(), ("failed", Some("max_output_tokens")));
    bench.started();
    bench.end(Outcome::Completed);
    assert_eq!(
        bench.last_end(),
        ("completed", None),
        "each turn has its own measure"
    );
}

#[test]
fn what_is_not_in_the_stream_counts_too() {
    let mut bench = almost();
    let turn_id = bench.turn();
    bench.harness(E::SubagentOpened {
        turn_id,
        subagent: "h1".into(),
        parent: None,
        name: None,
        prompt: None,
    });
    let mut does = |event| {
        let (subagent, turn) = ("h1".into(), "t1".into());
        bench
            .harness(E::Subagent {
                subagent,
                turn,
                event,
            })
            .effects
    };
    does(SubagentEvent::Started);
    let done = item("i", ItemStatus::Completed, message(&"x".repeat(5_000)));
    let effects = does(SubagentEvent::ItemCompleted(done));
    assert!(
        matches!(&effects[..], [Effect::Interrupt { .. }]),
        "{effects:?}"
    );
}

#[test]
fn calls_that_are_refused_count_too() {
    let mut bench = almost();
    let effects = (0..100).flat_map(|number| bench.call(&number.to_string(), "nothing").effects);
    let effects: Vec<Effect> = effects.collect();
    assert!(effects
        .iter()
        .any(|effect| matches!(effect, Effect::Interrupt { .. })));
}
