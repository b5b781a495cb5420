//! Why a request was refused.
use super::address::AddressClass;
use super::host::{Host, HostError};
use std::fmt;

/// A refusal. Its [`Display`](fmt::Display) is for the one who asked: what was refused, why, and what would allow it. It
/// names the host, so logs take [`Reason::code`] only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial<'a> {
    /// Why.
    pub reason: Reason,
    /// The host that was asked for, if one could be read.
    pub host: Option<Host<'a>>,
    /// The port that was asked for, named or not, if one could be read.
    pub port: Option<u16>,
    /// Whether the policy itself would have allowed it, and one that narrows it did not.
    pub narrowed: bool,
}

/// A reason. Each has a stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `TRACE` and `TRACK` echo what was sent, credentials too; `CONNECT` tunnels.
    MethodRefused,
    /// No method.
    MethodMalformed,
    /// No URL that every reader would read alike, or a very long one.
    UrlMalformed,
    /// Neither `http` nor `https`.
    SchemeUnknown,
    /// The URL has userinfo.
    Userinfo,
    /// The host has bytes, labels or brackets that no host has.
    HostMalformed,
    /// The host has bytes outside ASCII.
    HostNotAscii,
    /// A port that is no number from 1 to 65535.
    PortInvalid,
    /// The Host header is not the URL's host and port.
    HostMismatch,
    /// A number that may or may not be an IPv4 address.
    AddressSpelling,
    /// An address that is never reachable.
    AddressRefused(AddressClass),
    /// A name that is never reachable.
    NameReserved,
    /// A host of this deployment.
    OwnHost,
    /// The policy could not be read.
    PolicyUnreadable,
    /// Nothing is allowed.
    NetworkDisabled,
    /// The host is not listed.
    HostNotAllowed,
    /// The host, or one above it, is blocked.
    HostBlocked,
    /// Addresses cannot be told from blocked names.
    AddressNotAllowed,
    /// The host is allowed, by another scheme.
    SchemeNotAllowed,
    /// The host is allowed, on another port.
    PortNotAllowed,
    /// The host is allowed, with another method.
    MethodNotAllowed,
    /// The host is allowed, below other paths.
    PathNotAllowed,
    /// A rule about paths applies, and the path can be read in several ways.
    PathAmbiguous,
}

