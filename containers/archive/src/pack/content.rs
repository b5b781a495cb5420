//! What is in a file that may change meanwhile.
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use rustix::fs::{fstat, seek, SeekFrom, Stat};
use rustix::io::Errno;

use super::PackError;
use crate::entry::{Content, Extent};
use crate::format::{padding, END, MAX_EXTENTS};

/// Finds the holes.
pub(super) fn survey(file: &File, stat: &Stat) -> io::Result<Content> {
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let on_disk = u64::try_from(stat.st_blocks)
        .unwrap_or(0)
        .saturating_mul(512);
    if on_disk >= size {
        return Ok(Content::dense(size));
    }
    let mut extents = Vec::new();
    let mut position = 0;
    while position < size {
        let offset = match seek(file, SeekFrom::Data(position)) {
            Ok(offset) if offset < size => offset,
            // The rest is a hole.
            Ok(_) | Err(Errno::NXIO) => break,
            // This file system does not tell.
            Err(Errno::INVAL) => return Ok(Content::dense(size)),
            Err(error) => return Err(error.into()),
        };
        let end = match seek(file, SeekFrom::Hole(offset)) {
            _ if extents.len() + 1 == MAX_EXTENTS => size,
            Ok(end) => end.min(size),
            // It has become shorter.
            Err(Errno::NXIO) => size,
            Err(error) => return Err(error.into()),
        };
        extents.push(Extent {
            offset,
            bytes: end - offset,
        });
        position = end;
    }
    Ok(Content { size, extents })
}

/// Writes exactly what was announced, with zeros for what is not there any more. Whether the file stayed the same.
pub(super) fn copy(
    file: &File,
    before: &Stat,
    content: &Content,
    buffer: &mut [u8],
    out: &mut impl Write,
) -> Result<bool, PackError> {
    for extent in &content.extents {
        let mut offset = extent.offset;
        let end = extent.offset + extent.bytes;
        while offset < end {
            let most = buffer.len() as u64;
            // No more than the buffer has.
            let piece = &mut buffer[..(end - offset).min(most) as usize];
            let read = match file.read_at(piece, offset) {
                Ok(0) => {
                    piece.fill(0);
                    piece.len()
                }
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(PackError::Read(error)),
            };
            out.write_all(&piece[..read]).map_err(PackError::Write)?;
            offset += read as u64;
        }
    }
    let padding = padding(content.stored());
    out.write_all(&END[..padding]).map_err(PackError::Write)?;
    let after = fstat(file).map_err(|error| PackError::Read(error.into()))?;
    let state = |stat: &Stat| (stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
    Ok(state(before) == state(&after))
}
