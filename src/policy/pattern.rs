//! Host patterns: what an entry of a list means.
use super::address::{self, AddressClass};
use super::host::{Host, HostError};
use super::limits::MAX_ENTRY_BYTES;
use super::reserved::{is_at_or_below, is_reserved};
use std::fmt;
use std::net::IpAddr;

/// One name, all names strictly below one, or one address.
///
/// * `example.com` is that host alone.
/// * `*.example.com` is every name below it, at any depth, and not `example.com`. At least two labels follow the star. There
///   is no list of public suffixes: `*.co.uk` is what it says.
/// * `192.0.66.2`, `[2606:4700::1111]` are addresses, equal or not.
///
/// Its [`Display`](fmt::Display) is the canonical spelling, which parses to the same pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern(pub(super) Kind);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Name(String),
    Below(String),
    Address(IpAddr),
}

/// Why an entry is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// It is no host.
    Host(HostError),
    /// It has a scheme, a port, a path or userinfo.
    NotAHostAlone,
    /// A `*` that is not the whole first label of a name.
    Wildcard,
    /// `*.` before a single label.
    WildcardTooWide,
    /// `*.` before an address.
    WildcardAddress,
    /// A wildcard where none may be.
    WildcardBlocked,
    /// A name that is never reachable.
    Reserved,
    /// An address that is never reachable.
    NotPublic(AddressClass),
}

impl HostPattern {
    /// Reads an entry, whether or not it may be reached.
    pub fn parse(entry: &str) -> Result<Self, PatternError> {
        if entry.len() > MAX_ENTRY_BYTES {
            return Err(PatternError::Host(HostError::TooLong));
        }
        let has_port = !entry.starts_with('[') && entry.contains(':');
        if has_port || entry.contains(['/', '?', '#', '@']) {
            return Err(PatternError::NotAHostAlone);
        }
        let Some(base) = entry.strip_prefix("*.") else {
            if entry.contains('*') {
                return Err(PatternError::Wildcard);
            }
            return match Host::parse(entry).map_err(PatternError::Host)? {
                Host::Name(name) => Ok(Self(Kind::Name(name.into_owned()))),
                Host::V4(address) => Ok(Self(Kind::Address(address.into()))),
                Host::V6(address) => Ok(Self(Kind::Address(address.into()))),
            };
        };
        if base.contains('*') {
            return Err(PatternError::Wildcard);
        }
        match Host::parse(base).map_err(PatternError::Host)? {
            Host::Name(name) if name.contains('.') => Ok(Self(Kind::Below(name.into_owned()))),
            Host::Name(_) => Err(PatternError::WildcardTooWide),
            Host::V4(_) | Host::V6(_) => Err(PatternError::WildcardAddress),
        }
    }

    /// Reads an entry of `allowed_domains`: one that names what is never reachable is a mistake.
    pub fn parse_allowed(entry: &str) -> Result<Self, PatternError> {
        let pattern = Self::parse(entry)?;
        match &pattern.0 {
            Kind::Name(name) | Kind::Below(name) if is_reserved(name) => {
                Err(PatternError::Reserved)
            }
            Kind::Name(_) | Kind::Below(_) => Ok(pattern),
            Kind::Address(address) => match address::class(*address) {
                Some(class) => Err(PatternError::NotPublic(class)),
                None => Ok(pattern),
            },
        }
    }

    /// Reads an entry of `blocked_domains`: no wildcard, since a blocked name takes all below it with it.
    pub fn parse_blocked(entry: &str) -> Result<Self, PatternError> {
        let pattern = Self::parse(entry)?;
        match pattern.0 {
            Kind::Below(_) => Err(PatternError::WildcardBlocked),
            Kind::Name(_) | Kind::Address(_) => Ok(pattern),
        }
    }

    /// Whether it names this host, or one above it.
    pub(super) fn is_at_or_above(&self, host: &Host) -> bool {
        match (&self.0, host) {
            (Kind::Name(base) | Kind::Below(base), Host::Name(name)) => is_at_or_below(name, base),
            (Kind::Name(_) | Kind::Below(_), Host::V4(_) | Host::V6(_))
            | (Kind::Address(_), Host::Name(_) | Host::V4(_) | Host::V6(_)) => self.matches(host),
        }
    }

    /// Whether the pattern is for this host.
    pub fn matches(&self, host: &Host) -> bool {
        match (&self.0, host) {
            (Kind::Name(listed), Host::Name(name)) => listed == name,
            (Kind::Below(base), Host::Name(name)) => name != base && is_at_or_below(name, base),
            (Kind::Address(IpAddr::V4(listed)), Host::V4(address)) => listed == address,
            (Kind::Address(IpAddr::V6(listed)), Host::V6(address)) => listed == address,
            (Kind::Name(_) | Kind::Below(_), Host::V4(_) | Host::V6(_))
            | (Kind::Address(_), Host::Name(_))
            | (Kind::Address(IpAddr::V4(_)), Host::V6(_))
            | (Kind::Address(IpAddr::V6(_)), Host::V4(_)) => false,
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Name(name) => f.write_str(name),
            Kind::Below(base) => write!(f, "*.{base}"),
            Kind::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Kind::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(error) => error.fmt(f),
            Self::NotAHostAlone => f.write_str(
                "an entry is a host alone, an IPv6 address in brackets; schemes, ports and paths go into rules",
            ),
            Self::Wildcard => f.write_str("a wildcard is '*.' at the beginning, before a name"),
            Self::WildcardTooWide => f.write_str("at least two labels must follow '*.'"),
            Self::WildcardAddress => f.write_str("an address has nothing below it"),
            Self::WildcardBlocked => f.write_str(
                "no wildcard is taken here; a blocked name takes all names below it with it",
            ),
            Self::Reserved => f.write_str("this name is reserved and never reachable"),
            Self::NotPublic(_) => f.write_str("this address is not public and never reachable"),
        }
    }
}

impl std::error::Error for PatternError {}
