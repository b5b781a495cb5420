//! One request for each part.
use std::io::Read;

use cloister_protocol::backup::{
    Announcement, Wanted, DIGEST_HEADER, MAX_ANNOUNCEMENT_BYTES, NEXT_HEADER,
};
use sha2::{Digest, Sha256};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use super::{StoreError, Timeouts};

/// Longest grant.
const MAX_GRANT: usize = 512;

#[derive(Clone, Debug)]
pub(super) struct Client {
    agent: Agent,
    base: String,
}

/// A part that was fetched, and is what it was when it was stored.
pub(super) struct Part {
    pub bytes: Vec<u8>,
    /// Grant for the one after it.
    pub next: Option<String>,
}

impl Client {
    pub fn new(base: &str, timeouts: Timeouts) -> Self {
        let config = Agent::config_builder()
            // The store is on a private link, whatever the environment says.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(timeouts.connect))
            .timeout_per_read(Some(timeouts.progress))
            .timeout_per_write(Some(timeouts.progress))
            .timeout_global(Some(timeouts.part))
            .build();
        Self {
            agent: config.into(),
            base: base.to_owned(),
        }
    }

    /// Stores a part. The grant for the one after it, if there may be one.
    pub fn put(&self, grant: &str, part: &[u8]) -> Result<Option<String>, StoreError> {
        let request = self.agent.put(self.url(grant)?);
        let request = request.header(DIGEST_HEADER, digest(part));
        let response = request.send(part).map_err(|error| failed(&error))?;
        check(&response)?;
        next(&response)
    }

    /// Fetches a part of at most so many bytes.
    pub fn get(&self, grant: &str, most: usize) -> Result<Part, StoreError> {
        let request = self.agent.get(self.url(grant)?);
        let mut response = request.call().map_err(|error| failed(&error))?;
        check(&response)?;
        let next = next(&response)?;
        let expected = header(&response, DIGEST_HEADER)?.map(str::to_owned);
        let bytes = read(&mut response, most)?;
        if bytes.is_empty() {
            return Err(StoreError::Failed("empty"));
        }
        if expected != Some(digest(&bytes)) {
            return Err(StoreError::Failed("digest"));
        }
        Ok(Part { bytes, next })
    }

    pub fn announce(&self, grant: &str, announcement: &Announcement) -> Result<Wanted, StoreError> {
        let body = serde_json::to_vec(announcement).map_err(|_| StoreError::Failed("json"))?;
        let request = self.agent.post(self.url(grant)?);
        let request = request.header("content-type", "application/json");
        let mut response = request.send(&body).map_err(|error| failed(&error))?;
        check(&response)?;
        let answer = read(&mut response, MAX_ANNOUNCEMENT_BYTES)?;
        let wanted: Wanted =
            serde_json::from_slice(&answer).map_err(|_| StoreError::Failed("json"))?;
        let known = |index: u32| (index as usize) < announcement.files.len();
        let ordered = wanted
            .files
            .windows(2)
            .all(|two| two[0].index < two[1].index);
        if ordered && wanted.files.iter().all(|file| known(file.index)) {
            Ok(wanted)
        } else {
            Err(StoreError::Failed("wanted"))
        }
    }

    fn url(&self, grant: &str) -> Result<String, StoreError> {
        // Also one from the command line or from an answer is but one segment of a path.
        if is_grant(grant) {
            Ok(format!("{}/{grant}", self.base))
        } else {
            Err(StoreError::Failed("grant"))
        }
    }
}

fn is_grant(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !text.is_empty() && text.len() <= MAX_GRANT && text.bytes().all(good)
}

fn check(response: &Response<Body>) -> Result<(), StoreError> {
    match response.status() {
        StatusCode::OK => Ok(()),
        StatusCode::FORBIDDEN => Err(StoreError::Refused),
        StatusCode::PAYLOAD_TOO_LARGE => Err(StoreError::TooLarge),
        _ => Err(StoreError::Failed("status")),
    }
}

fn next(response: &Response<Body>) -> Result<Option<String>, StoreError> {
    match header(response, NEXT_HEADER)? {
        Some(grant) if !is_grant(grant) => Err(StoreError::Failed("grant")),
        next => Ok(next.map(str::to_owned)),
    }
}

/// The header of this name, of which there is one at most.
fn header<'a>(response: &'a Response<Body>, name: &str) -> Result<Option<&'a str>, StoreError> {
    let mut values = response.headers().get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(StoreError::Failed("header")),
        },
        (Some(_), Some(_)) => Err(StoreError::Failed("header")),
    }
}

/// The body, which is no larger than this.
fn read(response: &mut Response<Body>, most: usize) -> Result<Vec<u8>, StoreError> {
    const TOO_LONG: StoreError = StoreError::Failed("length");
    let announced = response.body().content_length().unwrap_or(0);
    let announced = usize::try_from(announced).map_err(|_| TOO_LONG)?;
    if announced > most {
        return Err(TOO_LONG);
    }
    let mut bytes = Vec::with_capacity(announced);
    // One more, to see whether there is more.
    let mut reader = response.body_mut().as_reader().take(most as u64 + 1);
    let read = reader.read_to_end(&mut bytes);
    read.map_err(|_| StoreError::Failed("body"))?;
    if bytes.len() > most {
        return Err(TOO_LONG);
    }
    Ok(bytes)
}

fn failed(error: &ureq::Error) -> StoreError {
    StoreError::Failed(match error {
        ureq::Error::Timeout(_) => "timeout",
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => "connect",
        // Not an enum of ours.
        _ => "request",
    })
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
