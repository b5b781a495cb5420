//! Reads the head of an HTTP message from a stream, bounded in size and time.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::timeout,
};

#[cfg(test)]
mod tests;

/// Longest head.
pub const MAX_HEAD_BYTES: usize = 16 << 10;
/// Most headers in a head.
pub const MAX_HEADERS: usize = 64;
const END: &[u8] = b"\r\n\r\n";

/// Reads a head; returns it, and what was read beyond it.
pub async fn read_head(
    stream: &mut (impl AsyncRead + Unpin),
    limit: Duration,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    timeout(limit, read_to_end(stream)).await?
}

async fn read_to_end(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut bytes = Vec::with_capacity(1024);
    loop {
        let searched = bytes.len().saturating_sub(END.len() - 1);
        let room = u64::try_from(MAX_HEAD_BYTES - bytes.len()).unwrap_or(0);
        if (&mut *stream).take(room).read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(found) = bytes[searched..]
            .windows(END.len())
            .position(|window| window == END)
        {
            let beyond = bytes.split_off(searched + found + END.len());
            return Ok((bytes, beyond));
        }
    }
}
