//! The link: one WebSocket at a time, opened by the Worker.
//!
//! A connection has to say `attach` first. From then on it is the link, and the one before is closed; a connection with
//! a lower epoch than the link's is closed instead. A frame that is too large, of another kind than text, or not a
//! command closes its connection. Events are drawn from the outbox as fast as the peer takes them, so a slow peer costs
//! no memory beyond the outbox. What became of a save is told on the link that asked for it, or not at all.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use cloister_protocol::{Command, FromSupervisor, MAX_COMMAND_BYTES, MAX_FRAME_BYTES, VERSION};
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::{
    frame::coding::CloseCode, CloseFrame, WebSocketConfig,
};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::WebSocketStream;

use crate::history::History;
use crate::outbox::Outbox;

/// How long a connection may take to become the link.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections at a time, the link included.
const MAX_CONNECTIONS: usize = 8;

/// A message that has reached this many bytes is not added to.
const BATCH_BYTES: usize = 64 << 10;

type Socket = WebSocketStream<TcpStream>;
/// Answers to come to `save_history`.
type Saves<'a> = FuturesUnordered<LocalBoxFuture<'a, FromSupervisor>>;

/// What all connections share with the rest of the supervisor.
pub struct Shared {
    /// The events.
    pub outbox: RefCell<Outbox>,
    /// Rises when the outbox changes.
    changed: watch::Sender<u64>,
    /// Epoch and number of the link.
    link: watch::Sender<(u64, u64)>,
    connections: Cell<usize>,
    commands: mpsc::Sender<Command>,
    history: History,
}

impl Shared {
    /// Commands of the link will go to `commands`, but for those about `history`.
    pub fn new(commands: mpsc::Sender<Command>, history: History) -> Rc<Self> {
        Rc::new(Self {
            outbox: RefCell::default(),
            changed: watch::Sender::new(0),
            link: watch::Sender::new((0, 0)),
            connections: Cell::new(0),
            commands,
            history,
        })
    }

    /// The outbox has changed: there is more to send, or more room.
    pub fn touch(&self) {
        self.changed.send_modify(|n| *n += 1);
    }

    /// Tells of changes of the outbox.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

/// Why a connection ends.
enum End {
    /// The peer has closed it, or it broke.
    Gone,
    /// The peer broke the protocol.
    Invalid(&'static str),
    /// Another connection is the link now, or was already.
    Replaced,
}

/// Accepts connections for ever.
pub async fn accept(listener: TcpListener, shared: Rc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, say; it passes.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        if shared.connections.get() >= MAX_CONNECTIONS {
            continue;
        }
        shared.connections.set(shared.connections.get() + 1);
        let shared = Rc::clone(&shared);
        tokio::task::spawn_local(async move {
            serve(stream, &shared).await;
            shared.connections.set(shared.connections.get() - 1);
        });
    }
}

async fn serve(stream: TcpStream, shared: &Shared) {
    // Small frames, each of which matters now.
    let _ = stream.set_nodelay(true);
    let attached = tokio::time::timeout(ATTACH_TIMEOUT, async {
        let mut socket = handshake(stream).await?;
        let first = read(&mut socket).await;
        Some((socket, first))
    });
    let Ok(Some((mut socket, first))) = attached.await else {
        return;
    };
    let end = match first {
        Ok(Command::Attach {
            epoch,
            acknowledged,
        }) => attach(&mut socket, shared, epoch, acknowledged).await,
        Ok(_) => End::Invalid("attach first"),
        Err(end) => end,
    };
    let (code, reason) = match end {
        End::Gone => return,
        End::Invalid(reason) => (CloseCode::Policy, reason),
        End::Replaced => (CloseCode::Normal, "replaced"),
    };
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    // The peer may be gone; it need not answer either.
    let _ = tokio::time::timeout(Duration::from_secs(1), socket.close(Some(frame))).await;
}

// The size of the error is the library's choice.
#[allow(clippy::result_large_err)]
async fn handshake(stream: TcpStream) -> Option<Socket> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_COMMAND_BYTES))
        .max_frame_size(Some(MAX_COMMAND_BYTES));
    let only_link = |request: &Request, response: Response| {
        if request.uri().path() == "/link" {
            return Ok(response);
        }
        let mut refusal = ErrorResponse::new(None);
        *refusal.status_mut() = StatusCode::NOT_FOUND;
        Err(refusal)
    };
    tokio_tungstenite::accept_hdr_async_with_config(stream, only_link, Some(config))
        .await
        .ok()
}

