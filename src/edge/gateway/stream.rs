//! A client's event stream: fed from a WebSocket to the session's object, and gone on with after a restart of that object
//! from the last event that was sent, so that the client notices nothing. What is far behind is read page by page, as the
//! client reads.
use crate::edge::calls::{self, CallError, CallResult, Class, Refusal};
use crate::edge::platform::request::{get, upgrade};
use crate::edge::platform::{Frame, Inbox};
use crate::edge::session::Entry;
use crate::wire::sse;
use futures_util::future::{select, Either};
use std::pin::{pin, Pin};
use std::time::Duration;
use worker::{Delay, Env, Response, Result, Stub};

pub use crate::turn::Ends;

/// Between two comments. Clients give a silent body up after minutes, and a client that has left is only
/// noticed when something is written.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A message holds a page, and at most one event more, which is at most a row.
const MAX_FRAME: usize = 3 << 20;
/// Events that wait for a slow reader; beyond that the feed is closed, and opened again where the reader is.
const MAX_QUEUE: usize = 8 << 20;
/// Tries to reach the session's object again, and the time before the second.
const MAX_TRIES: u32 = 8;
const RETRY: Duration = Duration::from_millis(50);

struct Feed {
    session: Session,
    source: Source,
    /// Where in the log the stream stands.
    cursor: Option<u64>,
    ends: Ends,
    finished: bool,
    /// Runs all the time, so that events need no timer of their own.
    keep_alive: Pin<Box<Delay>>,
}

/// Where the session is. A stub does not outlive the instance that it reached, so each call takes a new one.
pub struct Session {
    /// The Worker's bindings.
    pub env: Env,
    /// Name of the session's object.
    pub name: String,
}

impl Session {
    fn object(&self) -> Result<Stub> {
        calls::object(&self.env, Class::Session, &self.name)
    }
}

/// Where the next events come from.
enum Source {
    /// They come when they happen.
    Live(Inbox),
    /// The log, until the stream has caught up.
    Log,
    /// The object is to be found again.
    Lost,
}

/// Opens a stream of the events after `cursor` or, without one, of those that come from now on.
pub async fn open(
    session: Session,
    cursor: Option<u64>,
    ends: Ends,
    status: u16,
) -> CallResult<Response> {
    // Listening begins before the headers go out: a client that has them may rely on missing nothing.
    let source = subscribe(&session, cursor)
        .await
        .map_err(|_| CallError::Broken)?
        .ok_or(CallError::Refused(Refusal::NotFound))?;
    let feed = Feed {
        session,
        source,
        cursor,
        ends,
        finished: false,
        keep_alive: Box::pin(Delay::from(KEEP_ALIVE)),
    };
    let frames = futures_util::stream::unfold(feed, |mut feed| async move {
        let frames = feed.next().await?;
        Some((Ok::<_, worker::Error>(frames), feed))
    });
    let response = || {
        let builder = Response::builder().with_status(status);
        let builder = builder
            .with_header("content-type", "text/event-stream")?
            .with_header("cache-control", "no-store")?;
        Ok(builder.from_stream(frames)?.with_status(status))
    };
    response().map_err(|_: worker::Error| CallError::Broken)
}

impl Feed {
    /// The next frames, or a comment when nothing happens.
    async fn next(&mut self) -> Option<String> {
        while !self.finished {
            match &self.source {
                Source::Live(inbox) => {
                    let message = match select(pin!(inbox.next()), &mut self.keep_alive).await {
                        Either::Left((message, _)) => message,
                        Either::Right(_) => {
                            self.keep_alive = Box::pin(Delay::from(KEEP_ALIVE));
                            return Some(sse::KEEP_ALIVE.to_owned());
                        }
                    };
                    match message {
                        Frame::Text(text) => {
                            if let Some(frames) = self.take(&text) {
                                return Some(frames);
                            }
                        }
                        Frame::Closed => self.source = Source::Lost,
                    }
                }
                Source::Log => match self.page().await {
                    Ok(Some(frames)) => return Some(frames),
                    Ok(None) => self.source = Source::Lost,
                    Err(()) => return None,
                },
                Source::Lost => self.reconnect().await?,
            }
        }
        None
    }

    /// Frames of a message, if it has any.
    fn take(&mut self, text: &str) -> Option<String> {
        let entry = Entry::parse(text)?;
        self.cursor = Some(entry.last);
        self.finished = entry.ends != Ends::Nothing && entry.ends >= self.ends;
        (!entry.frames.is_empty()).then(|| entry.frames.to_owned())
    }

    /// Frames of the next page of the log; none at its end. An error if the session is gone or does not come back.
    async fn page(&mut self) -> std::result::Result<Option<String>, ()> {
        let url = format!(
            "http://object/log?after={}",
            self.cursor.unwrap_or_default()
        );
        for attempt in 0..MAX_TRIES {
            let read = async {
                let object = self.session.object()?;
                let mut response = object.fetch_with_request(get(&url)?).await?;
                Ok((response.status_code(), response.text().await?))
            };
            let read: Result<(u16, String)> = read.await;
            match read {
                Ok((200, text)) => return Ok(self.take(&text)),
                Ok((404, _)) => return Err(()),
                Ok(_) | Err(_) => Delay::from(RETRY * (1 << attempt)).await,
            }
        }
        Err(())
    }

    /// `None` if the session is gone or does not come back.
    async fn reconnect(&mut self) -> Option<()> {
        for attempt in 0..MAX_TRIES {
            match subscribe(&self.session, self.cursor).await {
                Ok(Some(source)) => {
                    self.source = source;
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
async fn subscribe(session: &Session, after: Option<u64>) -> Result<Option<Source>> {
    let query = after
        .map(|after| format!("?after={after}"))
        .unwrap_or_default();
    let request = upgrade(&format!("http://object/events{query}"))?;
    let response = session.object()?.fetch_with_request(request).await?;
    let status = response.status_code();
    match (response.websocket(), status) {
        (Some(socket), _) => Ok(Some(Source::Live(Inbox::open(
            socket, MAX_FRAME, MAX_QUEUE,
        )?))),
        (None, 409) => Ok(Some(Source::Log)),
        (None, 404) => Ok(None),
        (None, _) => Err("the session does not answer".into()),
    }
}
