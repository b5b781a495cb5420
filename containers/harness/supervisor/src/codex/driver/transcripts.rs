//! Recorded sessions: what Codex said with a scripted model, and what the Worker is told of it.
//!
//! `tests/transcripts/NAME.jsonl` has the Worker's commands and Codex's lines in their order, with ids, paths and times
//! replaced; `NAME.events.jsonl` has the events. `CLOISTER_RECORD=1 CLOISTER_CODEX=… cargo test -p cloister-supervisor
//! transcripts` records all of them anew; look at what has changed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod plain;
mod record;
mod scenarios;

use std::path::{Path, PathBuf};

use cloister_protocol::{Command, Event};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Driver, Effect};

/// One line of a transcript.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Command(Command),
    Codex(Box<RawValue>),
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// The events that a transcript leads to, one a line.
fn replay(transcript: &str) -> String {
    let (mut driver, _) = Driver::new("/workspace", Box::new(|_| None));
    let mut events = String::new();
    for line in transcript.lines() {
        let effects = match serde_json::from_str(line).expect(line) {
            Line::Command(command) => driver.command(command),
            Line::Codex(line) => driver.line(line.get().as_bytes()),
        };
        for effect in effects {
            if let Effect::Emit(event) = effect {
                events.push_str(&serde_json::to_string(&event).unwrap());
                events.push('\n');
            }
        }
    }
    events
}

#[test]
fn recorded_sessions() {
    for name in scenarios::names() {
        let file =
            |end: &str| std::fs::read_to_string(folder().join(format!("{name}.{end}"))).unwrap();
        let events = |text: &str| -> Vec<Event> {
            let lines = text.lines();
            lines
                .map(|line| serde_json::from_str(line).expect(line))
                .collect()
        };
        let told = events(&replay(&file("jsonl")));
        for (n, (told, expected)) in told.iter().zip(events(&file("events.jsonl"))).enumerate() {
            assert_eq!(*told, expected, "{name}, event {n}");
        }
        assert_eq!(told.len(), file("events.jsonl").lines().count(), "{name}");
    }
}