/// Makes the connection the link, if its epoch allows it.
async fn attach(socket: &mut Socket, shared: &Shared, epoch: u64, acknowledged: u64) -> End {
    let (current, number) = *shared.link.borrow();
    if epoch < current {
        return End::Replaced;
    }
    let me = (epoch, number + 1);
    shared.link.send_replace(me);
    let mut link = shared.link.subscribe();
    tokio::select! {
        // Also when the peer no longer takes what we send.
        _ = link.wait_for(|link| *link != me) => End::Replaced,
        end = run(socket, shared, acknowledged) => end,
    }
}

async fn run(socket: &mut Socket, shared: &Shared, acknowledged: u64) -> End {
    let mut changes = shared.changes();
    let mut saves = Saves::new();
    let last = shared.outbox.borrow().last();
    if send(
        socket,
        &FromSupervisor::Attached {
            protocol: VERSION,
            last,
        },
    )
    .await
    .is_err()
    {
        return End::Gone;
    }
    if let Err(end) = acknowledge(shared, acknowledged) {
        return end;
    }
    let mut sent = acknowledged;
    loop {
        match send_ready(socket, shared, sent).await {
            Ok(last) => sent = last,
            Err(end) => return end,
        }
        let more = shared.outbox.borrow().last() > sent;
        tokio::select! {
            // Commands come through even while there is more to send.
            biased;
            Some(saved) = saves.next() => {
                if let Err(end) = send(socket, &saved).await {
                    return end;
                }
            }
            command = read(socket) => {
                let obeyed = match command {
                    Ok(command) => obey(socket, shared, &mut saves, command).await,
                    Err(end) => Err(end),
                };
                if let Err(end) = obeyed {
                    return end;
                }
            }
            _ = changes.changed(), if !more => {}
            () = std::future::ready(()), if more => {}
        }
    }
}

/// Sends what is ready after number `sent` as one message, if it is not too much. Gives the last number that was sent.
async fn send_ready(socket: &mut Socket, shared: &Shared, sent: u64) -> Result<u64, End> {
    let Some((mut last, first)) = shared.outbox.borrow().after(sent) else {
        return Ok(sent);
    };
    let mut more = String::new();
    while first.len() + more.len() < BATCH_BYTES {
        let Some((seq, frame)) = shared.outbox.borrow().after(last) else {
            break;
        };
        if first.len() + more.len() + frame.len() >= MAX_FRAME_BYTES {
            break;
        }
        more.push('\n');
        more.push_str(&frame);
        last = seq;
    }
    let message = if more.is_empty() {
        Message::Text(first)
    } else {
        Message::text(first.to_string() + &more)
    };
    match socket.send(message).await {
        Ok(()) => Ok(last),
        Err(_) => Err(End::Gone),
    }
}

async fn obey<'a>(
    socket: &mut Socket,
    shared: &'a Shared,
    saves: &mut Saves<'a>,
    command: Command,
) -> Result<(), End> {
    match command {
        Command::Attach { .. } => Err(End::Invalid("attached already")),
        Command::Acknowledge { seq } => acknowledge(shared, seq),
        Command::SaveHistory { grant } => {
            let save = async {
                let success = shared.history.save(grant.clone()).await;
                FromSupervisor::HistorySaved { grant, success }
            };
            saves.push(save.boxed_local());
            Ok(())
        }
        Command::Ping => send(socket, &FromSupervisor::Pong).await,
        Command::StartTurn { .. }
        | Command::Steer { .. }
        | Command::ToolResult { .. }
        | Command::Approval { .. }
        | Command::Interrupt { .. } => shared.commands.send(command).await.map_err(|_| End::Gone),
    }
}

/// An acknowledgement of what was never sent means that the Worker takes us for another supervisor.
fn acknowledge(shared: &Shared, seq: u64) -> Result<(), End> {
    let result = shared.outbox.borrow_mut().acknowledge(seq);
    shared.touch();
    result.map_err(|_| End::Invalid("acknowledged too much"))
}

async fn send(socket: &mut Socket, frame: &FromSupervisor) -> Result<(), End> {
    let text = serde_json::to_string(frame).map_err(|_| End::Gone)?;
    socket
        .send(Message::text(text))
        .await
        .map_err(|_| End::Gone)
}

/// The next command. Cancelling it loses nothing.
async fn read(socket: &mut Socket) -> Result<Command, End> {
    use tokio_tungstenite::tungstenite::Error;
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => {
                return serde_json::from_str(&text).map_err(|_| End::Invalid("not a command"));
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Binary(_) | Message::Frame(_))) => {
                return Err(End::Invalid("not text"))
            }
            Some(Err(Error::Capacity(_))) => return Err(End::Invalid("too large")),
            Some(Err(Error::Utf8(_) | Error::Protocol(_))) => {
                return Err(End::Invalid("not a WebSocket frame"))
            }
            Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(End::Gone),
        }
    }
}
