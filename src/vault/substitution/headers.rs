use std::fmt;

/// Most names.
const MAX_NAMES: usize = 32;
/// Longest name, bytes.
const MAX_NAME: usize = 64;

/// Headers that say how a message is read, where it goes, or whose it is. No secret belongs there.
const NEVER: [&str; 18] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "location",
    "origin",
    "range",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Names of headers in which secrets are put besides Authorization, as the operator chose them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderNames(Vec<String>);

/// What is wrong with the operator's choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderNameError {
    /// There are too many.
    TooMany,
    /// It is no header's name.
    Malformed(String),
    /// No secret goes there.
    Never(String),
}

impl HeaderNames {
    /// Reads names, in any case.
    pub fn parse(names: &[&str]) -> Result<Self, HeaderNameError> {
        if names.len() > MAX_NAMES {
            return Err(HeaderNameError::TooMany);
        }
        let name = |name: &&str| {
            let name = name.to_ascii_lowercase();
            let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            if !(1..=MAX_NAME).contains(&name.len()) || !name.bytes().all(legal) {
                return Err(HeaderNameError::Malformed(name));
            }
            if NEVER.contains(&name.as_str()) || name.starts_with("proxy-") {
                return Err(HeaderNameError::Never(name));
            }
            Ok(name)
        };
        names.iter().map(name).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn contain(&self, name: &str) -> bool {
        self.0.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for HeaderNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "at most {MAX_NAMES} names of headers"),
            Self::Malformed(name) => write!(f, "'{}' is no header's name", name.escape_debug()),
            Self::Never(name) => write!(f, "no secret is put into the header '{name}'"),
        }
    }
}

impl std::error::Error for HeaderNameError {}
