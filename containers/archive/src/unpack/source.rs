//! Tells an archive that cannot be read from one that is not valid: both come as errors of the decoder that lies between.
use std::error::Error;
use std::fmt;
use std::io::{self, Read};

use super::UnpackError;

/// What the stream comes from.
pub(super) struct Source<In>(pub In);

/// Its error.
#[derive(Debug)]
struct Unreadable(io::Error);

impl<In: Read> Read for Source<In> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes).map_err(|error| match error.kind() {
            // Those who read go on then.
            io::ErrorKind::Interrupted => error,
            _ => io::Error::other(Unreadable(error)),
        })
    }
}

/// What an error means that came out of the decoder.
pub(crate) fn read_fault(error: io::Error) -> UnpackError {
    match error.downcast::<Unreadable>() {
        Ok(Unreadable(error)) => UnpackError::Read(error),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            UnpackError::Invalid("truncated")
        }
        Err(_) => UnpackError::Invalid("compression"),
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Error for Unreadable {}
