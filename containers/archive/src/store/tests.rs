#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
//! The store that keeps to the protocol, and those that do not.
#[path = "../../tests/support/memory.rs"]
mod memory;
#[path = "../../tests/support/server.rs"]
mod server;

mod honest;
mod lying;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use super::*;

/// Small parts and short times.
fn store(base: &str, part_bytes: usize) -> Store {
    let timeouts = Timeouts {
        connect: Duration::from_millis(500),
        progress: Duration::from_millis(500),
        part: Duration::from_millis(1500),
    };
    Store {
        part_bytes,
        ..Store::new(base, timeouts)
    }
}

fn store_all(store: &Store, grant: &str, bytes: &[u8]) -> Result<Uploaded, StoreError> {
    let mut upload = store.upload(grant);
    upload
        .write_all(bytes)
        .map_err(|error| StoreError::of(&error))?;
    upload.finish()
}

fn fetch_all(store: &Store, grant: &str) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let read = store.download(grant).read_to_end(&mut bytes);
    read.map_err(|error| StoreError::of(&error))?;
    Ok(bytes)
}

/// Bytes that are not all the same.
fn noise(length: usize) -> Vec<u8> {
    (0..length)
        .map(|index| (index * 7 + index / 251) as u8)
        .collect()
}
