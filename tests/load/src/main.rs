//! Stands in for `codex app-server` in measurements of the way of an event, so that no model and no agent is measured.
//!
//! It says as much of Codex's protocol as the supervisor needs. A turn whose input has the words `count=N` is answered
//! with messages of N deltas in all; with `rate=R`, R of them a second, else as fast as they are taken. The text of a
//! delta is its number, from 0, and the time at which it was sent, in microseconds of `CLOCK_MONOTONIC`, which all
//! processes of a machine share, in containers too: `"17 123456789 "`.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{clock_gettime, ClockId};
use serde_json::{json, Value};

/// Deltas of one message: an answer of usual length, far below where the supervisor cuts a text.
const MESSAGE: u64 = 1000;

fn main() -> io::Result<()> {
    let mut turns = 0;
    let mut stop = Arc::new(AtomicBool::new(false));
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let (Some(id), Some(method)) = (request.get("id"), request["method"].as_str()) else {
            continue;
        };
        let params = &request["params"];
        let thread_id = params["threadId"].as_str().unwrap_or("thread").to_owned();
        let mut turn = None;
        let result = match method {
            "initialize" => json!({ "userAgent": "load/0.0.0" }),
            "thread/start" | "thread/resume" | "thread/fork" => {
                json!({ "thread": { "id": thread_id } })
            }
            "turn/start" => {
                turns += 1;
                stop = Arc::new(AtomicBool::new(false));
                let started = Turn::new(thread_id, turns, &params["input"], &stop);
                let result = json!({ "turn": { "id": started.id, "status": "inProgress" } });
                turn = Some(started);
                result
            }
            "turn/interrupt" => {
                stop.store(true, Ordering::Relaxed);
                json!({})
            }
            _ => json!({}),
        };
        say(&json!({ "id": id, "result": result }))?;
        if let Some(turn) = turn {
            thread::spawn(move || turn.run());
        }
    }
    Ok(())
}

/// A turn to run.
struct Turn {
    thread: String,
    id: String,
    count: u64,
    pause: Duration,
    stop: Arc<AtomicBool>,
}

impl Turn {
    fn new(thread: String, number: u64, input: &Value, stop: &Arc<AtomicBool>) -> Self {
        let parts = input.as_array().map_or(&[][..], Vec::as_slice);
        let texts: Vec<&str> = parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect();
        let words = texts.iter().flat_map(|text| text.split_whitespace());
        let wanted = |name: &str| {
            let value = words.clone().find_map(|word| word.strip_prefix(name));
            value.and_then(|value| value.parse::<u64>().ok())
        };
        Self {
            thread,
            id: format!("turn-{number}"),
            count: wanted("count=").unwrap_or(1),
            pause: wanted("rate=").map_or(Duration::ZERO, |rate| {
                Duration::from_secs(1) / u32::try_from(rate.max(1)).unwrap_or(u32::MAX)
            }),
            stop: Arc::clone(stop),
        }
    }

    fn run(&self) -> io::Result<()> {
        self.tell(
            "turn/started",
            json!({ "turn": { "id": self.id, "status": "inProgress" } }),
        )?;
        let mut due = Instant::now();
        let mut next = 0;
        while next < self.count && !self.stop.load(Ordering::Relaxed) {
            let end = self.count.min(next + MESSAGE);
            next = self.message(next, end, &mut due)?;
        }
        let status = if next < self.count {
            "interrupted"
        } else {
            "completed"
        };
        self.tell(
            "turn/completed",
            json!({ "turn": { "id": self.id, "status": status } }),
        )
    }

    /// One message with the deltas from `next` on, before `end`. Returns the next delta's number.
    fn message(&self, mut next: u64, end: u64, due: &mut Instant) -> io::Result<u64> {
        let id = format!("{}-{next}", self.id);
        let item = |text: &str| json!({ "turnId": self.id, "item": { "type": "agentMessage", "id": id, "text": text } });
        self.tell("item/started", item(""))?;
        let mut text = String::new();
        while next < end && !self.stop.load(Ordering::Relaxed) {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            *due += self.pause;
            let time = clock_gettime(ClockId::Monotonic);
            let delta = format!("{next} {} ", time.tv_sec * 1_000_000 + time.tv_nsec / 1000);
            text.push_str(&delta);
            let params = json!({ "turnId": self.id, "itemId": id, "delta": delta });
            self.tell("item/agentMessage/delta", params)?;
            next += 1;
        }
        self.tell("item/completed", item(&text))?;
        Ok(next)
    }

    /// A notification about this thread.
    fn tell(&self, method: &str, mut params: Value) -> io::Result<()> {
        params["threadId"] = self.thread.as_str().into();
        say(&json!({ "method": method, "params": params }))
    }
}

/// One line, written at once. Waits while the supervisor reads nothing.
fn say(message: &Value) -> io::Result<()> {
    let mut line = message.to_string();
    line.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}
