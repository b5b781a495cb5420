//! What is stored. That a loaded session does the same, the bench checks with each step.
use super::*;
use std::collections::BTreeSet;

/// Cells that a step writes.
fn written(bench: &mut Bench, input: Input) -> Vec<CellWrite> {
    stepped(&mut bench.session, bench.now, &mut bench.drawn, vec![input]).unwrap();
    bench.session.take_changes().unwrap()
}

#[test]
fn cells_have_names() {
    let names: BTreeSet<&str> = CellKind::ALL.map(CellKind::name).into();
    assert_eq!(names.len(), CellKind::ALL.len());
    for kind in CellKind::ALL {
        assert_eq!(CellKind::named(kind.name()), Some(kind));
    }
    assert_eq!(CellKind::named(""), None);
}

#[test]
fn d1_a_delta_writes_only_what_is_small() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.begin("m", message(""));
    bench.text("m", &"x".repeat(100_000));
    let delta = bench.reported(E::TextDelta {
        turn_id,
        item_id: "m".into(),
        delta: "y".into(),
    });
    let cells = written(&mut bench, delta);
    let [CellWrite {
        kind: CellKind::Core,
        json: Some(json),
        ..
    }] = &cells[..]
    else {
        panic!("{cells:?}")
    };
    assert!(json.len() < 2_000, "{json}");
}

#[test]
fn d19_a_result_writes_its_own_call() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.call("c1", "sum");
    bench.call("c2", "sum");
    let result = ToolResult {
        turn_id,
        call_id: "c2".into(),
        success: true,
        output: None,
        error: None,
    };
    let cells = written(&mut bench, Input::ToolResult(result));
    let calls = cells.iter().filter(|cell| cell.kind == CellKind::Call);
    assert_eq!(calls.map(|cell| cell.number).collect::<Vec<_>>(), [2]);
}

#[test]
fn an_ended_turn_leaves_nothing_behind() {
    let mut bench = Bench::new();
    bench.started();
    bench.say("more");
    bench.begin("m", message(""));
    bench.text("m", "x");
    bench.step(Input::Cancel);
    bench.end(Outcome::Interrupted);
    let kinds: Vec<CellKind> = bench.store.cells.keys().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [CellKind::Public, CellKind::Core]);
    assert_eq!(bench.store.texts, []);
}

#[test]
fn without_a_session_there_is_none() {
    assert!(Session::load([], []).unwrap().is_none());
    let broken = [(CellKind::Public, 0, "{".to_owned())];
    assert!(Session::load(broken, []).is_err());
    let mut bench = Bench::new();
    bench.started();
    let without = bench
        .store
        .cells
        .iter()
        .filter(|((kind, _), _)| *kind != CellKind::Public);
    let cells = without.map(|((kind, number), json)| (*kind, *number, json.clone()));
    assert!(Session::load(cells, []).unwrap().is_none());
}

#[test]
fn what_is_outside_of_the_public_cell_is_shown_when_it_is_loaded() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.now += 9_000;
    let usage = protocol::TokenUsage {
        output_tokens: 3,
        ..Default::default()
    };
    bench.harness(E::Usage { turn_id, usage });
    let loaded = bench.store.load();
    assert_eq!(loaded.public.usage.unwrap().output_tokens, 3);
    assert_eq!(loaded.public.last_active_at, bench.now / 1000);
    assert_eq!(loaded.last_event(), bench.session.last_event());
}

#[test]
fn texts_of_items_that_are_gone_are_passed_over() {
    let mut bench = Bench::new();
    bench.started();
    let cells = bench.store.cells.iter();
    let cells = cells.map(|((kind, number), json)| (*kind, *number, json.clone()));
    let stray = TextWrite {
        open: 7,
        part: 0,
        delta: "x".into(),
    };
    let loaded = Session::load(cells, [stray]).unwrap().unwrap();
    assert_eq!(format!("{loaded:?}"), format!("{:?}", bench.session));
}

#[test]
fn d1_effects_are_as_stored() {
    let mut bench = Bench::new();
    let turn_id = bench.started();
    bench.say("more \u{2028} “x”");
    bench.call("c1", "nothing");
    bench.harness(E::ApprovalRequested {
        turn_id,
        request_id: "r".repeat(300),
        server: "s".into(),
        tool: None,
        message: "m".into(),
        arguments: None,
    });
    bench.step(Input::Cancel);
    bench.now += CANCEL_DEADLINE;
    bench.step(Input::Tick);
    assert_eq!(bench.effects.len(), 6);
    for effect in &bench.effects {
        let json = serde_json::to_string(effect).unwrap();
        assert_eq!(serde_json::from_str::<Effect>(&json).unwrap(), *effect);
    }
}

#[test]
fn d7_effects_of_a_turn_that_has_ended_are_not_wanted() {
    let mut bench = Bench::new();
    bench.started();
    bench.say("more");
    bench.step(Input::Cancel);
    let effects = bench.effects.clone();
    assert_eq!(effects.len(), 3);
    assert!(effects.iter().all(|effect| bench.session.wants(effect)));
    bench.say("next");
    bench.end(Outcome::Interrupted);
    assert!(!effects.iter().any(|effect| bench.session.wants(effect)));
    assert!(
        bench.session.wants(bench.effects.last().unwrap()),
        "the next turn's run"
    );
    let turn_id = "turn_1".to_owned();
    assert!(bench.session.wants(&Effect::Destroy { turn_id }));
}
