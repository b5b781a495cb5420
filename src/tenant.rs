//! Whose data it is and who is calling.
//!
//! A tenant is named by the operator's `authenticate`. Names of Durable Objects and objects in R2 are built from its
//! hash, so that they have one length and one alphabet whatever the operator chose.
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// Who is calling, as `authenticate` decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The tenant whose resources the caller may see.
    pub tenant: Tenant,
}

/// A tenant's name: 1–128 characters of `A–Z a–z 0–9 . _ -`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tenant(String);

/// The name is empty, too long or has a character that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTenant;

impl Tenant {
    /// Checks the name.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidTenant> {
        let name = name.into();
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        match name.len() {
            1..=128 if name.bytes().all(legal) => Ok(Self(name)),
            _ => Err(InvalidTenant),
        }
    }

    /// The name as the operator wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// First half of names of Durable Objects and R2 keys: 32 hex digits.
    pub fn hash(&self) -> TenantHash {
        let digest = Sha256::new_with_prefix("cloister/tenant/1\0")
            .chain_update(&self.0)
            .finalize();
        TenantHash(hex(&digest[..16]))
    }
}

impl TryFrom<String> for Tenant {
    type Error = InvalidTenant;
    fn try_from(name: String) -> Result<Self, InvalidTenant> {
        Self::new(name)
    }
}

impl From<Tenant> for String {
    fn from(tenant: Tenant) -> Self {
        tenant.0
    }
}

impl fmt::Display for InvalidTenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tenant's name is 1 to 128 characters of A-Z a-z 0-9 . _ -")
    }
}

/// Hash of a tenant's name, 32 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TenantHash(String);

impl TenantHash {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Name of the Durable Object that belongs to `id` of this tenant.
    pub fn object_name(&self, id: &str) -> String {
        format!("{}/{id}", self.0)
    }
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}

#[cfg(test)]
mod tests;
