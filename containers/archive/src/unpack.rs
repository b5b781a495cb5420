//! Unpacks an archive.
mod source;
mod tree;

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::entry::Kind;
use crate::limits::Tally;
use crate::{beneath, format, Limit, Limits, WINDOW_LOG};
pub(crate) use source::read_fault;
use source::Source;
use tree::Tree;

/// What was unpacked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Files, folders and links.
    pub entries: u64,
    /// What was stored of all files, bytes before compression, as [`Limits::bytes`] counts.
    pub bytes: u64,
}

/// Why an archive was not unpacked.
#[derive(Debug)]
pub enum UnpackError {
    /// These are not the bytes that packing writes. The reason is for logs.
    Invalid(&'static str),
    /// The archive exceeds a limit.
    TooLarge(Limit),
    /// The archive cannot be read.
    Read(io::Error),
    /// The folder cannot be written, or has something of the same name.
    Write(io::Error),
}

/// Unpacks an archive into the folder `root`, which is there. Owners are restored for root only.
///
/// A stream unpacks to 32,768 times its size at most, which is what zstd can say at best; [`Limits::bytes`] is what bounds
/// what is written.
///
/// # Errors
/// See [`UnpackError`]; what was unpacked until then stays.
pub fn unpack(root: &Path, limits: &Limits, input: impl Read) -> Result<Unpacked, UnpackError> {
    let root = beneath::open_root(root).map_err(UnpackError::Write)?;
    let input = BufReader::with_capacity(128 << 10, Source(input));
    let decoder = zstd::Decoder::with_buffer(input).map_err(UnpackError::Read)?;
    let mut decoder = decoder.single_frame();
    let window = decoder.window_log_max(WINDOW_LOG);
    window.map_err(UnpackError::Read)?;
    let unpacked = unpack_tar(root, limits, &mut decoder)?;
    if decoder.read(&mut [0]).map_err(read_fault)? > 0 {
        return Err(UnpackError::Invalid("after_end"));
    }
    if !decoder.finish().fill_buf().map_err(read_fault)?.is_empty() {
        return Err(UnpackError::Invalid("after_frame"));
    }
    Ok(unpacked)
}

/// Unpacks what is in the frame, up to the end of the archive.
fn unpack_tar(
    root: OwnedFd,
    limits: &Limits,
    input: &mut impl Read,
) -> Result<Unpacked, UnpackError> {
    let mut tally = Tally::new(limits);
    let mut tree = Tree::new(root);
    while let Some(entry) = format::decode(input, limits.path_bytes)? {
        tally.admit(&entry).map_err(UnpackError::TooLarge)?;
        let (path, meta) = (&entry.path, &entry.meta);
        match &entry.kind {
            Kind::Folder => tree.folder(path, meta)?,
            Kind::File(content) => tree.file(path, meta, content, input)?,
            Kind::Symlink(target) => tree.symlink(path, meta, target)?,
            Kind::Link(target) => tree.link(path, target)?,
        }
    }
    tree.finish()?;
    Ok(Unpacked {
        entries: tally.entries,
        bytes: tally.bytes,
    })
}

#[cfg(test)]
mod tests;
