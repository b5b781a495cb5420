//! The link: frames of the harness protocol over one WebSocket.
use crate::edge::platform::{now, Container, Frame, Inbox};
use cloister_protocol::{
    Command, Event, FromSupervisor, MAX_FRAME_BYTES, SUPERVISOR_PORT, VERSION,
};
use futures_util::future::{select, Either};
use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;
use worker::{Delay, Result};

/// Frames that may wait in this object. The supervisor keeps what is not acknowledged, so more need not be here.
const MAX_QUEUE_BYTES: usize = 16 << 20;
/// Events handed on at once.
const MAX_BATCH: usize = 256;
/// Between two tries to reach a starting supervisor.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);
/// How long a supervisor may take to answer `attach`.
const ATTACH_DEADLINE: Duration = Duration::from_secs(10);

/// An attached link.
pub struct Link {
    inbox: Inbox,
    /// A ping was sent and nothing has come since.
    waiting: Cell<bool>,
}

/// What a link gives.
pub enum Incoming {
    /// Events in order, at least one.
    Events(Vec<(u64, Event)>),
    /// The supervisor is alive.
    Pong,
    /// The link is closed, or the supervisor broke the protocol.
    Closed,
}

impl Link {
    /// Connects to a container that may still be starting, and attaches. `None` if it does not answer in time.
    pub async fn open(
        container: &Container,
        link: u64,
        acknowledged: u64,
        deadline: Duration,
    ) -> Result<Option<Self>> {
        let end = now() + deadline.as_millis() as u64;
        let socket = loop {
            match container.connect(SUPERVISOR_PORT, "/link").await {
                Ok(socket) => break socket,
                Err(_) if now() < end && container.running() => Delay::from(PROBE_INTERVAL).await,
                Err(_) => return Ok(None),
            }
        };
        let this = Self {
            inbox: Inbox::open(socket, MAX_FRAME_BYTES, MAX_QUEUE_BYTES)?,
            waiting: Cell::default(),
        };
        this.send(&Command::Attach {
            epoch: link,
            acknowledged,
        })?;
        let first = match select(pin!(this.inbox.next()), Delay::from(ATTACH_DEADLINE)).await {
            Either::Left((Frame::Text(text), _)) => parse(&text),
            Either::Left((Frame::Closed, _)) | Either::Right(_) => None,
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
    }

    /// Waits for the next frame and takes what has arrived with it. `stored` is the last event before.
    pub async fn next(&self, stored: u64) -> Incoming {
        let mut events: Vec<(u64, Event)> = Vec::new();
        let mut pong = false;
        let mut next = match self.inbox.next().await {
            Frame::Text(text) => Some(text),
            Frame::Closed => return Incoming::Closed,
        };
        self.waiting.set(false);
        while let Some(text) = next {
            let last = events.last().map_or(stored, |(seq, _)| *seq);
            match parse(&text) {
                Some(FromSupervisor::Event { seq, event }) if seq == last + 1 => {
                    events.push((seq, event))
                }
                // What was resent after a reconnection that came before its acknowledgement.
                Some(FromSupervisor::Event { seq, .. }) if seq <= last => {}
                Some(FromSupervisor::Pong) => pong = true,
                Some(FromSupervisor::Event { .. } | FromSupervisor::Attached { .. }) | None => {
                    self.close();
                    break;
                }
            }
            next = if events.len() < MAX_BATCH {
                self.inbox.ready()
            } else {
                None
            };
        }
        match (events.is_empty(), pong, self.is_open()) {
            (false, _, _) => Incoming::Events(events),
            (true, _, true) => Incoming::Pong,
            (true, true, false) | (true, false, false) => Incoming::Closed,
        }
    }
}

fn parse(frame: &str) -> Option<FromSupervisor> {
    serde_json::from_str(frame).ok()
}
