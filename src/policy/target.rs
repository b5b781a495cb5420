//! What a request asks for: a URL, read so that nobody can read it otherwise.
use super::host::Host;
use super::limits::{MAX_METHOD_BYTES, MAX_URL_BYTES};
use super::reason::Reason;
use std::fmt;

/// A request's head, as it came.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The URL as the entrypoint has it.
    pub url: &'a str,
    /// The method as the client sent it.
    pub method: &'a str,
    /// The Host header as the client sent it, where it can be seen.
    pub host: Option<&'a str>,
}

/// `http` or `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// Plain.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Http, Self::Https]
            .into_iter()
            .find(|scheme| word.eq_ignore_ascii_case(scheme.as_str()))
    }

    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port of a URL that names none.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// What was judged. Only this may be dialled: its [`Display`](fmt::Display) is the URL to fetch, whose host is the one that
/// was judged, in its canonical spelling. A Host header must be made from it, never copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// How.
    pub scheme: Scheme,
    /// Whom.
    pub host: Host<'a>,
    /// The port, named or not; never 0.
    pub port: u16,
    /// The path as it came; at least `/`.
    pub path: &'a str,
    /// What followed the first `?`, as it came.
    pub query: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// Reads `scheme://host[:port][/path][?query]`. Everything else is refused: userinfo, fragments, spaces, control bytes.
    /// Bytes of path and query that have a meaning to some readers only are left alone; a rule about paths
    /// [refuses](super::path::is_ambiguous) them.
    pub(super) fn parse(url: &'a str) -> Result<Self, Reason> {
        if url.len() > MAX_URL_BYTES {
            return Err(Reason::UrlMalformed);
        }
        let (scheme, rest) = url.split_once(':').ok_or(Reason::UrlMalformed)?;
        let scheme = Scheme::parse(scheme).ok_or(Reason::SchemeUnknown)?;
        let rest = rest.strip_prefix("//").ok_or(Reason::UrlMalformed)?;
        let ends = |byte| matches!(byte, b'/' | b'?');
        let end = rest.bytes().position(ends).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (host, port) = authority_of(authority)?;
        let illegal = |bad, &b: &u8| bad | (b <= b' ') | (b == 0x7f) | (b == b'#');
        if rest.as_bytes().iter().fold(false, illegal) {
            return Err(Reason::UrlMalformed);
        }
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        Ok(Self {
            scheme,
            host,
            port: port.unwrap_or(scheme.default_port()),
            path: if path.is_empty() { "/" } else { path },
            query,
        })
    }

    /// Whether a Host header names the same host and port.
    pub(super) fn is_named_by(&self, header: &str) -> bool {
        authority_of(header).is_ok_and(|(host, port)| {
            host == self.host && port.unwrap_or(self.scheme.default_port()) == self.port
        })
    }
}

/// `host[:port]`.
fn authority_of(text: &str) -> Result<(Host<'_>, Option<u16>), Reason> {
    match Host::parse(text) {
        Ok(host) => Ok((host, None)),
        Err(_) if text.contains('@') => Err(Reason::Userinfo),
        Err(error) => {
            // The colons of an IPv6 address are inside its brackets.
            let start = text.rfind(']').unwrap_or(0);
            let colon = text[start..].find(':').ok_or(Reason::from(error))?;
            let (host, port) = text.split_at(start + colon);
            Ok((Host::parse(host)?, Some(port_of(&port[1..])?)))
        }
    }
}

fn port_of(digits: &str) -> Result<u16, Reason> {
    match digits.as_bytes() {
        [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => {
            digits.parse().map_err(|_| Reason::PortInvalid)
        }
        _ => Err(Reason::PortInvalid),
    }
}

/// Refuses methods that are never sent on: those that echo or tunnel, and what is no method.
pub(super) fn check_method(method: &str) -> Result<(), Reason> {
    let never = ["TRACE", "TRACK", "CONNECT"];
    if never.iter().any(|one| one.eq_ignore_ascii_case(method)) {
        return Err(Reason::MethodRefused);
    }
    let legal = |byte: u8| byte.is_ascii_uppercase() || byte == b'-';
    match method.len() {
        1..=MAX_METHOD_BYTES if method.bytes().all(legal) => Ok(()),
        _ => Err(Reason::MethodMalformed),
    }
}

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        f.write_str(self.path)?;
        match self.query {
            Some(query) => write!(f, "?{query}"),
            None => Ok(()),
        }
    }
}
