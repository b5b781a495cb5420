//! The link: frames of the harness protocol over one WebSocket from the supervisor, handed on over another to SessionDO.
use crate::edge::calls::{CallError, CallResult, Notice, Reported};
use crate::edge::container::within;
use crate::edge::platform::{now, Container, Frame, Inbox};
use cloister_protocol::{Command, FromSupervisor, MAX_FRAME_BYTES, SUPERVISOR_PORT, VERSION};
use std::cell::{Cell, RefCell};
use std::time::Duration;
use worker::{Delay, Result, WebSocket};

/// Frames that may wait in this object. The supervisor keeps what is not acknowledged, so more need not be here.
const MAX_QUEUE_BYTES: usize = 16 << 20;
/// Bytes of frames after which no more are handed on at once.
const MAX_BATCH_BYTES: usize = 256 << 10;
/// Between two tries to reach a starting supervisor.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);
/// How long a supervisor may take to answer `attach`.
const ATTACH_DEADLINE: Duration = Duration::from_secs(10);

/// An attached link.
pub struct Link {
    inbox: Inbox,
    reports: Reports,
    /// A ping was sent and nothing has come since.
    waiting: Cell<bool>,
    /// What came behind frames that were given first.
    behind: RefCell<Option<Incoming>>,
}

/// The way to SessionDO: what is reported there is answered in order, when it is stored.
pub struct Reports {
    inbox: Inbox,
    /// Newest event that SessionDO had when the way was opened.
    seen: u64,
    /// The turn that ran for SessionDO then; empty for none.
    pub running: String,
}

impl Reports {
    /// Opens the way over a socket that SessionDO gave. `None` if SessionDO does not answer.
    pub async fn open(socket: WebSocket) -> Result<Option<Self>> {
        let inbox = Inbox::open(socket, MAX_FRAME_BYTES, MAX_QUEUE_BYTES)?;
        let first = match within(ATTACH_DEADLINE, inbox.next()).await {
            Some(Frame::Text(text)) => text,
            Some(Frame::Closed) | None => return Ok(None),
        };
        let (seen, running) = first.split_once('\n').ok_or("not a first message")?;
        let seen = seen.parse().map_err(|_| "not a first message")?;
        let running = running.to_owned();
        Ok(Some(Self {
            inbox,
            seen,
            running,
        }))
    }

    /// Sends a message.
    pub fn send(&self, notice: Option<&Notice>, frames: &str) -> Result<()> {
        let notice = notice.map(serde_json::to_string).transpose()?;
        let notice = notice.unwrap_or_default();
        self.inbox.send(&format!("{notice}\n{frames}"))
    }

    /// The answer to a message. `None` when the way is closed.
    pub async fn answer(&self) -> Option<CallResult<Reported>> {
        match self.inbox.next().await {
            Frame::Text(text) => {
                Some(serde_json::from_str(&text).unwrap_or(Err(CallError::Broken)))
            }
            Frame::Closed => None,
        }
    }
}

/// What a link gives.
pub enum Incoming {
    /// Frames with events, at least one, each on a line. They are not looked into here: SessionDO judges them.
    Frames(String),
    /// The supervisor is alive.
    Pong,
    /// The supervisor has stored its history, or failed to.
    HistorySaved {
        /// The grant that it was told.
        grant: String,
        /// Whether all of it is stored.
        success: bool,
    },
    /// The link is closed, or the supervisor broke the protocol.
    Closed,
}

impl Link {
    /// Connects to a container that may still be starting, and attaches. `None` if it does not answer in time.
    pub async fn open(
        container: &Container,
        link: u64,
        reports: Reports,
        deadline: Duration,
    ) -> Result<Option<Self>> {
        let end = now() + deadline.as_millis() as u64;
        let socket = loop {
            let left = Duration::from_millis(end.saturating_sub(now()));
            match within(left, container.connect(SUPERVISOR_PORT, "/link")).await {
                Some(Ok(socket)) => break socket,
                Some(Err(_)) if now() < end && container.running() => {
                    Delay::from(PROBE_INTERVAL).await
                }
                Some(Err(_)) | None => return Ok(None),
            }
        };
        let acknowledged = reports.seen;
        let this = Self {
            inbox: Inbox::open(socket, MAX_FRAME_BYTES, MAX_QUEUE_BYTES)?,
            reports,
            waiting: Cell::default(),
            behind: RefCell::default(),
        };
        this.send(&Command::Attach {
            epoch: link,
            acknowledged,
        })?;
        let first = match within(ATTACH_DEADLINE, this.inbox.next()).await {
            Some(Frame::Text(text)) => parse(&text),
            Some(Frame::Closed) | None => None,
        };
        match first {
            Some(FromSupervisor::Attached {
                protocol: VERSION, ..
            }) => Ok(Some(this)),
            Some(_) | None => Ok(None),
        }
    }

    /// Sends a command.
    pub fn send(&self, command: &Command) -> Result<()> {
        self.inbox.send(&serde_json::to_string(command)?)
    }

    /// Hands frames on to SessionDO, with what there is to say about them.
    pub fn report(&self, notice: Option<&Notice>, frames: &str) -> Result<()> {
        self.reports.send(notice, frames)
    }

    /// What SessionDO answers to what was handed on. `None` when the way is closed.
    pub async fn reported(&self) -> Option<CallResult<Reported>> {
        self.reports.answer().await
    }

    /// Asks for a sign of life.
    pub fn ping(&self) -> Result<()> {
        self.waiting.set(true);
        self.send(&Command::Ping)
    }

    /// Whether nothing has come since the last ping.
    pub fn is_silent(&self) -> bool {
        self.waiting.get()
    }

    /// Whether commands can be sent.
    pub fn is_open(&self) -> bool {
        self.inbox.is_open()
    }

    /// Closes it.
    pub fn close(&self) {
        self.inbox.close();
        self.reports.inbox.close();
    }

    /// Waits for the next frame and takes what has arrived with it.
    pub async fn next(&self) -> Incoming {
        if let Some(behind) = self.behind.take() {
            return behind;
        }
        let mut frames = String::new();
        let mut next = match self.inbox.next().await {
            Frame::Text(text) => Some(text),
            Frame::Closed => return Incoming::Closed,
        };
        self.waiting.set(false);
        while let Some(text) = next {
            match control(&text) {
                Some(control) if frames.is_empty() => return control,
                Some(control) => {
                    self.behind.replace(Some(control));
                    break;
                }
                None => {
                    frames.push_str(&text);
                    frames.push('\n');
                }
            }
            next = if frames.len() < MAX_BATCH_BYTES {
                self.inbox.ready()
            } else {
                None
            };
        }
        Incoming::Frames(frames)
    }
}

/// A message that is no event, by how it begins: events need not be looked into.
fn control(text: &str) -> Option<Incoming> {
    if !text.starts_with("\"pong") && !text.starts_with("{\"history_saved") {
        return None;
    }
    match parse(text)? {
        FromSupervisor::Pong => Some(Incoming::Pong),
        FromSupervisor::HistorySaved { grant, success } => {
            Some(Incoming::HistorySaved { grant, success })
        }
        FromSupervisor::Attached { .. } | FromSupervisor::Event { .. } => None,
    }
}

fn parse(frame: &str) -> Option<FromSupervisor> {
    serde_json::from_str(frame).ok()
}
