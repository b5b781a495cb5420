//! Texts, delta by delta.
use super::*;
use cloister_protocol::{MAX_OUTPUT_BYTES, MAX_TEXT_BYTES};

fn reason(bench: &mut Bench, part: u32, delta: &str) -> Step {
    bench.harness(E::ReasoningDelta {
        turn_id: bench.turn(),
        item_id: "r".into(),
        part,
        delta: delta.into(),
    })
}

/// The text of all deltas of an event.
fn deltas(bench: &Bench, name: &str) -> String {
    let events = bench
        .events
        .iter()
        .filter(|event| order::name_of(event) == name);
    events
        .map(|event| event["delta"].as_str().unwrap())
        .collect()
}

#[test]
fn a_text_is_cut_between_characters() {
    let mut bench = Bench::new();
    bench.started();
    bench.begin("m", message(""));
    // Three bytes each: the bound is not between two of them.
    let long = "€".repeat(100_000);
    bench.text("m", "x");
    bench.text("m", &long);
    assert_eq!(bench.text("m", "€"), Step::default(), "it is full");
    bench.finish("m", message(&format!("x{long}")));
    let text = deltas(&bench, "turn.output_text.delta");
    assert!(text.len() <= MAX_TEXT_BYTES && text.len() > MAX_TEXT_BYTES - 3);
    assert_eq!(bench.newest("turn.output_text.done")["text"], text);
}

#[test]
fn an_answer_that_is_whole_at_once_is_cut_alike() {
    let mut bench = Bench::new();
    bench.started();
    bench.finish("m", message(&"€".repeat(100_000)));
    let text = deltas(&bench, "turn.output_text.delta");
    assert_eq!(text.len(), MAX_TEXT_BYTES / 3 * 3);
    assert_eq!(
        bench.newest("turn.item.done")["item"]["status"],
        "incomplete"
    );
}

#[test]
fn an_answer_that_the_supervisor_has_cut_is_incomplete() {
    let mut bench = Bench::new();
    bench.started();
    let turn_id = bench.turn();
    bench.begin("m", message(""));
    bench.text("m", "as far as it fits");
    let mut item = protocol::Item {
        id: "m".into(),
        status: protocol::ItemStatus::InProgress,
        kind: message("as far as it fits"),
    };
    bench.harness(E::ItemCompleted {
        turn_id: turn_id.clone(),
        item: item.clone(),
    });
    assert_eq!(
        bench.newest("turn.item.done")["item"]["status"],
        "incomplete"
    );
    item.id = "n".into();
    item.status = protocol::ItemStatus::Completed;
    bench.harness(E::ItemCompleted { turn_id, item });
    assert_eq!(
        bench.newest("turn.item.done")["item"]["status"],
        "completed"
    );
}

#[test]
fn a_command_whose_end_is_not_heard_of_keeps_its_output_so_far() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.begin("c", command(None));
    for delta in ["one\n", "two\n"] {
        bench.harness(E::OutputDelta {
            turn_id: turn_id.clone(),
            item_id: "c".into(),
            delta: delta.into(),
        });
    }
    bench.end(protocol::Outcome::Completed);
    let item = &bench.newest("turn.item.done")["item"];
    assert_eq!(item["status"], "incomplete");
    assert_eq!(item["output"], "one\ntwo\n");
}

#[test]
fn output_is_cut_between_characters() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.begin("c", command(None));
    let long = "€".repeat(50_000);
    let (item_id, delta) = ("c".to_owned(), long.clone());
    bench.harness(E::OutputDelta {
        turn_id: turn_id.clone(),
        item_id: item_id.clone(),
        delta,
    });
    let shown = bench.newest("command_execution_output.delta")["delta"]
        .as_str()
        .unwrap();
    assert_eq!(shown.len(), MAX_OUTPUT_BYTES / 3 * 3);
    let empty = bench.harness(E::OutputDelta {
        turn_id,
        item_id,
        delta: String::new(),
    });
    assert_eq!(empty, Step::default());
    bench.finish("c", command(Some(&long)));
    let output = &bench.newest("turn.item.done")["item"]["output"];
    assert_eq!(output.as_str().unwrap().len(), MAX_OUTPUT_BYTES / 3 * 3);
}

