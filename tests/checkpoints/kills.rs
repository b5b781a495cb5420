//! The Worker's process dies at random moments while checkpoints are made, committed and restored.
use crate::kit::{self, done, history, shell, Talk};
use crate::random::Random;
use crate::support::{Gateway, Model};
use serde_json::{json, Value};
use std::time::{Duration, Instant};

/// How often the process is killed.
const KILLS: u64 = 10;
/// What the workspace begins with: three files that no compression makes smaller.
const MAKE: &str = "for n in 0 1 2; do head -c 16777216 /dev/urandom > big$n; done; sha256sum big* > sums; echo 0 > generation";

/// Tells the generation and whether all of it is there, and makes the next.
fn work(n: u64) -> String {
    let change = n % 3;
    format!(
        "cat generation; sha256sum -c --quiet sums && echo whole; \
         head -c 16777216 /dev/urandom > big{change}; sha256sum big* > sums; echo {n} > generation"
    )
}

/// What a session has kept, as far as is known.
struct Kept {
    /// Turns whose files and history must be there, in order.
    certain: Vec<u64>,
    /// Turns after them that have failed: each counts wholly, or not at all.
    doubtful: Vec<u64>,
}

impl Kept {
    /// Judges by what the turn `n` found, if it got so far as to look.
    fn judge(&mut self, talk: &Talk, model: &Model, turn: &Value, n: u64, what: &str) {
        let items = talk.client.whole(&talk.id, "items");
        let looked = |item: &Value| item["turn_id"] == turn["id"] && item["output"].is_string();
        let Some(looked) = items.iter().find(|item| looked(item)) else {
            assert_eq!(turn["status"], "failed", "{what}: {items:#?}");
            return;
        };
        let printed = looked["output"].as_str().unwrap();
        let (generation, rest) = printed
            .split_once('\n')
            .unwrap_or_else(|| panic!("{what}: {looked}"));
        assert_eq!(rest, "whole\n", "{what}: {looked}");
        let (marks, continues) = history(model, &n.to_string());
        let marks: Vec<u64> = marks.iter().map(|mark| mark.parse().unwrap()).collect();
        assert!(
            continues,
            "{what}: the history of {marks:?} does not go on where it was"
        );
        assert_eq!(
            generation,
            marks.last().unwrap().to_string(),
            "{what}: files and history differ"
        );
        let kept = marks.strip_prefix(&self.certain[..]);
        let kept =
            kept.unwrap_or_else(|| panic!("{what}: {marks:?} instead of {:?}", self.certain));
        assert!(
            kept.iter().all(|n| self.doubtful.contains(n)),
            "{what}: {marks:?}"
        );
        self.certain = marks;
        self.doubtful.clear();
    }

    /// Takes a turn for what its end says.
    fn ended(&mut self, turn: &Value, n: u64, what: &str) {
        if turn["status"] == "completed" {
            self.certain.push(n);
        } else {
            assert_eq!(turn["status"], "failed", "{what}: {turn}");
            assert!(turn["error"]["code"].is_string(), "{what}: {turn}");
            self.doubtful.push(n);
        }
    }
}

/// After each kill the turn ends, once; what the next turn finds is all of the turn's, or all of what was before it.
#[test]
fn ten_seeded_kills_of_the_worker_leave_the_old_or_the_new_generation() {
    let seed = std::env::var("CLOISTER_SEED").ok();
    let seed = seed.map_or(1, |seed| seed.parse().expect("a number"));
    // Shown if the test fails.
    println!("CLOISTER_SEED={seed}");
    let mut random = Random::of(seed, 0);
    let model = Model::start();
    let mut gateway = Gateway::start(&model);
    let talk = Talk::open(&gateway);

    // How long both phases take when nothing happens.
    let held = |line: &str| vec![shell(line), json!({ "wait": "end", "say": "Done." })];
    talk.say("0", &held(MAKE));
    kit::wait_for_call(&model, "0", 2);
    assert!(model.release("end"));
    let begun = Instant::now();
    assert_eq!(talk.settled()["status"], "completed");
    let saving = begun.elapsed().as_millis() as u64;
    kit::kill_both(&gateway);
    let begun = Instant::now();
    talk.say("1", &held(&work(1)));
    kit::wait_for_call(&model, "1", 1);
    let restoring = begun.elapsed().as_millis() as u64;
    kit::wait_for_call(&model, "1", 2);
    assert!(model.release("end"));
    assert_eq!(talk.settled()["status"], "completed");
    println!("saving takes {saving} ms, restoring {restoring} ms");

    let mut kept = Kept {
        certain: vec![0, 1],
        doubtful: Vec::new(),
    };
    for n in 2..2 + KILLS {
        let restores = n % 2 == 0;
        let delay = random.within(0, if restores { restoring } else { saving });
        let what = format!(
            "turn {n}, killed {delay} ms into its {}",
            if restores { "restore" } else { "save" }
        );
        println!("{what}");
        if restores {
            kit::kill_both(&gateway);
            talk.say(&n.to_string(), &[shell(&work(n)), done()]);
        } else {
            talk.say(&n.to_string(), &held(&work(n)));
            kit::wait_for_call(&model, &n.to_string(), 2);
            assert!(model.release("end"));
        }
        std::thread::sleep(Duration::from_millis(delay));
        gateway.kill();
        gateway.restart();
        let turn = talk.settled();
        println!("  {} {}", turn["status"], turn["error"]["code"]);
        kept.judge(&talk, &model, &turn, n, &what);
        kept.ended(&turn, n, &what);
    }
    kit::kill_both(&gateway);
    let last = 2 + KILLS;
    let turn = talk.turn(&last.to_string(), &work(last));
    assert_eq!(turn["status"], "completed", "{turn}");
    kept.judge(&talk, &model, &turn, last, "the last turn");
    talk.each_turn_has_ended_once(&gateway);
    talk.only_one_checkpoint_is_left(&gateway);
}
