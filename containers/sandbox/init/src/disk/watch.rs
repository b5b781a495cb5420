//! Watches the disk.

use std::io;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use cloister_protocol::WORKSPACE;

use super::{walk, Excess, Hint, Usage};
use crate::limits::Limits;

/// How often the file systems are asked whether a walk is worth its while.
const DISK_TICK: Duration = Duration::from_secs(2);
/// Longest time between two walks.
const WALK_EVERY: Duration = Duration::from_secs(60);
/// How long what has been written may stay before everything is killed again.
const CLEAN_UP: Duration = Duration::from_secs(60);
/// How long the kill may take after an excess was told.
const KILL: Duration = Duration::from_millis(200);
/// What is walked: the root's file system, and the workspace, which may be another.
const ROOTS: [&str; 2] = ["/", WORKSPACE];

/// Walks the disk for ever, in a thread of its own, since a walk may take long; excesses come through the channel.
///
/// What was written stays when everything has been killed. So that it can be deleted, no further excess is told for
/// [`CLEAN_UP`], unless it has grown by more
/// than a hundredth of the limit.
pub fn watch(limits: Limits) -> io::Result<mpsc::Receiver<Excess>> {
    let (tell, told) = mpsc::channel();
    // The image itself is not to be counted; it is not hostile either.
    let before = walk(&ROOTS, u64::MAX);
    let most = before.files.saturating_add(limits.files).saturating_add(1);
    let mut hint = Hint::of(&ROOTS);
    std::thread::Builder::new().spawn(move || {
        let mut walked = Instant::now();
        let mut tolerated: Option<(Usage, Instant)> = None;
        loop {
            std::thread::sleep(DISK_TICK);
            let begun = Instant::now();
            let new_hint = Hint::of(&ROOTS);
            let full = new_hint.is_full(&limits);
            if !full && !new_hint.differs(&hint, &limits) && begun < walked + WALK_EVERY {
                continue;
            }
            hint = new_hint;
            let now = walk(&ROOTS, most);
            walked = Instant::now();
            let shrinks = |(then, until): &(Usage, Instant)| {
                begun < *until
                    && now.bytes <= then.bytes.saturating_add(limits.disk_bytes / 100)
                    && now.files <= then.files.saturating_add(limits.files / 100)
            };
            tolerated = tolerated.filter(shrinks);
            let excess = now.excess(before, &limits).or(full.then_some(Excess::Free));
            if let (Some(excess), None) = (excess, tolerated) {
                if tell.send(excess).is_err() {
                    return;
                }
                // What was written until the kill counts too.
                std::thread::sleep(KILL);
                tolerated = Some((walk(&ROOTS, most), begun + CLEAN_UP));
            }
            // At most a third of the time, however long a walk takes.
            std::thread::sleep(begun.elapsed() * 2);
        }
    })?;
    Ok(told)
}
