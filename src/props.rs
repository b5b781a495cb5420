//! Props of the egress entrypoints: which container is speaking.
//!
//! Any Worker of the account can bind an entrypoint with props of its choice, so props are no authority by
//! themselves. They carry ids and a code that only a Durable Object of this deployment can make; what the container may
//! do is asked of that object on each request.
use crate::secret::{Label, RootKey};
use crate::tenant::hex;
use serde::{Deserialize, Serialize};

/// Identity of one container instance, as the Durable Object that started it states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainerProps {
    /// Name of the Durable Object that owns the container.
    pub object: String,
    /// Epoch of the container instance.
    pub epoch: u64,
    /// When these props end, Unix milliseconds.
    pub expires_at: u64,
    /// Code over the other fields, hex.
    pub mac: String,
}

/// Why props were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropsError {
    /// The code does not match: another Worker made them up, or the key changed.
    Forged,
    /// They are too old.
    Expired,
}

impl ContainerProps {
    /// Makes props for `object`'s container instance `epoch`.
    pub fn issue(key: &RootKey, label: Label, object: &str, epoch: u64, expires_at: u64) -> Self {
        let mac = hex(&key.mac(label, &message(object, epoch, expires_at)));
        Self {
            object: object.to_owned(),
            epoch,
            expires_at,
            mac,
        }
    }

    /// Checks the code, then the time.
    pub fn verify(&self, key: &RootKey, label: Label, now: u64) -> Result<(), PropsError> {
        let code = unhex(&self.mac).ok_or(PropsError::Forged)?;
        if !key.verify(
            label,
            &message(&self.object, self.epoch, self.expires_at),
            &code,
        ) {
            return Err(PropsError::Forged);
        }
        if now >= self.expires_at {
            return Err(PropsError::Expired);
        }
        Ok(())
    }
}

impl PropsError {
    /// Stable code for logs and answers.
    pub fn code(self) -> &'static str {
        match self {
            Self::Forged => "props_forged",
            Self::Expired => "props_expired",
        }
    }
}

/// The fields with fixed-length numbers first, so that no two sets of fields give the same bytes.
fn message(object: &str, epoch: u64, expires_at: u64) -> Vec<u8> {
    [
        &epoch.to_be_bytes()[..],
        &expires_at.to_be_bytes(),
        object.as_bytes(),
    ]
    .concat()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    (0..32)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests;
