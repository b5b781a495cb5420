//! Writes an event as a frame of server-sent events, member by member: most events are small, and there are very many.
use serde::Serialize;

use super::payload::{EnvironmentState, StreamError};
use crate::wire::{
    item::{Content, Item, OutputStatus, Summary},
    session::{Session, TokenUsage},
    subagent::Subagent,
    turn::Turn,
};

/// A frame that is being written.
pub(super) struct Frame<'a> {
    out: &'a mut String,
}

impl<'a> Frame<'a> {
    /// Begins with what every event has. `name` is one of ours, so nothing in it needs an escape.
    pub(super) fn begin(out: &'a mut String, name: &str, event_id: &str) -> Frame<'a> {
        out.push_str("event: ");
        out.push_str(name);
        out.push_str("\ndata: {\"type\":\"");
        out.push_str(name);
        out.push('"');
        let mut frame = Frame { out };
        frame.text("event_id", event_id);
        frame
    }

    /// Ends it.
    pub(super) fn end(self) {
        self.out.push_str("}\n\n");
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        write_string(self.out, text);
    }

    /// Adds JSON. What came from elsewhere may have line breaks between its parts, which would end the frame's line; within
    /// strings they are always escaped.
    fn json(&mut self, name: &str, json: &str) {
        self.name(name);
        if json.contains(['\n', '\r']) {
            self.out.push_str(&json.replace(['\n', '\r'], " "));
        } else {
            self.out.push_str(json);
        }
    }

    fn name(&mut self, name: &str) {
        self.out.push_str(",\"");
        self.out.push_str(name);
        self.out.push_str("\":");
    }
}

/// What can be a member of an event.
pub(super) trait Member {
    /// Adds it to a frame.
    fn write(&self, name: &str, frame: &mut Frame<'_>);
}

impl Member for String {
    fn write(&self, name: &str, frame: &mut Frame<'_>) {
        frame.text(name, self);
    }
}

impl Member for u32 {
    fn write(&self, name: &str, frame: &mut Frame<'_>) {
        frame.json(name, &self.to_string());
    }
}

macro_rules! as_json {
    ($($type:ty),* $(,)?) => {$(
        impl Member for $type {
            fn write(&self, name: &str, frame: &mut Frame<'_>) {
                write_json(self, name, frame);
            }
        }
    )*};
}

as_json! {
    Box<Session>, Box<Turn>, Box<Item>, Box<Subagent>, Content, Summary, EnvironmentState, StreamError,
    Option<TokenUsage>, Option<OutputStatus>, Option<u32>, Option<String>,
}

fn write_json<T: Serialize>(value: &T, name: &str, frame: &mut Frame<'_>) {
    // Only a map whose names are no strings fails; ours are.
    match serde_json::to_string(value) {
        Ok(json) => frame.json(name, &json),
        Err(_) => frame.json(name, "null"),
    }
}

/// Writes a JSON string, spelled as serde_json does.
fn write_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0x00..=0x1f => "\\u00",
            _ => continue,
        };
        // Both ends are at a byte of ASCII.
        out.push_str(&text[written..at]);
        out.push_str(escape);
        if escape == "\\u00" {
            for digit in [byte >> 4, byte & 15] {
                out.extend(char::from_digit(digit.into(), 16));
            }
        }
        written = at + 1;
    }
    out.push_str(&text[written..]);
    out.push('"');
}