impl Reason {
    /// The stable code, for logs, headers and bodies.
    pub fn code(self) -> &'static str {
        match self {
            Self::MethodRefused => "method_refused",
            Self::MethodMalformed => "method_malformed",
            Self::UrlMalformed => "url_malformed",
            Self::SchemeUnknown => "scheme_unknown",
            Self::Userinfo => "userinfo_in_url",
            Self::HostMalformed => "host_malformed",
            Self::HostNotAscii => "host_not_ascii",
            Self::PortInvalid => "port_invalid",
            Self::HostMismatch => "host_mismatch",
            Self::AddressSpelling => "address_spelling",
            Self::AddressRefused(class) => match class {
                AddressClass::Loopback => "address_loopback",
                AddressClass::Private => "address_private",
                AddressClass::LinkLocal => "address_link_local",
                AddressClass::Metadata => "address_metadata",
                AddressClass::EmbedsIpv4 => "address_embeds_ipv4",
                AddressClass::SpecialUse => "address_special_use",
            },
            Self::NameReserved => "name_reserved",
            Self::OwnHost => "own_host",
            Self::PolicyUnreadable => "policy_unreadable",
            Self::NetworkDisabled => "network_disabled",
            Self::HostNotAllowed => "host_not_allowed",
            Self::HostBlocked => "host_blocked",
            Self::AddressNotAllowed => "address_not_allowed",
            Self::SchemeNotAllowed => "scheme_not_allowed",
            Self::PortNotAllowed => "port_not_allowed",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::PathNotAllowed => "path_not_allowed",
            Self::PathAmbiguous => "path_ambiguous",
        }
    }

    /// The HTTP status to answer with.
    pub fn status(self) -> u16 {
        match self {
            Self::MethodRefused => 405,
            Self::HostMismatch => 421,
            Self::MethodMalformed
            | Self::UrlMalformed
            | Self::SchemeUnknown
            | Self::Userinfo
            | Self::HostMalformed
            | Self::HostNotAscii
            | Self::PortInvalid
            | Self::AddressSpelling
            | Self::PathAmbiguous => 400,
            Self::AddressRefused(_)
            | Self::NameReserved
            | Self::OwnHost
            | Self::PolicyUnreadable
            | Self::NetworkDisabled
            | Self::HostNotAllowed
            | Self::HostBlocked
            | Self::AddressNotAllowed
            | Self::SchemeNotAllowed
            | Self::PortNotAllowed
            | Self::MethodNotAllowed
            | Self::PathNotAllowed => 403,
        }
    }

    /// What is wrong.
    pub fn why(self) -> &'static str {
        match self {
            Self::MethodRefused => "the methods TRACE, TRACK and CONNECT are never sent on",
            Self::MethodMalformed => "the method is not made of capital letters and hyphens",
            Self::UrlMalformed => "the URL is too long, has control bytes, spaces or a '#', or is no URL",
            Self::SchemeUnknown => "only http and https are sent on",
            Self::Userinfo => "the URL has a user name or '@' before its path",
            Self::HostMalformed => "the host is not a plain name or address",
            Self::HostNotAscii => "the host has characters outside ASCII",
            Self::PortInvalid => "the port is not a number from 1 to 65535",
            Self::HostMismatch => "the Host header and the URL name different hosts or ports",
            Self::AddressSpelling => "the host is a number that may mean several addresses",
            Self::AddressRefused(class) => match class {
                AddressClass::Loopback => "loopback addresses are never reachable",
                AddressClass::Private => "addresses of private networks are never reachable",
                AddressClass::LinkLocal => "link-local addresses are never reachable",
                AddressClass::Metadata => "metadata services are never reachable",
                AddressClass::EmbedsIpv4 => {
                    "IPv6 addresses that carry an IPv4 address are never reachable"
                }
                AddressClass::SpecialUse => "this address is no public host's",
            },
            Self::NameReserved => "this name is reserved, or is no public host's",
            Self::OwnHost => "this host belongs to the gateway itself",
            Self::PolicyUnreadable => "this sandbox's network policy cannot be read, so nothing is reachable",
            Self::NetworkDisabled => "this sandbox has no network",
            Self::HostNotAllowed => "the host is not in allowed_domains",
            Self::HostBlocked => "the host, or a name above it, is in blocked_domains",
            Self::AddressNotAllowed => "with blocked_domains, hosts are reachable by name only",
            Self::SchemeNotAllowed => "no rule for this host allows this scheme",
            Self::PortNotAllowed => "this port is not allowed for this host; without a rule it is 80 for http and 443 for https",
            Self::MethodNotAllowed => "no rule for this host allows this method",
            Self::PathNotAllowed => "no rule for this host allows this path",
            Self::PathAmbiguous => "rules for this host look at the path, and this one can be read in several ways",
        }
    }

    /// What to do instead, or what would allow it.
    pub fn how(self) -> &'static str {
        match self {
            Self::MethodRefused | Self::MethodMalformed => "Use another method.",
            Self::UrlMalformed | Self::Userinfo | Self::PortInvalid => {
                "Correct the URL; credentials go into headers."
            }
            Self::SchemeUnknown => "Use http or https.",
            Self::HostMalformed => "Write the host as a plain name.",
            Self::HostNotAscii => "Write the host as A-labels (xn--…).",
            Self::HostMismatch => "Send the URL's own host in the Host header, or leave it to the client.",
            Self::AddressSpelling => "Write it as four decimal numbers without leading zeros.",
            Self::AddressRefused(_) | Self::NameReserved | Self::OwnHost => {
                "No policy can allow it. Work without it."
            }
            Self::PolicyUnreadable => "The operator has to look at this. Work without the network.",
            Self::NetworkDisabled => {
                "Work with what is in the sandbox, or ask for a session whose environment allows the host."
            }
            Self::HostNotAllowed => {
                "Work without it, or ask for a session whose allowed_domains has this host."
            }
            Self::HostBlocked => {
                "Work without it, or ask for a session whose blocked_domains does not have it."
            }
            Self::AddressNotAllowed => "Use the host's name.",
            Self::SchemeNotAllowed
            | Self::PortNotAllowed
            | Self::MethodNotAllowed
            | Self::PathNotAllowed => {
                "Work within the rules, or ask for a session whose rules allow it."
            }
            Self::PathAmbiguous => {
                "Write the path without dot segments, empty segments, ';', '\\' and coded slashes or dots."
            }
        }
    }
}

impl From<HostError> for Reason {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Empty
            | HostError::TooLong
            | HostError::Character
            | HostError::Label
            | HostError::Brackets => Self::HostMalformed,
            HostError::NotAscii => Self::HostNotAscii,
            HostError::AddressSpelling => Self::AddressSpelling,
            HostError::EmbedsIpv4 => Self::AddressRefused(AddressClass::EmbedsIpv4),
        }
    }
}

impl Denial<'_> {
    /// What to do instead, or what would allow it.
    pub fn how(&self) -> &'static str {
        if self.narrowed {
            "The template's or the operator's policy says so; this session's own cannot change it."
        } else {
            self.reason.how()
        }
    }
}

impl fmt::Display for Denial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) => write!(f, "The request to {host} was refused: ")?,
            None => f.write_str("The request was refused: ")?,
        }
        write!(f, "{}. {}", self.reason.why(), self.how())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
