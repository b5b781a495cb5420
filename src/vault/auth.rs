//! Credentials.
use super::SecureUrl;
use crate::secret::Secret;
use serde::{Deserialize, Serialize};

/// Longest token, client secret or client id, bytes. What is longer fits into no header.
pub const MAX_TOKEN: usize = 32 << 10;

/// Longest value of a variable, bytes.
pub const MAX_VALUE: usize = 1 << 20;

/// Most hosts of one credential.
pub const MAX_HOSTS: usize = 16;

/// A credential's secrets, and what belongs to them. `S` is a secret: text only while it is sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Auth<S = Secret> {
    /// Tokens for an MCP server that expire.
    McpOauth(Oauth<S>),
    /// A token for an MCP server.
    StaticBearer(StaticBearer<S>),
    /// A secret that a sandbox has a placeholder of.
    EnvironmentVariable(Variable<S>),
}

/// `mcp_oauth`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oauth<S = Secret> {
    /// The MCP server.
    pub server: SecureUrl,
    /// What it is shown.
    pub access_token: S,
    /// Until when, in seconds; `None` if that is not known.
    pub expires_at: Option<u64>,
    /// Rises with each access token.
    pub version: u64,
    /// When the access token came from the token endpoint, if it did.
    pub refreshed_at: Option<u64>,
    /// How to get the next one, if that is possible.
    pub refresh: Option<Refresh<S>>,
}

/// How an access token is refreshed, and how that stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refresh<S = Secret> {
    /// Who asks.
    pub client_id: String,
    /// With what.
    pub refresh_token: S,
    /// Where.
    pub token_endpoint: SecureUrl,
    /// How the client proves that it is the one.
    pub client: ClientAuth<S>,
    /// `resource` of the request.
    pub resource: Option<String>,
    /// `scope` of the request.
    pub scope: Option<String>,
    /// How it stands.
    pub phase: Phase,
    /// Refreshes begun so far.
    pub attempts: u64,
}

/// How a client proves at the token endpoint that it is the one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum ClientAuth<S = Secret> {
    /// Not at all.
    None,
    /// In the Authorization header.
    Basic {
        /// Its secret.
        secret: S,
    },
    /// In the form.
    Post {
        /// Its secret.
        secret: S,
    },
}

/// [`ClientAuth`] without the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientMethod {
    /// Not at all.
    #[serde(rename = "none")]
    None,
    /// In the Authorization header.
    #[serde(rename = "client_secret_basic")]
    Basic,
    /// In the form.
    #[serde(rename = "client_secret_post")]
    Post,
}

/// How the refresh of a credential stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// The refresh token may be sent.
    Ready {
        /// Not before this, in seconds.
        not_before: u64,
    },
    /// It may be under way.
    Reserved {
        /// Which attempt.
        attempt: u64,
        /// When its outcome counts as lost.
        until: u64,
    },
    /// It was sent, and nobody knows what came of it: it is never sent again.
    Unknown {
        /// Which attempt.
        attempt: u64,
    },
    /// The token endpoint said no.
    Rejected {
        /// Why.
        rejection: super::Rejection,
    },
}

/// `static_bearer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaticBearer<S = Secret> {
    /// The MCP server.
    pub server: SecureUrl,
    /// What it is shown.
    pub token: S,
}

/// `environment_variable`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable<S = Secret> {
    /// The variable in which the sandbox finds the placeholder.
    pub name: String,
    /// What the placeholder stands for.
    pub value: S,
    /// Who may get it.
    pub networking: Networking,
}

/// Which hosts may get a secret. The egress policy has to allow them besides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Networking {
    /// These.
    Limited {
        /// Names and IPv4 addresses in their canonical spelling.
        allowed_hosts: Vec<String>,
    },
    /// All that the policy lists by name.
    Unrestricted,
}

impl<S> Auth<S> {
    /// The same with each secret in another form.
    pub(super) fn map<'a, T>(&'a self, f: impl Fn(&'a S) -> T) -> Auth<T> {
        match self {
            Self::McpOauth(oauth) => Auth::McpOauth(Oauth {
                server: oauth.server.clone(),
                access_token: f(&oauth.access_token),
                expires_at: oauth.expires_at,
                version: oauth.version,
                refreshed_at: oauth.refreshed_at,
                refresh: oauth.refresh.as_ref().map(|refresh| refresh.map(&f)),
            }),
            Self::StaticBearer(bearer) => Auth::StaticBearer(StaticBearer {
                server: bearer.server.clone(),
                token: f(&bearer.token),
            }),
            Self::EnvironmentVariable(variable) => Auth::EnvironmentVariable(Variable {
                name: variable.name.clone(),
                value: f(&variable.value),
                networking: variable.networking.clone(),
            }),
        }
    }

    /// The MCP server that it is for.
    pub fn server(&self) -> Option<&SecureUrl> {
        match self {
            Self::McpOauth(oauth) => Some(&oauth.server),
            Self::StaticBearer(bearer) => Some(&bearer.server),
            Self::EnvironmentVariable(_) => None,
        }
    }
}

impl<S> Refresh<S> {
    fn map<'a, T>(&'a self, f: &impl Fn(&'a S) -> T) -> Refresh<T> {
        Refresh {
            client_id: self.client_id.clone(),
            refresh_token: f(&self.refresh_token),
            token_endpoint: self.token_endpoint.clone(),
            client: match &self.client {
                ClientAuth::None => ClientAuth::None,
                ClientAuth::Basic { secret } => ClientAuth::Basic { secret: f(secret) },
                ClientAuth::Post { secret } => ClientAuth::Post { secret: f(secret) },
            },
            resource: self.resource.clone(),
            scope: self.scope.clone(),
            phase: self.phase,
            attempts: self.attempts,
        }
    }
}

impl<S> ClientAuth<S> {
    /// How, without the secret.
    pub fn method(&self) -> ClientMethod {
        match self {
            Self::None => ClientMethod::None,
            Self::Basic { .. } => ClientMethod::Basic,
            Self::Post { .. } => ClientMethod::Post,
        }
    }

    /// The secret.
    pub(super) fn secret_mut(&mut self) -> Option<&mut S> {
        match self {
            Self::None => None,
            Self::Basic { secret } | Self::Post { secret } => Some(secret),
        }
    }
}

/// Whether a text can be a bearer token: visible ASCII, so that it is one word of a header.
pub(crate) fn is_token(text: &str) -> bool {
    (1..=MAX_TOKEN).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a text can be a member of a token request: it has something, and no control characters.
pub(crate) fn is_member(text: &str) -> bool {
    (1..=MAX_TOKEN).contains(&text.len()) && !text.chars().any(char::is_control)
}
