//! The native history on its way to and from the store.
//!
//! It is the whole folder of the harness's rollouts: those of subagents and of threads that others are based on are needed
//! as well. The harness needs nothing else to continue. It is fetched before the harness starts, and saved while the
//! harness runs, in a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;

use cloister_archive::store::{Store, StoreError, Timeouts};
use cloister_archive::{Excludes, Limits, PackError, RestoreError, SaveError, UnpackError};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Saves that run or wait.
const MAX_SAVES: usize = 2;

/// The folder and the store.
pub struct History {
    folder: PathBuf,
    store: Store,
    /// One permit for each save that runs or waits.
    room: Arc<Semaphore>,
    /// The permit to run.
    turn: Arc<Semaphore>,
}

impl History {
    /// The history in `folder`, and the store at that URL.
    pub fn new(folder: PathBuf, store_url: &str) -> Self {
        Self {
            folder,
            store: Store::new(store_url, Timeouts::default()),
            room: Arc::new(Semaphore::new(MAX_SAVES)),
            turn: Arc::new(Semaphore::new(1)),
        }
    }

    /// Fetches the history that `grant` stands for into the folder, which is there. If that fails, the reason is for logs,
    /// and the folder may hold a part of it.
    pub async fn restore(&self, grant: &str) -> Result<(), &'static str> {
        let (folder, store) = (self.folder.clone(), self.store.clone());
        let grant = grant.to_owned();
        let restore =
            move || cloister_archive::restore(&folder, &Limits::default(), &store, &grant);
        match spawn_blocking(restore).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(RestoreError::Store(error))) => Err(store_reason(error)),
            Ok(Err(RestoreError::Unpack(error))) => Err(match error {
                UnpackError::Invalid(reason) => reason,
                UnpackError::TooLarge(_) => "too_large",
                UnpackError::Read(_) => "read",
                UnpackError::Write(_) => "write",
            }),
            Err(_) => Err("panic"),
        }
    }

    /// Stores what is in the folder now, and tells whether all of it is stored. Waits for a save that runs; if one waits
    /// already, the answer is no, at once. Dropping the future ends a save that waits, but none that runs.
    pub async fn save(&self, grant: String) -> bool {
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else {
            return false;
        };
        let Ok(turn) = Arc::clone(&self.turn).acquire_owned().await else {
            return false;
        };
        let (folder, store) = (self.folder.clone(), self.store.clone());
        let saved = spawn_blocking(move || {
            // Theirs until the thread ends, whoever waits for it.
            let _permits = (room, turn);
            let excludes = Excludes::new(&[]).map_err(|_| "excludes")?;
            cloister_archive::save(&folder, &excludes, &Limits::default(), &store, &grant).map_err(
                |error| match error {
                    SaveError::Store(error) => store_reason(error),
                    SaveError::Pack(PackError::TooLarge(_)) => "too_large",
                    SaveError::Pack(PackError::Read(_)) => "read",
                    SaveError::Pack(PackError::Write(_)) => "write",
                },
            )
        });
        let result = saved.await.unwrap_or(Err("panic"));
        if let Err(reason) = result {
            eprintln!("supervisor: save_failed reason={reason:?}");
        }
        result.is_ok()
    }
}

fn store_reason(error: StoreError) -> &'static str {
    match error {
        StoreError::Refused => "refused",
        StoreError::TooLarge => "too_large",
        StoreError::Failed(reason) => reason,
    }
}
