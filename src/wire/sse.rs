//! Frames of a server-sent event stream.
//!
//! Only `event:` and `data:` lines, which [`Event::frame`](super::event::Event::frame) writes. Never `id:`: a client that
//! has seen one takes a later comment for an empty event and fails to parse it. Never `event:` without `data:`.

/// The comment that keeps an idle stream open. Send one every 15 seconds.
pub const KEEP_ALIVE: &str = ": keep-alive\n\n";
