//! What requests say of vaults and credentials. No error repeats a secret.
mod auth;
mod rotation;
mod secret;
#[cfg(test)]
mod tests;

use super::Change;
use crate::vault::{Auth, Rotation};
use crate::wire::error::ApiError;
use crate::wire::fields::Fields;
use crate::wire::json::Object;
use std::collections::BTreeMap;

/// Longest name of a vault or credential, bytes.
const MAX_NAME: usize = 256;

/// A credential's `type`.
#[derive(Clone, Copy)]
enum Kind {
    McpOauth,
    StaticBearer,
    EnvironmentVariable,
}

const KINDS: [(&str, Kind); 3] = [
    ("mcp_oauth", Kind::McpOauth),
    ("static_bearer", Kind::StaticBearer),
    ("environment_variable", Kind::EnvironmentVariable),
];

/// The body of `POST /v1/vaults`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VaultCreate {
    /// The name.
    pub name: Option<String>,
    /// The client's own notes.
    pub metadata: BTreeMap<String, String>,
}

/// The body of `POST /v1/vaults/{vault}`. An empty one changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VaultUpdate {
    /// The name.
    pub name: Change<Option<String>>,
    /// The client's own notes: all of them.
    pub metadata: Change<BTreeMap<String, String>>,
}

/// The body of `POST /v1/vaults/{vault}/credentials`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialCreate {
    /// The name.
    pub name: String,
    /// The secrets, and what belongs to them.
    pub auth: Auth,
    /// The client's own notes.
    pub metadata: BTreeMap<String, String>,
}

/// The body of `POST /v1/vaults/{vault}/credentials/{credential}`. It changes something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialUpdate {
    /// New secrets.
    pub auth: Option<Rotation>,
    /// The client's own notes: all of them.
    pub metadata: Change<BTreeMap<String, String>>,
}

impl VaultCreate {
    /// Reads a body.
    pub fn read(body: Object) -> Result<Self, ApiError> {
        let mut fields = Fields::body(body);
        fields.not_null("name", "a string")?;
        let create = Self {
            name: name(&mut fields)?,
            metadata: fields.metadata("metadata")?,
        };
        fields.finish()?;
        Ok(create)
    }
}

impl VaultUpdate {
    /// Reads a body.
    pub fn read(body: Object) -> Result<Self, ApiError> {
        let mut fields = Fields::body(body);
        let update = Self {
            name: Change::of(&mut fields, "name", name)?,
            metadata: Change::of(&mut fields, "metadata", metadata)?,
        };
        fields.finish()?;
        Ok(update)
    }
}

impl CredentialCreate {
    /// Reads a body.
    pub fn read(body: Object) -> Result<Self, ApiError> {
        let mut fields = Fields::body(body);
        fields.not_null("name", "a string")?;
        let name = name(&mut fields)?.ok_or_else(|| ApiError::missing("name"))?;
        let auth = Fields::of(fields.require("auth")?, fields.path_of("auth"))?;
        let create = Self {
            name,
            auth: auth::read(auth)?,
            metadata: metadata(&mut fields)?,
        };
        fields.finish()?;
        Ok(create)
    }
}

impl CredentialUpdate {
    /// Reads a body.
    pub fn read(body: Object) -> Result<Self, ApiError> {
        let mut fields = Fields::body(body);
        let auth = fields.object_not_null("auth")?;
        let update = Self {
            auth: auth.map(rotation::read).transpose()?,
            metadata: Change::of(&mut fields, "metadata", metadata)?,
        };
        fields.finish()?;
        if update.auth.is_none() && update.metadata.is_keep() {
            return Err(ApiError::invalid(
                "At least one of 'auth' and 'metadata' is required.",
            ));
        }
        Ok(update)
    }
}

/// A name without the spaces around it.
fn name(fields: &mut Fields) -> Result<Option<String>, ApiError> {
    let path = fields.path_of("name");
    let Some(name) = fields.string("name", 0, super::MAX_TEXT)? else {
        return Ok(None);
    };
    let name = name.trim();
    if name.is_empty() {
        return Err(ApiError::wrong_length(&path, "string", 1, MAX_NAME, 0));
    }
    if name.len() > MAX_NAME {
        return Err(ApiError::too_many_bytes(&path, MAX_NAME, name.len()));
    }
    Ok(Some(name.to_owned()))
}

/// Metadata that may be left out but not be null.
fn metadata(fields: &mut Fields) -> Result<BTreeMap<String, String>, ApiError> {
    fields.not_null("metadata", "an object")?;
    fields.metadata("metadata")
}
