//! The store behind `backup.internal`: streams in parts, each stored or fetched under a grant that is good for it alone.
//!
//! Nothing is tried twice: a grant may be spent though the answer was lost.
mod client;
mod download;
mod upload;

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use cloister_protocol::backup::{Announcement, Wanted, BACKUP_HOST, PART_BYTES};

use client::Client;
pub use download::Download;
pub use upload::{Upload, Uploaded};

/// How long the store may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// To take a connection.
    pub connect: Duration,
    /// For each piece that is sent or received.
    pub progress: Duration,
    /// For one part, from beginning to end.
    pub part: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            progress: Duration::from_secs(60),
            part: Duration::from_secs(600),
        }
    }
}

/// Why the store did not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The grant is not good for this.
    Refused,
    /// The stream may not have so many bytes.
    TooLarge,
    /// The store cannot be reached, or says what it must not say. The reason is for logs.
    Failed(&'static str),
}

/// Where streams are stored.
#[derive(Clone, Debug)]
pub struct Store {
    client: Client,
    part_bytes: usize,
}

impl Store {
    /// The store at `base`, an `http` URL without a slash at its end.
    #[must_use]
    pub fn new(base: &str, timeouts: Timeouts) -> Self {
        Self {
            client: Client::new(base, timeouts),
            part_bytes: PART_BYTES,
        }
    }

    /// Begins a stream whose first part is stored under `grant`.
    #[must_use]
    pub fn upload(&self, grant: &str) -> Upload {
        Upload::new(self.client.clone(), self.part_bytes, grant)
    }

    /// Fetches a stream whose first part is fetched under `grant`.
    #[must_use]
    pub fn download(&self, grant: &str) -> Download {
        Download::new(self.client.clone(), self.part_bytes, grant)
    }

    /// Says which files may be published, and learns which are wanted.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn announce(&self, grant: &str, announcement: &Announcement) -> Result<Wanted, StoreError> {
        self.client.announce(grant, announcement)
    }
}

impl Default for Store {
    fn default() -> Self {
        Self::new(&format!("http://{BACKUP_HOST}"), Timeouts::default())
    }
}

impl StoreError {
    /// What an error of an [`Upload`] or a [`Download`] holds.
    #[must_use]
    pub fn of(error: &io::Error) -> Self {
        let inner = error.get_ref().and_then(|error| error.downcast_ref());
        inner.copied().unwrap_or(Self::Failed("io"))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => formatter.write_str("refused"),
            Self::TooLarge => formatter.write_str("too_large"),
            Self::Failed(reason) => write!(formatter, "failed: {reason}"),
        }
    }
}

impl Error for StoreError {}

#[cfg(test)]
mod tests;
