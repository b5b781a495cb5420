//! Events on their way to the Gateway: hibernating WebSockets that cost nothing while nothing happens.
use super::store::{self, StoredEvent};
use worker::{Response, Result, State, WebSocketPair};

/// Events read from the log at once.
const PAGE: u32 = 256;

/// An event as it travels from SessionDO to the Gateway: its place in the log, its type, its JSON, each on a line. Type and
/// JSON are empty in the first frame of a listener that follows from now on: it only says where that is.
pub struct Entry<'a> {
    /// Its place in the log: the cursor to go on from.
    pub seq: u64,
    /// Its type.
    pub name: &'a str,
    /// All of it.
    pub json: &'a str,
}

impl<'a> Entry<'a> {
    /// Reads a frame.
    pub fn parse(frame: &'a str) -> Option<Self> {
        let (seq, rest) = frame.split_once('\n')?;
        let (name, json) = rest.split_once('\n')?;
        Some(Self {
            seq: seq.parse().ok()?,
            name,
            json,
        })
    }
}

fn frame(event: &StoredEvent) -> String {
    format!("{}\n{}\n{}", event.seq, event.name, event.json)
}

/// Accepts a listener. It gets what the log has after `after`, if that is given, and then what comes.
pub fn subscribe(state: &State, after: Option<u64>) -> Result<Response> {
    let pair = WebSocketPair::new()?;
    state.accept_web_socket(&pair.server);
    // Nothing is awaited here, so nothing new comes between.
    let Some(mut after) = after else {
        let here = store::last_event(&state.storage())?;
        pair.server.send_with_str(format!("{here}\n\n"))?;
        return Response::from_websocket(pair.client);
    };
    loop {
        let events = store::events_after(&state.storage(), after, PAGE)?;
        let Some(last) = events.last() else { break };
        after = last.seq;
        for event in &events {
            pair.server.send_with_str(frame(event))?;
        }
    }
    Response::from_websocket(pair.client)
}

/// Sends new events to every listener. One that is gone does not matter: it comes back with its cursor.
pub fn broadcast(state: &State, events: &[StoredEvent]) {
    let listeners = state.get_websockets();
    if listeners.is_empty() {
        return;
    }
    for event in events {
        let frame = frame(event);
        for listener in &listeners {
            let _ = listener.send_with_str(&frame);
        }
    }
}

/// Ends every listener.
pub fn close(state: &State) {
    for listener in state.get_websockets() {
        let _ = listener.close(Some(1000), Some("the session is deleted"));
    }
}
