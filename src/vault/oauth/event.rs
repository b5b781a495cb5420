use serde::{Deserialize, Serialize};
use std::fmt;

/// What became of a refresh, as a client is told. It has nothing of what the token endpoint wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// There is a new access token.
    Refreshed,
    /// Nothing was sent, or it was too early: it is tried again.
    Postponed {
        /// Not before this, in seconds.
        until: u64,
    },
    /// The token endpoint said no.
    Rejected(Rejection),
    /// Nobody knows.
    Unknown,
}

/// Why a token endpoint gives no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// The refresh token is expired, revoked or used up.
    InvalidGrant,
    /// It does not know the client, or its secret is wrong.
    InvalidClient,
    /// The scope is not for this client.
    InvalidScope,
    /// The resource is not for this client.
    InvalidTarget,
    /// It answered with a redirect, which is never followed.
    Redirected,
    /// Another reason.
    Other,
}

impl Event {
    /// Its stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Refreshed => "credential_refreshed",
            Self::Postponed { .. } => "credential_refresh_postponed",
            Self::Rejected(_) => "credential_refresh_rejected",
            Self::Unknown => "credential_refresh_unknown",
        }
    }
}

impl Rejection {
    /// Its stable code: OAuth's own, where it has one.
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidClient => "invalid_client",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::Redirected => "redirected",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refreshed => f.write_str("the access token was refreshed"),
            Self::Postponed { .. } => {
                f.write_str("the token endpoint could not be asked; it is tried again")
            }
            Self::Rejected(rejection) => write!(
                f,
                "the token endpoint refused to refresh the access token ({}); rotate the credential",
                rejection.code()
            ),
            Self::Unknown => f.write_str(
                "the answer to a refresh was lost, and the refresh token is not sent again; rotate the credential",
            ),
        }
    }
}
