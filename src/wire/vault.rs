//! Vaults and their credentials as they are answered: never with a secret.
mod fault;
mod query;
#[cfg(test)]
mod tests;

use super::deleted::Deleted;
use super::request::{CredentialCreate, VaultCreate, VaultUpdate};
use crate::vault::{timestamp, Auth, ClientMethod, Networking};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use query::VaultListQuery;

/// A vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vault {
    /// `vault_…`.
    pub id: String,
    /// Always the same word.
    pub object: VaultObject,
    /// When it was created, in seconds.
    pub created_at: u64,
    /// Its name.
    pub name: Option<String>,
    /// The client's own notes.
    pub metadata: BTreeMap<String, String>,
}

/// `vault`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum VaultObject {
    /// The word.
    #[default]
    #[serde(rename = "vault")]
    Vault,
}

/// A credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// `cred_…`.
    pub id: String,
    /// Always the same word.
    pub object: CredentialObject,
    /// The vault that it is in.
    pub vault_id: String,
    /// Its name.
    pub name: String,
    /// What of it is no secret.
    pub auth: CredentialAuth,
    /// The client's own notes.
    pub metadata: BTreeMap<String, String>,
    /// When it was created, in seconds.
    pub created_at: u64,
    /// When it was last changed, by its client or by a refresh.
    pub updated_at: u64,
}

/// `vault.credential`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CredentialObject {
    /// The word.
    #[default]
    #[serde(rename = "vault.credential")]
    Credential,
}

/// What of a credential is no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CredentialAuth {
    /// Tokens for an MCP server that expire.
    McpOauth {
        /// The server.
        mcp_server_url: String,
        /// Until when the access token is good, in UTC.
        expires_at: Option<String>,
        /// How it is refreshed.
        refresh: Option<CredentialRefresh>,
    },
    /// A token for an MCP server.
    StaticBearer {
        /// The server.
        mcp_server_url: String,
    },
    /// A secret for a sandbox's requests.
    EnvironmentVariable {
        /// The variable.
        secret_name: String,
        /// Who may get it.
        networking: Networking,
    },
}

/// How an access token is refreshed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialRefresh {
    /// Who asks.
    pub client_id: String,
    /// `resource` of the request.
    pub resource: Option<String>,
    /// `scope` of the request.
    pub scope: Option<String>,
    /// Where.
    pub token_endpoint: String,
    /// How the client proves that it is the one.
    pub token_endpoint_auth: TokenEndpointAuth,
}

/// How a client proves at a token endpoint that it is the one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenEndpointAuth {
    /// The method.
    #[serde(rename = "type")]
    pub method: ClientMethod,
}

impl Vault {
    /// A new one.
    pub fn new(create: VaultCreate, id: String, now: u64) -> Self {
        Self {
            id,
            object: VaultObject::Vault,
            created_at: now,
            name: create.name,
            metadata: create.metadata,
        }
    }

    /// Changes it.
    pub fn update(&mut self, update: VaultUpdate) {
        update.name.apply(&mut self.name);
        update.metadata.apply(&mut self.metadata);
    }

    /// The answer to its deletion.
    pub fn deleted(id: String) -> Deleted {
        Deleted {
            id,
            object: "vault.deleted",
            deleted: true,
        }
    }
}

impl Credential {
    /// A new one.
    pub fn new(create: &CredentialCreate, id: String, vault_id: String, now: u64) -> Self {
        Self {
            id,
            object: CredentialObject::Credential,
            vault_id,
            name: create.name.clone(),
            auth: CredentialAuth::from(&create.auth),
            metadata: create.metadata.clone(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Says what of its secrets' surroundings has changed, by a rotation or a refresh.
    pub fn changed(&mut self, auth: &Auth, now: u64) {
        self.auth = CredentialAuth::from(auth);
        self.updated_at = now;
    }

    /// The answer to its deletion.
    pub fn deleted(id: String) -> Deleted {
        Deleted {
            id,
            object: "vault.credential.deleted",
            deleted: true,
        }
    }
}

impl From<&Auth> for CredentialAuth {
    fn from(auth: &Auth) -> Self {
        match auth {
            Auth::McpOauth(oauth) => Self::McpOauth {
                mcp_server_url: oauth.server.as_str().to_owned(),
                expires_at: oauth.expires_at.map(timestamp::write),
                refresh: oauth.refresh.as_ref().map(|refresh| CredentialRefresh {
                    client_id: refresh.client_id.clone(),
                    resource: refresh.resource.clone(),
                    scope: refresh.scope.clone(),
                    token_endpoint: refresh.token_endpoint.as_str().to_owned(),
                    token_endpoint_auth: TokenEndpointAuth {
                        method: refresh.client.method(),
                    },
                }),
            },
            Auth::StaticBearer(bearer) => Self::StaticBearer {
                mcp_server_url: bearer.server.as_str().to_owned(),
            },
            Auth::EnvironmentVariable(variable) => Self::EnvironmentVariable {
                secret_name: variable.name.clone(),
                networking: variable.networking.clone(),
            },
        }
    }
}
