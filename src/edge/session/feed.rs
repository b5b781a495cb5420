//! The session's hibernating WebSockets, which cost nothing while nothing happens: events on their way to the Gateway, and
//! frames of the supervisor on their way here. A listener that is far behind reads pages of the log first.
use super::store;
use crate::turn::{Chunk, Ends, Session};
use worker::{Response, Result, State, WebSocket, WebSocketPair};

/// Tag of the sockets of listeners.
const LISTENER: &str = "listener";
/// What the tag of a HarnessDO's socket begins with; then comes the epoch of its container.
const REPORTS: &str = "reports:";
/// What one answer holds of the log: enough to be worth the way, and little to hold for each of many readers.
const PAGE: usize = 256 << 10;

/// Events as they travel from SessionDO to the Gateway: the place of the last, which streams end with it, and the events as
/// frames of server-sent events. The first message to a listener that follows from now on has no events: it only says
/// where that is, or that nothing comes any more.
pub struct Entry<'a> {
    /// Place in the log to go on from.
    pub last: u64,
    /// Which streams end after the frames.
    pub ends: Ends,
    /// The frames.
    pub frames: &'a str,
}

impl<'a> Entry<'a> {
    /// Reads a message.
    pub fn parse(message: &'a str) -> Option<Self> {
        let (last, rest) = message.split_once('\n')?;
        let (ends, frames) = rest.split_once('\n')?;
        Some(Self {
            last: last.parse().ok()?,
            ends: Ends::of_letter(ends)?,
            frames,
        })
    }
}

fn message(chunk: &Chunk) -> String {
    let Chunk {
        last, ends, frames, ..
    } = chunk;
    format!("{last}\n{}\n{frames}", ends.letter())
}

/// Accepts a listener, who gets what comes after `after`; without it, from now on. One that is further behind than a page is
/// refused: it reads pages first. One that has all of a session that has failed is told at once that it ends.
pub fn subscribe(state: &State, session: &Session, after: Option<u64>) -> Result<Response> {
    let storage = state.storage();
    let here = session.last_event();
    // Nothing is awaited here, so nothing new comes between.
    let after = after.unwrap_or(here);
    if after > here || store::log_size_after(&storage, after, PAGE)? > PAGE {
        return Response::error("behind", 409);
    }
    let pair = WebSocketPair::new()?;
    state.accept_websocket_with_tags(&pair.server, &[LISTENER]);
    let ends = if session.has_failed() && after == here {
        Ends::Session
    } else {
        Ends::Nothing
    };
    let first = format!("{after}\n{}\n", ends.letter());
    pair.server.send_with_str(first)?;
    let mut after = after;
    while let Some(chunk) = store::log_after(&storage, after, PAGE)? {
        after = chunk.last;
        pair.server.send_with_str(message(&chunk))?;
    }
    Response::from_websocket(pair.client)
}

/// Accepts the socket of the HarnessDO whose container has this epoch, and says which of its events was the newest, and which
/// turn runs.
pub fn accept_reports(state: &State, epoch: u64, session: &Session) -> Result<Response> {
    let pair = WebSocketPair::new()?;
    let tag = format!("{REPORTS}{epoch}");
    state.accept_websocket_with_tags(&pair.server, &[&tag]);
    let (seen, turn) = (session.seen(epoch), session.running_turn());
    let first = format!("{seen}\n{}", turn.unwrap_or_default());
    pair.server.send_with_str(first)?;
    Response::from_websocket(pair.client)
}

/// The epoch of the HarnessDO's container, if the socket is one's.
pub fn epoch_of(state: &State, socket: &WebSocket) -> Option<u64> {
    let tags = state.get_tags(socket);
    tags.iter()
        .find_map(|tag| tag.strip_prefix(REPORTS)?.parse().ok())
}

/// A page of the log after a place; empty at its end.
pub fn page(state: &State, after: u64) -> Result<Response> {
    let chunk = store::log_after(&state.storage(), after, PAGE)?;
    Response::ok(chunk.map_or_else(|| format!("{after}\n-\n"), |chunk| message(&chunk)))
}

/// Sends new events to every listener. One that is gone does not matter: it comes back with its place.
pub fn broadcast(state: &State, chunks: &[Chunk]) {
    if chunks.is_empty() {
        return;
    }
    let listeners = state.get_websockets_with_tag(LISTENER);
    for chunk in chunks.iter().filter(|_| !listeners.is_empty()) {
        let message = message(chunk);
        for listener in &listeners {
            let _ = listener.send_with_str(&message);
        }
    }
}

/// Ends every socket.
pub fn close(state: &State) {
    for listener in state.get_websockets() {
        let _ = listener.close(Some(1000), Some("the session is deleted"));
    }
}
