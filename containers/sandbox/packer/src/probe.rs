//! The self-test of the sandbox's border.
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use cloister_protocol::self_test::{ALLOWED_HOST, DENIED_HOST, EGRESS_HEADER, SELF_TEST_VERDICT};

use crate::exit::Exit;

/// How long each try may take. They are made at the same time.
const LONGEST: Duration = Duration::from_millis(1500);

/// Longest head of an answer, bytes. What follows it is not read.
const MAX_ANSWER: usize = 4096;

/// A query for the address of `example.com`, as it is sent to a name server over TCP.
const QUERY: &[u8] = b"\x00\x1d\x0c\x10\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01";

/// Tries the border. `via` stands for both reserved names, for tests.
pub fn run(nonce: &str, raw: SocketAddr, via: Option<&str>) -> Result<(), Exit> {
    let ask = |host: &str| {
        let url = format!("http://{}/{nonce}", via.unwrap_or(host));
        let host = host.to_owned();
        thread::spawn(move || answer(&url, &host))
    };
    let (allowed, denied) = (ask(ALLOWED_HOST), ask(DENIED_HOST));
    let past = thread::spawn(move || gets_past(raw));
    // A thread that ended badly is no proof of anything.
    let (allowed, denied, past) = (allowed.join(), denied.join(), past.join());
    if !matches!(past, Ok(false)) {
        return Err(Exit::Open);
    }
    match allowed {
        Ok(Some((204, verdict))) if verdict == SELF_TEST_VERDICT => {}
        Ok(_) | Err(_) => return Err(Exit::Mute),
    }
    match denied {
        Ok(Some((403, verdict))) if verdict != SELF_TEST_VERDICT => Ok(()),
        Ok(_) | Err(_) => Err(Exit::Lenient),
    }
}

/// Status and verdict of an answer that the border itself makes.
fn answer(url: &str, host: &str) -> Option<(u16, String)> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .max_response_header_size(MAX_ANSWER)
        .timeout_global(Some(LONGEST));
    let agent: ureq::Agent = config.build().into();
    let response = agent.get(url).header("host", host).call().ok()?;
    let verdict = response.headers().get(EGRESS_HEADER)?;
    Some((
        response.status().as_u16(),
        verdict.to_str().ok()?.to_owned(),
    ))
}

/// Whether anything comes back from a name server past the border.
fn gets_past(address: SocketAddr) -> bool {
    let end = Instant::now() + LONGEST;
    let Ok(mut stream) = TcpStream::connect_timeout(&address, LONGEST) else {
        return false;
    };
    let left = end
        .saturating_duration_since(Instant::now())
        .max(Duration::from_millis(1));
    let ready = stream
        .set_read_timeout(Some(left))
        .and_then(|()| stream.set_write_timeout(Some(left)))
        .and_then(|()| stream.write_all(QUERY));
    ready.is_ok() && matches!(stream.read(&mut [0; 1]), Ok(1..))
}

#[cfg(test)]
mod tests;
