//! A client's event stream: fed from a WebSocket to the session's object, and gone on with after a restart of that object
//! from the last event that was sent, so that the client notices nothing.
use super::Answer;
use crate::edge::platform::request::upgrade;
use crate::edge::platform::{Frame, Inbox};
use crate::edge::session::Entry;
use crate::wire::error::ApiError;
use crate::wire::event::Event;
use crate::wire::sse;
use futures_util::future::{select, Either};
use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;
use worker::{Delay, Response, Result, Stub};

/// Between two comments on a quiet stream. Clients give a silent body up after minutes, and a client that has left is only
/// noticed when something is written.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// An event is at most a row.
const MAX_FRAME: usize = 2 << 20;
/// Events that wait for a slow reader; beyond that the feed is closed, and opened again where the reader is.
const MAX_QUEUE: usize = 8 << 20;
/// Tries to reach the session's object again, and the time before the second.
const MAX_TRIES: u32 = 8;
const RETRY: Duration = Duration::from_millis(50);

/// When a stream ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// When the turn is over and the session idle: a creation stream.
    WithTurn,
    /// When the session is.
    WithSession,
}

struct Feed {
    object: Stub,
    inbox: Option<Inbox>,
    /// Where in the log the stream stands; none until a live stream is told.
    cursor: Option<u64>,
    ends: Ends,
    /// Frames to send before the next is waited for.
    ready: VecDeque<String>,
    turn_over: bool,
    finished: bool,
}

/// Opens a stream of events: `first`, then those after `cursor` or, without one, those that come from now on.
pub async fn open(
    object: Stub,
    cursor: Option<u64>,
    first: Option<Event>,
    ends: Ends,
    status: u16,
) -> Answer<Response> {
    // Listening begins before the headers go out: a client that has them may rely on missing nothing.
    let inbox = subscribe(&object, cursor)
        .await?
        .ok_or_else(|| ApiError::unavailable("The session does not answer. Try again."))?;
    let ready = first.iter().filter_map(sse::frame_of).collect();
    let feed = Feed {
        object,
        inbox: Some(inbox),
        cursor,
        ends,
        ready,
        turn_over: false,
        finished: false,
    };
    let frames = futures_util::stream::unfold(feed, |mut feed| async move {
        let frame = feed.next().await?;
        Some((Ok::<_, worker::Error>(frame), feed))
    });
    let builder = Response::builder().with_status(status);
    let builder = builder
        .with_header("content-type", "text/event-stream")?
        .with_header("cache-control", "no-store")?;
    Ok(builder.from_stream(frames)?.with_status(status))
}

impl Feed {
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            if self.finished {
                return None;
            }
            let Some(inbox) = &self.inbox else {
                self.reconnect().await?;
                continue;
            };
            let frame = match select(pin!(inbox.next()), Delay::from(KEEP_ALIVE)).await {
                Either::Left((frame, _)) => frame,
                Either::Right(_) => return Some(sse::KEEP_ALIVE.to_owned()),
            };
            match frame {
                Frame::Text(text) => self.take(&text),
                Frame::Closed => self.inbox = None,
            }
        }
    }

    fn take(&mut self, text: &str) {
        let Some(entry) = Entry::parse(text) else {
            return;
        };
        self.cursor = Some(entry.seq);
        if entry.name.is_empty() {
            return;
        }
        self.ready.extend(sse::frame(entry.name, entry.json));
        match entry.name {
            "agent.session.turn.completed"
            | "agent.session.turn.failed"
            | "agent.session.turn.cancelled" => self.turn_over = true,
            "agent.session.idle" if self.turn_over && self.ends == Ends::WithTurn => {
                self.finished = true
            }
            "agent.session.failed" => self.finished = true,
            _ => {}
        }
    }

    /// `None` if the session is gone or does not come back.
    async fn reconnect(&mut self) -> Option<()> {
        for attempt in 0..MAX_TRIES {
            match subscribe(&self.object, self.cursor).await {
                Ok(Some(inbox)) => {
                    self.inbox = Some(inbox);
                    return Some(());
                }
                Ok(None) => return None,
                Err(_) => Delay::from(RETRY * (1 << attempt)).await,
            }
        }
        None
    }
}

/// `None` if there is no such session.
async fn subscribe(object: &Stub, after: Option<u64>) -> Result<Option<Inbox>> {
    let query = after
        .map(|after| format!("?after={after}"))
        .unwrap_or_default();
    let request = upgrade(&format!("http://object/events{query}"))?;
    let response = object.fetch_with_request(request).await?;
    let socket = response.websocket();
    socket
        .map(|socket| Inbox::open(socket, MAX_FRAME, MAX_QUEUE))
        .transpose()
}
