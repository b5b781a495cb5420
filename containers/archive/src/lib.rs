//! Packs a folder into a stream of bytes and unpacks it again, and stores and fetches such streams.
//!
//! A stream is one zstd frame with a tar archive in it, made so that there is one way to write a folder, and so one way to
//! read it:
//!
//! * Entries come depth first, a folder before what is in it, names sorted by their bytes. So a path comes once, after its
//!   folder, and a folder is finished when an entry comes that is not in it.
//! * Each entry is a PAX header, an ustar header and data. PAX records are `path` and `linkpath` if longer than 100 bytes,
//!   `mtime` with nanoseconds always, and GNU's format 0.1 for files with holes. Other tools can read this.
//! * Whoever unpacks encodes each header anew from what was understood, and compares the bytes. Nothing that another reader
//!   could understand in another way is taken.
//!
//! Files, folders, symbolic and hard links are kept with their mode, owner and time of change; sockets, pipes, devices and
//! extended attributes are not. Neither side follows a symbolic link, or uses a path of more than one name.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod beneath;
mod clear;
mod entry;
mod excludes;
mod format;
mod limits;
mod pack;
pub mod store;
mod transfer;
mod unpack;

pub use clear::clear;
pub use excludes::{BadPattern, Excludes};
pub use limits::{Limit, Limits};
pub use pack::{pack, PackError, Packed};
pub use transfer::{restore, save, RestoreError, SaveError};
pub use unpack::{unpack, UnpackError, Unpacked};

/// Largest window of a stream, as a power of two: what an unpacker must hold of the past.
const WINDOW_LOG: u32 = 20;
