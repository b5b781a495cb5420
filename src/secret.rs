//! Secrets that cannot be printed, and keys derived from one.
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;

/// A secret text. It has no `Display`, and `Debug` hides it; [`expose`](Self::expose) marks each use.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret into custody.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The deployment's root key, from which every other key is derived under a label of its own.
#[derive(Clone)]
pub struct RootKey([u8; 32]);

/// The configured root key is not 64 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRootKey;

impl RootKey {
    /// Reads 64 hex digits.
    pub fn parse(text: &Secret) -> Result<Self, InvalidRootKey> {
        let text = text.expose().trim().as_bytes();
        if text.len() != 64 {
            return Err(InvalidRootKey);
        }
        let mut key = [0; 32];
        for (byte, pair) in key.iter_mut().zip(text.chunks_exact(2)) {
            *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
        }
        Ok(Self(key))
    }

    /// Authenticates `message` under `label`. A code made for one label is useless under any other.
    pub fn mac(&self, label: Label, message: &[u8]) -> [u8; 32] {
        self.keyed(label, message).finalize().into_bytes().into()
    }

    /// Compares in constant time.
    pub fn verify(&self, label: Label, message: &[u8], code: &[u8]) -> bool {
        self.keyed(label, message).verify_slice(code).is_ok()
    }

    fn keyed(&self, label: Label, message: &[u8]) -> Hmac<Sha256> {
        let derived = hmac(&self.0)
            .chain_update(label.as_str())
            .finalize()
            .into_bytes();
        hmac(&derived.into()).chain_update(message)
    }
}

fn hmac(key: &[u8; 32]) -> Hmac<Sha256> {
    // 32 bytes are one HMAC block or less, and the type takes keys of every length: this is `new` without its Result.
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    <Hmac<Sha256> as hmac::digest::KeyInit>::new(&block.into())
}

fn digit(byte: u8) -> Result<u8, InvalidRootKey> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        b'A'..=b'F' => Ok(byte - b'A' + 10),
        _ => Err(InvalidRootKey),
    }
}

/// What a derived key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Props of HarnessEgress.
    HarnessEgress,
    /// Props of SandboxEgress.
    SandboxEgress,
    /// Props of BackupGateway.
    Backup,
    /// The provider's prompt cache key of a session.
    PromptCache,
    /// Keys with which what is stored is sealed.
    Seal,
}

impl Label {
    fn as_str(self) -> &'static str {
        match self {
            Self::HarnessEgress => "cloister/harness-egress/1",
            Self::SandboxEgress => "cloister/sandbox-egress/1",
            Self::Backup => "cloister/backup/1",
            Self::PromptCache => "cloister/prompt-cache/1",
            Self::Seal => "cloister/seal/1",
        }
    }
}

#[cfg(test)]
mod tests;
