//! Fetching a stream.
use std::io::{self, Read};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread;

use cloister_protocol::backup::MAX_PARTS;

use super::client::Client;
use super::StoreError;

/// A stream that is being fetched. The next part is fetched while one is read; there are never more than two in memory, and
/// none is handed on before all of it was checked. Its errors hold a [`StoreError`].
#[derive(Debug)]
pub struct Download {
    fetched: Receiver<Fetched>,
    part: Vec<u8>,
    read: usize,
    ended: bool,
}

/// A part, or none after the last.
type Fetched = Result<Option<Vec<u8>>, StoreError>;

impl Download {
    pub(super) fn new(client: Client, part_bytes: usize, grant: &str) -> Self {
        // Without room: a part that is fetched waits here.
        let (sender, fetched) = sync_channel(0);
        let grant = grant.to_owned();
        let thread = thread::Builder::new().spawn(move || {
            let last = fetch(&client, part_bytes, grant, &sender).map(|()| None);
            // Or nobody reads any more.
            let _ = sender.send(last);
        });
        // Without a thread there is no sender, which is found when reading.
        drop(thread);
        Self {
            fetched,
            part: Vec::new(),
            read: 0,
            ended: false,
        }
    }
}

impl Read for Download {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.read == self.part.len() && !self.ended {
            // Frees the part before there is another.
            self.part = Vec::new();
            self.read = 0;
            let fetched = self.fetched.recv();
            let fetched = fetched.unwrap_or(Err(StoreError::Failed("thread")));
            match fetched.map_err(io::Error::other)? {
                Some(part) => self.part = part,
                None => self.ended = true,
            }
        }
        let left = &self.part[self.read..];
        let taken = bytes.len().min(left.len());
        bytes[..taken].copy_from_slice(&left[..taken]);
        self.read += taken;
        Ok(taken)
    }
}

/// Fetches the parts, until there is none or nobody wants one.
fn fetch(
    client: &Client,
    part_bytes: usize,
    grant: String,
    parts: &SyncSender<Fetched>,
) -> Result<(), StoreError> {
    let mut next = Some(grant);
    for _ in 0..MAX_PARTS {
        let Some(grant) = next else {
            return Ok(());
        };
        let part = client.get(&grant, part_bytes)?;
        if part.next.is_some() && part.bytes.len() < part_bytes {
            return Err(StoreError::Failed("short"));
        }
        next = part.next;
        if parts.send(Ok(Some(part.bytes))).is_err() {
            return Ok(());
        }
    }
    match next {
        None => Ok(()),
        Some(_) => Err(StoreError::Failed("parts")),
    }
}
