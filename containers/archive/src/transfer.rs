//! Packs into the store, and unpacks out of it.
use std::path::Path;

use crate::store::{Store, StoreError};
use crate::{pack, unpack, Excludes, Limits, PackError, Packed, UnpackError, Unpacked};

/// Why a folder was not saved.
#[derive(Debug)]
pub enum SaveError {
    /// It cannot be packed.
    Pack(PackError),
    /// It cannot be stored.
    Store(StoreError),
}

/// Why a folder was not restored.
#[derive(Debug)]
pub enum RestoreError {
    /// It cannot be fetched.
    Store(StoreError),
    /// It cannot be unpacked.
    Unpack(UnpackError),
}

/// Packs the folder `root` into the stream for whose first part `grant` stands.
///
/// # Errors
/// See [`SaveError`]. The stream is not to be used then.
pub fn save(
    root: &Path,
    excludes: &Excludes,
    limits: &Limits,
    store: &Store,
    grant: &str,
) -> Result<Packed, SaveError> {
    let mut upload = store.upload(grant);
    let packed = pack(root, excludes, limits, &mut upload).map_err(|error| match error {
        PackError::Write(error) => SaveError::Store(StoreError::of(&error)),
        PackError::TooLarge(_) | PackError::Read(_) => SaveError::Pack(error),
    })?;
    upload.finish().map_err(SaveError::Store)?;
    Ok(packed)
}

/// Unpacks the stream for whose first part `grant` stands into the folder `root`, which is there.
///
/// # Errors
/// See [`RestoreError`]. What was unpacked until then stays.
pub fn restore(
    root: &Path,
    limits: &Limits,
    store: &Store,
    grant: &str,
) -> Result<Unpacked, RestoreError> {
    unpack(root, limits, store.download(grant)).map_err(|error| match error {
        UnpackError::Read(error) => RestoreError::Store(StoreError::of(&error)),
        UnpackError::Invalid(_) | UnpackError::TooLarge(_) | UnpackError::Write(_) => {
            RestoreError::Unpack(error)
        }
    })
}
