//! The platform's certificate authority, made trusted once it is there.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cloister_protocol::trust::{BUNDLE, PLATFORM_CA, SYSTEM_BUNDLE};
use rustix::fs::OFlags;

/// Largest file of the authority, bytes.
const MAX_CA: u64 = 1 << 20;
/// Largest file of what the image trusts, bytes.
const MAX_BUNDLE: u64 = 8 << 20;
/// Pause after a try that failed.
const PAUSE: Duration = Duration::from_secs(1);

/// What is to be made trusted, and where.
#[derive(Debug)]
pub struct Trust {
    ca: PathBuf,
    system: PathBuf,
    bundle: PathBuf,
    next: Instant,
    done: bool,
    /// The failure that was told last.
    told: Option<Fault>,
}

/// Why it is not trusted yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The authority's file is not whole, too large, or no file.
    Ca,
    /// What the image trusts cannot be read.
    System,
    /// A file cannot be written.
    Write,
}

impl Fault {
    /// Its code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Ca => "ca",
            Self::System => "system",
            Self::Write => "write",
        }
    }
}

impl Trust {
    /// The platform's authority, for this image.
    pub fn new(now: Instant) -> Self {
        Self::at([PLATFORM_CA, SYSTEM_BUNDLE, BUNDLE].map(PathBuf::from), now)
    }

    fn at([ca, system, bundle]: [PathBuf; 3], now: Instant) -> Self {
        Self {
            ca,
            system,
            bundle,
            next: now,
            done: false,
            told: None,
        }
    }

    /// Writes the bundle as it is without the authority: variables that are already set name it.
    pub fn begin(&self) -> Result<(), Fault> {
        write(&self.bundle, &self.system()?.unwrap_or_default())
    }

    /// Makes the authority trusted if it is there and has not been. True if it is now; a failure is told once, until
    /// another one takes its place.
    pub fn keep(&mut self, now: Instant) -> Result<bool, Fault> {
        if self.done || now < self.next {
            return Ok(false);
        }
        match self.extend() {
            Ok(done) => {
                self.done = done;
                Ok(done)
            }
            Err(fault) => {
                self.next = now + PAUSE;
                let known = self.told.replace(fault) == Some(fault);
                if known {
                    Ok(false)
                } else {
                    Err(fault)
                }
            }
        }
    }

    fn extend(&self) -> Result<bool, Fault> {
        let Some(ca) = read(&self.ca, MAX_CA).map_err(|_| Fault::Ca)? else {
            return Ok(false);
        };
        if !is_whole(&ca) {
            return Err(Fault::Ca);
        }
        let system = self.system()?;
        let extended = with(system.as_deref().unwrap_or_default(), &ca);
        write(&self.bundle, &extended)?;
        if system.is_some_and(|system| system != extended) {
            write(&self.system, &extended)?;
        }
        Ok(true)
    }

    fn system(&self) -> Result<Option<Vec<u8>>, Fault> {
        read(&self.system, MAX_BUNDLE).map_err(|_| Fault::System)
    }
}

/// Whether this is PEM from beginning to end: the platform may still be writing it.
fn is_whole(ca: &[u8]) -> bool {
    let ca = ca.trim_ascii();
    ca.starts_with(b"-----BEGIN CERTIFICATE-----") && ca.ends_with(b"-----END CERTIFICATE-----")
}

/// The bundle with the authority at its end, if it is not in it.
fn with(bundle: &[u8], ca: &[u8]) -> Vec<u8> {
    let ca = ca.trim_ascii();
    let mut extended = bundle.to_vec();
    if !bundle.windows(ca.len()).any(|part| part == ca) {
        if !matches!(bundle.last(), None | Some(b'\n')) {
            extended.push(b'\n');
        }
        extended.extend_from_slice(ca);
        extended.push(b'\n');
    }
    extended
}

/// A regular file of so many bytes at most; none if nothing is there. Whatever else lies there is not waited for.
fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let meta = file.metadata()?;
    let mut bytes = Vec::new();
    if meta.is_file() && meta.len() <= most {
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= most {
            return Ok(Some(bytes));
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// Writes all of it at once, for everybody to read.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let new = path.with_extension("cloister-new");
    let written = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = File::create_new(&new)?;
        file.write_all(bytes)?;
        file.set_permissions(Permissions::from_mode(0o644))?;
        fs::rename(&new, path)
    };
    written().map_err(|_| Fault::Write)
}

#[cfg(test)]
mod tests;
