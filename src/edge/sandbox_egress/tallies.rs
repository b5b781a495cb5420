//! What is told to the sandbox's object for its audit. Refusals are told before they are answered; what is allowed is gathered
//! in this isolate for a moment, so that no request waits for it. If the isolate ends in that moment, those are lost.
use super::Egress;
use crate::edge::calls::{CallResult, EgressCall};
use crate::edge::log;
use crate::edge::platform::now;
use crate::environment::{Tally, Verdict};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;
use worker::{Delay, Result};

/// How long what is allowed is gathered.
const GATHER: Duration = Duration::from_millis(500);
/// Most hosts that are gathered of one sandbox before they are told.
const MAX_HOSTS: usize = 256;

/// What was allowed of one sandbox, and since when that is gathered, Unix milliseconds.
struct Gathered {
    since: u64,
    by_host: HashMap<(String, u16), Tally>,
}

/// What is still there after this time waits for a request that was ended before it could tell.
const FORGOTTEN_MS: u64 = 2_000;

thread_local! {
    /// By the names of sandboxes' objects. An entry is there while a request of that sandbox waits to tell it.
    static GATHERED: RefCell<HashMap<String, Gathered>> = RefCell::default();
}

/// One decision.
pub fn tally(host: &str, port: u16, verdict: Verdict, reason: &str) -> Tally {
    let now = now();
    Tally {
        host: host.to_owned(),
        port,
        verdict,
        reason: reason.to_owned(),
        count: 1,
        first_at: now,
        last_at: now,
    }
}

/// Tells the sandbox's object one decision.
pub async fn note(egress: &Egress, tally: Tally) {
    tell(egress, vec![tally]).await;
}

async fn tell(egress: &Egress, tallies: Vec<Tally>) {
    let told: Result<CallResult<()>> = egress.ask(EgressCall::Note(tallies)).await;
    if !matches!(told, Ok(Ok(()))) {
        log::event("egress_not_noted", &[]);
    }
}

/// Counts a request that was allowed, to be told soon.
pub fn count(egress: &Egress, host: &str, port: u16) {
    let now = now();
    let (waits, full) = GATHERED.with_borrow_mut(|gathered| {
        let waits = gathered
            .get(&egress.object)
            .is_some_and(|gathered| now < gathered.since + FORGOTTEN_MS);
        let gathered = gathered
            .entry(egress.object.clone())
            .or_insert_with(|| Gathered {
                since: now,
                by_host: HashMap::new(),
            });
        if !waits {
            gathered.since = now;
        }
        let tally = gathered.by_host.entry((host.to_owned(), port));
        tally
            .and_modify(|tally| {
                tally.count += 1;
                tally.last_at = now;
            })
            .or_insert_with(|| self::tally(host, port, Verdict::Allowed, ""));
        (waits, gathered.by_host.len() >= MAX_HOSTS)
    });
    if waits && !full {
        return;
    }
    let teller = Egress {
        env: egress.env.clone(),
        ctx: egress.ctx.clone(),
        object: egress.object.clone(),
    };
    egress.ctx.wait_until(async move {
        if !full {
            Delay::from(GATHER).await;
        }
        let gathered = GATHERED.with_borrow_mut(|gathered| gathered.remove(&teller.object));
        let tallies = gathered.map(|gathered| gathered.by_host.into_values().collect());
        let tallies: Vec<Tally> = tallies.unwrap_or_default();
        if !tallies.is_empty() {
            tell(&teller, tallies).await;
        }
    });
}
