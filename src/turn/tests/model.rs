//! A model of a whole session: a client, the session's object and its store, the harness's object, a supervisor with a
//! harness, an object store, and a network that loses, doubles, delays and reorders. Random walks through it are checked
//! after each action; a walk that fails is cut down to the few actions that it needs, and printed.
//!
//! `CLOISTER_MODEL_STEPS` says how many actions are tried, `CLOISTER_MODEL_SEED` where to begin.
mod action;
mod bucket;
mod client;
mod commits;
mod harness;
mod invariants;
mod saving;
mod session;
mod supervisor;
mod world;

use self::action::Action;
use self::world::World;
use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Actions of one walk.
const WALK: usize = 160;

#[test]
fn random_walks_break_no_promise() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let steps: usize = number("CLOISTER_MODEL_STEPS").unwrap_or(10_000);
    let first = number("CLOISTER_MODEL_SEED").unwrap_or(0);
    let mut seen = BTreeMap::new();
    for seed in first..first + steps.div_ceil(WALK) {
        let walk = action::walk(seed as u64, WALK);
        match run(&walk) {
            Ok(events) => {
                for (name, times) in events {
                    *seen.entry(name).or_insert(0) += times;
                }
            }
            Err(_) => panic!("walk {seed}:\n{}", story(&shrink(walk))),
        }
    }
    assert_eq!(
        seen.len(),
        38,
        "walks reach all that a session says, and all ways of a checkpoint: {seen:#?}"
    );
}

/// Does what a walk says. Returns how many events of each name there were, or what was broken.
fn run(walk: &[Action]) -> Result<BTreeMap<String, usize>, String> {
    let tried = catch_unwind(AssertUnwindSafe(|| {
        let mut world = World::new();
        for action in walk.iter().chain(&[Action::Settle]) {
            world.act(*action)?;
        }
        Ok(world.object.order.seen)
    }));
    tried.unwrap_or_else(|_| Err("it panicked".to_owned()))
}

/// Leaves out what is not needed for a walk to fail.
fn shrink(mut walk: Vec<Action>) -> Vec<Action> {
    let mut size = walk.len();
    while size > 0 {
        let mut at = 0;
        while at < walk.len() {
            let mut shorter = walk.clone();
            shorter.drain(at..(at + size).min(walk.len()));
            if run(&shorter).is_err() {
                walk = shorter;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    walk
}

/// A walk that fails, in words.
fn story(walk: &[Action]) -> String {
    let mut world = World::new();
    let mut lines = vec![];
    for (number, action) in walk.iter().chain(&[Action::Settle]).enumerate() {
        let result = catch_unwind(AssertUnwindSafe(|| world.act(*action)));
        let notes = std::mem::take(&mut world.notes).join("; ");
        let line = format!("{:>3}. {}: {notes}", number + 1, action.words());
        lines.push(readable(&line));
        match result {
            Ok(Ok(())) => {}
            Ok(Err(why)) => {
                lines.push(readable(&format!("     BROKEN: {why}")));
                break;
            }
            Err(_) => {
                lines.push("     IT PANICKED".to_owned());
                break;
            }
        }
    }
    lines.join("\n")
}

/// Ids without their leading zeros.
fn readable(line: &str) -> String {
    let parts = line.split('_').enumerate();
    let short = parts.map(|(at, part)| {
        if at == 0 {
            part
        } else {
            part.trim_start_matches('0')
        }
    });
    short.collect::<Vec<_>>().join("_")
}
