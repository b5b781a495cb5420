//! What a client changes of a credential.
use super::{Auth, ClientMethod, Oauth, Phase, Refresh, Rejection};
use crate::secret::Secret;
use std::fmt;

/// New secrets for a credential. URLs, names and networking never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Of `mcp_oauth`.
    McpOauth(OauthRotation),
    /// Of `static_bearer`.
    StaticBearer {
        /// The new token.
        token: Secret,
    },
    /// Of `environment_variable`. Sandboxes that run keep the old one.
    EnvironmentVariable {
        /// The new value.
        value: Secret,
    },
}

/// New tokens. In an option of an option, the outer `None` keeps what is, the inner one clears it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OauthRotation {
    /// The new access token. Without a new expiry, it has none.
    pub access_token: Option<Secret>,
    /// The new expiry, in seconds.
    pub expires_at: Option<Option<u64>>,
    /// How it is refreshed from now on.
    pub refresh: Option<RefreshRotation>,
}

/// What is different when the token is refreshed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefreshRotation {
    /// The new refresh token.
    pub refresh_token: Option<Secret>,
    /// The new scope.
    pub scope: Option<Option<String>>,
    /// The new client secret.
    pub client: Option<ClientRotation>,
}

/// A new client secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRotation {
    /// The method, which stays.
    pub method: ClientMethod,
    /// The secret; `None` keeps it.
    pub secret: Option<Secret>,
}

/// Why a credential cannot be rotated like that. Nothing of it has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationError {
    /// The credential is of another kind.
    OtherKind,
    /// There is no refresh to change.
    NoRefresh,
    /// The client proves itself in another way, or not at all.
    OtherMethod,
}

impl Auth {
    /// Changes the credential, or nothing of it.
    pub fn rotate(&mut self, rotation: Rotation) -> Result<(), RotationError> {
        match (self, rotation) {
            (Self::McpOauth(oauth), Rotation::McpOauth(rotation)) => oauth.rotate(rotation)?,
            (Self::StaticBearer(bearer), Rotation::StaticBearer { token }) => bearer.token = token,
            (Self::EnvironmentVariable(variable), Rotation::EnvironmentVariable { value }) => {
                variable.value = value;
            }
            (
                Self::McpOauth(_) | Self::StaticBearer(_) | Self::EnvironmentVariable(_),
                Rotation::McpOauth(_)
                | Rotation::StaticBearer { .. }
                | Rotation::EnvironmentVariable { .. },
            ) => return Err(RotationError::OtherKind),
        }
        Ok(())
    }
}

impl Oauth {
    fn rotate(&mut self, rotation: OauthRotation) -> Result<(), RotationError> {
        if let Some(changes) = rotation.refresh {
            let refresh = self.refresh.as_mut().ok_or(RotationError::NoRefresh)?;
            refresh.rotate(changes)?;
        }
        if let Some(token) = rotation.access_token {
            self.access_token = token;
            self.expires_at = None;
            self.version += 1;
            self.refreshed_at = None;
        }
        if let Some(expires_at) = rotation.expires_at {
            self.expires_at = expires_at;
        }
        Ok(())
    }
}

impl Refresh {
    fn rotate(&mut self, changes: RefreshRotation) -> Result<(), RotationError> {
        if let Some(client) = changes.client {
            let same = client.method == self.client.method();
            let secret = self.client.secret_mut().filter(|_| same);
            let secret = secret.ok_or(RotationError::OtherMethod)?;
            if let Some(new) = client.secret {
                *secret = new;
            }
        }
        if let Some(scope) = changes.scope {
            self.scope = scope;
        }
        if let Some(token) = changes.refresh_token {
            self.refresh_token = token;
            self.phase = Phase::Ready { not_before: 0 };
            return Ok(());
        }
        // What was refused for another reason than the refresh token may be granted now.
        match self.phase {
            Phase::Rejected {
                rejection: Rejection::InvalidGrant,
            }
            | Phase::Ready { .. }
            | Phase::Reserved { .. }
            | Phase::Unknown { .. } => {}
            Phase::Rejected {
                rejection:
                    Rejection::InvalidClient
                    | Rejection::InvalidScope
                    | Rejection::InvalidTarget
                    | Rejection::Redirected
                    | Rejection::Other,
            } => self.phase = Phase::Ready { not_before: 0 },
        }
        Ok(())
    }
}

impl fmt::Display for RotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherKind => "a credential's type cannot change",
            Self::NoRefresh => "the credential was created without 'refresh'",
            Self::OtherMethod => "the method cannot change, and 'none' has nothing to rotate",
        })
    }
}

impl std::error::Error for RotationError {}
