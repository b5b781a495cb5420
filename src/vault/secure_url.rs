use crate::policy::{Access, CompiledPolicy, Decision, EgressPolicy, Head, OwnHosts, PolicyConfig};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The `https` URL of a public host, to which a credential may be sent: no userinfo, no fragment, nothing that two readers
/// would read differently. That the host is none of the deployment's own is for whoever dials to see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecureUrl {
    written: String,
    canonical: String,
}

/// The text is no such URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSecure;

impl SecureUrl {
    /// Reads one, as strictly as egress policies read what is requested.
    pub fn parse(text: &str) -> Result<Self, NotSecure> {
        let scheme = text.get(..8).ok_or(NotSecure)?;
        if !scheme.eq_ignore_ascii_case("https://") {
            return Err(NotSecure);
        }
        let public = EgressPolicy::parse(&PolicyConfig::new(Access::Enabled));
        let public = CompiledPolicy::new(&public.map_err(|_| NotSecure)?, &OwnHosts::default());
        let head = Head {
            url: text,
            method: "POST",
            host: None,
        };
        match public.decide(&head) {
            Decision::Allow { target, .. } => Ok(Self {
                written: text.to_owned(),
                canonical: target.to_string(),
            }),
            Decision::Deny(_) => Err(NotSecure),
        }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// The URL to dial: host in lower case, no default port.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Whether both name the same server: host and port in whatever spelling, path and query to the byte.
    pub fn is_same(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl TryFrom<String> for SecureUrl {
    type Error = NotSecure;

    fn try_from(text: String) -> Result<Self, NotSecure> {
        Self::parse(&text)
    }
}

impl From<SecureUrl> for String {
    fn from(url: SecureUrl) -> Self {
        url.written
    }
}

impl fmt::Display for NotSecure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected the https URL of a public host, without userinfo and fragment")
    }
}

impl std::error::Error for NotSecure {}
