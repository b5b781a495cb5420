//! Asks the exec server whether it is ready.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use cloister_protocol::EXEC_PORT;

/// From the end of a try to the next.
const EVERY: Duration = Duration::from_secs(2);
/// How long a try may take in all.
const PATIENCE: Duration = Duration::from_secs(5);
const REQUEST: &[u8] = b"GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
/// How a good answer begins; no more of it is read.
const READY: &[u8; 13] = b"HTTP/1.1 200 ";

/// One try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// When it began.
    pub begun: Instant,
    /// Whether the server said that it is ready.
    pub answered: bool,
}

/// Tries for ever, in a thread of its own, since a try may take long; what came out comes through the channel.
pub fn watch() -> io::Result<mpsc::Receiver<Probe>> {
    let (tell, told) = mpsc::channel();
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, EXEC_PORT));
    std::thread::Builder::new().spawn(move || loop {
        std::thread::sleep(EVERY);
        let begun = Instant::now();
        let answered = is_ready(server, begun + PATIENCE).unwrap_or(false);
        if tell.send(Probe { begun, answered }).is_err() {
            return;
        }
    })?;
    Ok(told)
}

/// Whether `server` says so before the deadline. Whoever listens there is not trusted: the answer is bounded in size and time.
pub fn is_ready(server: SocketAddr, deadline: Instant) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&server, left(deadline)?)?;
    stream.set_write_timeout(Some(left(deadline)?))?;
    stream.write_all(REQUEST)?;
    let mut answer = [0; READY.len()];
    let mut filled = 0;
    while filled < answer.len() {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(&mut answer[filled..]) {
            Ok(0) => return Ok(false),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(answer == *READY)
}

/// The time that is left; none is an error, since a timeout of zero would mean for ever.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}