#[test]
fn deltas_go_to_items_of_their_kind() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.begin("m", message(""));
    bench.begin("r", ItemKind::Reasoning { summary: vec![] });
    bench.begin("c", command(None));
    for id in ["r", "c"] {
        assert_eq!(bench.text(id, "x"), Step::default());
    }
    for id in ["m", "c"] {
        let (turn_id, item_id) = (turn_id.clone(), id.to_owned());
        let delta = E::ReasoningDelta {
            turn_id,
            item_id,
            part: 0,
            delta: "x".into(),
        };
        assert_eq!(bench.harness(delta), Step::default());
    }
    for id in ["m", "r"] {
        let (turn_id, item_id) = (turn_id.clone(), id.to_owned());
        let delta = E::OutputDelta {
            turn_id,
            item_id,
            delta: "x".into(),
        };
        assert_eq!(bench.harness(delta), Step::default());
    }
    assert_eq!(bench.text("m", ""), Step::default());
}

#[test]
fn an_answer_that_differs_from_its_deltas_stays_as_it_was_shown() {
    let mut bench = Bench::new();
    bench.started();
    bench.begin("m", message(""));
    bench.text("m", "Hello");
    bench.finish("m", message("Hallo!"));
    assert_eq!(bench.newest("turn.output_text.done")["text"], "Hello");
}

#[test]
fn parts_of_a_summary_come_in_order() {
    let mut bench = Bench::new();
    bench.started();
    bench.begin("r", ItemKind::Reasoning { summary: vec![] });
    let from = bench.events.len();
    reason(&mut bench, 2, "c");
    assert_eq!(
        bench.names(from),
        [
            "turn.reasoning_summary_part.added",
            "turn.reasoning_summary_part.added",
            "turn.reasoning_summary_part.added",
            "turn.reasoning_summary_text.delta",
        ]
    );
    reason(&mut bench, 0, "a");
    assert_eq!(reason(&mut bench, 1, ""), Step::default());
    assert_eq!(reason(&mut bench, 64, "x"), Step::default());
    assert_eq!(reason(&mut bench, u32::MAX, "x"), Step::default());
    let summary = ["ab", "", "c", "d"].map(str::to_owned).to_vec();
    bench.finish("r", ItemKind::Reasoning { summary });
    let item = &bench.newest("turn.item.done")["item"];
    let texts = item["summary"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["text"].as_str().unwrap());
    assert_eq!(texts.collect::<Vec<_>>(), ["ab", "", "c", "d"]);
    assert_eq!(
        bench.newest("turn.reasoning_summary_part.done")["status"],
        Value::Null
    );
}

#[test]
fn d1_the_text_of_an_item_ends_with_it() {
    let mut bench = Bench::new();
    for _ in 0..2 {
        bench.started();
        // Begun, told and done in one step.
        bench.finish("m", message("first"));
        bench.finish(
            "r",
            ItemKind::Reasoning {
                summary: vec!["why".into()],
            },
        );
        assert_eq!(
            bench.store.texts,
            [],
            "nothing is left for another item with this number"
        );
        bench.end(Outcome::Completed);
    }
    let turn_id = bench.started();
    let part = |bench: &mut Bench, kind: &str| match kind {
        "begin" => bench.reported(E::ItemStarted {
            turn_id: turn_id.clone(),
            item: item("n", ItemStatus::InProgress, message("")),
        }),
        _ => bench.reported(E::TextDelta {
            turn_id: turn_id.clone(),
            item_id: "n".into(),
            delta: "second".into(),
        }),
    };
    let batch = vec![
        part(&mut bench, "begin"),
        part(&mut bench, "delta"),
        part(&mut bench, "delta"),
    ];
    let step = bench.offer_all(batch).unwrap();
    assert_eq!(step.texts.len(), 1, "deltas of one step are one row");
    bench.finish("n", message("secondsecond!"));
    assert_eq!(
        bench.newest("turn.output_text.done")["text"],
        "secondsecond!"
    );
}
