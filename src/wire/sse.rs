//! Frames of a server-sent event stream.
//!
//! Only `event:` and `data:` lines. Never `id:`: a client that has seen one takes a later comment for an empty event and
//! fails to parse it. Never `event:` without `data:`.
use super::event::Event;

/// The comment that keeps an idle stream open. Send one every 15 seconds.
pub const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// The frame of an event that is stored as JSON text. `None` if either text has a line break, which our JSON never has.
pub fn frame(name: &str, json: &str) -> Option<String> {
    let broken = |text: &str| text.contains(['\n', '\r']);
    if broken(name) || broken(json) {
        return None;
    }
    Some(format!("event: {name}\ndata: {json}\n\n"))
}

/// The frame of an event.
pub fn frame_of(event: &Event) -> Option<String> {
    frame(event.name(), &serde_json::to_string(event).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_two_lines_and_an_empty_one() {
        assert_eq!(
            frame("error", "{\"a\":\"\\n\"}").as_deref(),
            Some("event: error\ndata: {\"a\":\"\\n\"}\n\n")
        );
        for (name, json) in [("error", "{\n}"), ("a\nid: 1", "{}"), ("error", "{\r}")] {
            assert_eq!(frame(name, json), None);
        }
    }
}
