//! Storing a stream.
use std::io::{self, Write};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use super::client::Client;
use super::StoreError;

/// A stream that is being stored. A part is sent while the next is written; there are never more than two in memory.
///
/// Dropped before [`finish`](Self::finish), it is not complete: its last part is not sent. Its errors hold a [`StoreError`].
#[derive(Debug)]
pub struct Upload {
    part_bytes: usize,
    /// The part that is being written.
    part: Vec<u8>,
    sender: Sender,
}

/// What was stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uploaded {
    /// Parts. A stream without bytes has none.
    pub parts: u64,
    /// Bytes of all parts.
    pub bytes: u64,
}

/// The thread that sends.
#[derive(Debug)]
enum Sender {
    Running {
        parts: SyncSender<Vec<u8>>,
        thread: JoinHandle<Result<Uploaded, StoreError>>,
    },
    Ended(StoreError),
}

impl Upload {
    pub(super) fn new(client: Client, part_bytes: usize, grant: &str) -> Self {
        // Without room: a part that is ready waits here, and with it whoever writes.
        let (parts, receiver) = sync_channel(0);
        let grant = grant.to_owned();
        let thread = thread::Builder::new().spawn(move || send(&client, grant, &receiver));
        Self {
            part_bytes,
            part: Vec::new(),
            sender: match thread {
                Ok(thread) => Sender::Running { parts, thread },
                Err(_) => Sender::Ended(StoreError::Failed("thread")),
            },
        }
    }

    /// Stores what is left.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn finish(mut self) -> Result<Uploaded, StoreError> {
        if !self.part.is_empty() {
            self.send()?;
        }
        match self.sender {
            Sender::Running { parts, thread } => {
                drop(parts);
                join(thread)
            }
            Sender::Ended(error) => Err(error),
        }
    }

    fn send(&mut self) -> Result<(), StoreError> {
        let part = std::mem::take(&mut self.part);
        match &self.sender {
            Sender::Running { parts, .. } if parts.send(part).is_ok() => return Ok(()),
            Sender::Running { .. } | Sender::Ended(_) => {}
        }
        // The thread has ended before its time, and says why.
        let ended = Sender::Ended(StoreError::Failed("thread"));
        let error = match std::mem::replace(&mut self.sender, ended) {
            Sender::Running { thread, .. } => match join(thread) {
                Ok(_) => StoreError::Failed("thread"),
                Err(error) => error,
            },
            Sender::Ended(error) => error,
        };
        self.sender = Sender::Ended(error);
        Err(error)
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full part is sent when there is more, so that the last one is never empty.
        if self.part.len() == self.part_bytes && !bytes.is_empty() {
            self.send().map_err(io::Error::other)?;
        }
        if self.part.capacity() == 0 {
            self.part.reserve_exact(self.part_bytes);
        }
        let room = self.part_bytes - self.part.len();
        let taken = &bytes[..bytes.len().min(room)];
        self.part.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn send(client: &Client, grant: String, parts: &Receiver<Vec<u8>>) -> Result<Uploaded, StoreError> {
    let mut grant = Some(grant);
    let mut uploaded = Uploaded::default();
    for part in parts {
        let current = grant.take().ok_or(StoreError::TooLarge)?;
        grant = client.put(&current, &part)?;
        uploaded.parts += 1;
        uploaded.bytes += part.len() as u64;
    }
    Ok(uploaded)
}

fn join(thread: JoinHandle<Result<Uploaded, StoreError>>) -> Result<Uploaded, StoreError> {
    let ended = thread.join();
    ended.unwrap_or(Err(StoreError::Failed("thread")))
}
