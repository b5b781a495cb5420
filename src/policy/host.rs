//! Hosts: which one a text names, if every reader would agree.
use super::limits::MAX_ENTRY_BYTES;
use std::borrow::Cow;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A host in its one spelling: lower case, no trailing dot, addresses as numbers.
///
/// ```
/// use cloister::policy::Host;
///
/// assert_eq!(Host::parse("API.Example.com.").unwrap().to_string(), "api.example.com");
/// assert!(Host::parse("0x7f.1").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host<'a> {
    /// A name: labels of `a-z 0-9 - _`, none empty, none with a hyphen at an end, 253 bytes at most.
    Name(Cow<'a, str>),
    /// Four decimal numbers without leading zeros.
    V4(Ipv4Addr),
    /// In brackets.
    V6(Ipv6Addr),
}

/// Why a text names no host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    /// There is nothing.
    Empty,
    /// Longer than 253 bytes.
    TooLong,
    /// A byte outside ASCII. Such names are written as A-labels (`xn--…`), which every reader takes for the same name.
    NotAscii,
    /// A byte that no host has: a control byte, a space, `%`, `\`, `@`, …
    Character,
    /// A label is empty, longer than 63 bytes, or has a hyphen at an end.
    Label,
    /// A number that some readers take for an IPv4 address: octal, hexadecimal, with fewer or more parts than four.
    AddressSpelling,
    /// What is in brackets, or has a bracket missing, is no IPv6 address; or it has a zone.
    Brackets,
    /// An IPv6 address with an IPv4 address written at its end.
    EmbedsIpv4,
}

impl<'a> Host<'a> {
    /// Reads a host as it stands in a URL: one trailing dot is taken off, upper case is mapped, and everything that
    /// readers disagree about is refused. It allocates for a name with upper case only.
    pub fn parse(text: &'a str) -> Result<Self, HostError> {
        if let Some(rest) = text.strip_prefix('[') {
            return v6(rest.strip_suffix(']').ok_or(HostError::Brackets)?).map(Self::V6);
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.is_empty() {
            return Err(HostError::Empty);
        }
        if name.len() > MAX_ENTRY_BYTES {
            return Err(HostError::TooLong);
        }
        let (upper, last) = check_labels(name.as_bytes())?;
        if is_number(last) {
            let address = name.parse().map_err(|_| HostError::AddressSpelling)?;
            return Ok(Self::V4(address));
        }
        Ok(Self::Name(if upper {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        }))
    }
}

/// Checks the bytes of a name. Returns whether there are capitals among them, and the last label.
fn check_labels(name: &[u8]) -> Result<(bool, &[u8]), HostError> {
    let mut upper = false;
    let mut start = 0;
    for (at, &byte) in name.iter().enumerate() {
        match byte {
            b'.' => {
                check_label(&name[start..at])?;
                start = at + 1;
            }
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => {}
            b'A'..=b'Z' => upper = true,
            0x80.. => return Err(HostError::NotAscii),
            _ => return Err(HostError::Character),
        }
    }
    check_label(&name[start..])?;
    Ok((upper, &name[start..]))
}

fn check_label(label: &[u8]) -> Result<(), HostError> {
    match label {
        [] | [b'-', ..] | [.., b'-'] => Err(HostError::Label),
        label if label.len() > 63 => Err(HostError::Label),
        _ => Ok(()),
    }
}

/// Whether a name that ends in this label is an IPv4 address to those who read URLs as the WHATWG has it.
fn is_number(label: &[u8]) -> bool {
    match label {
        [b'0', b'x' | b'X', hex @ ..] => hex.iter().all(u8::is_ascii_hexdigit),
        digits => digits.iter().all(u8::is_ascii_digit),
    }
}

fn v6(text: &str) -> Result<Ipv6Addr, HostError> {
    let address = text.parse().map_err(|_| HostError::Brackets)?;
    if text.contains('.') {
        return Err(HostError::EmbedsIpv4);
    }
    Ok(address)
}

impl fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::V4(address) => write!(f, "{address}"),
            Self::V6(address) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "there is no host",
            Self::TooLong => "a host has 253 bytes at most",
            Self::NotAscii => "a host is written in ASCII; other names as A-labels (xn--…)",
            Self::Character => "a host has only letters, digits, hyphens, underscores and dots",
            Self::Label => "a part between two dots is empty, too long, or has a hyphen at an end",
            Self::AddressSpelling => {
                "an IPv4 address is four decimal numbers without leading zeros"
            }
            Self::Brackets => "brackets hold an IPv6 address without a zone, and nothing else",
            Self::EmbedsIpv4 => "an IPv6 address that carries an IPv4 address is never reachable",
        })
    }
}

impl std::error::Error for HostError {}
