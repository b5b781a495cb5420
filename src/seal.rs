//! Texts that are stored and must not be readable where they are stored.
//!
//! A sealed text is base64 of a version byte, a random nonce of 12 bytes, and the ciphertext of AES-256-GCM with its tag. The
//! key is derived from the root key for one owner, and where the text belongs is authenticated: a sealed text that is moved
//! to another owner or another place does not open.
use crate::secret::{Label, RootKey, Secret};
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit};
use base64::{engine::general_purpose::STANDARD, Engine};
use serde::{Deserialize, Serialize};

/// The only version so far.
const VERSION: u8 = 1;
/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 12;

/// A sealed text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(String);

/// It is not what was sealed for this owner and place, or the root key is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSealedHere;

/// Seals what belongs to one owner.
pub struct Sealer(Aes256Gcm);

impl Sealer {
    /// For the owner of that name.
    pub fn new(root: &RootKey, owner: &str) -> Self {
        Self(Aes256Gcm::new(
            &root.mac(Label::Seal, owner.as_bytes()).into(),
        ))
    }

    /// Seals `text` for a place. Every call needs a nonce of its own, which must be random.
    pub fn seal(&self, place: &str, text: &Secret, nonce: [u8; NONCE_BYTES]) -> Sealed {
        let payload = Payload {
            msg: text.expose().as_bytes(),
            aad: place.as_bytes(),
        };
        // It only fails beyond 64 GiB.
        let sealed = self.0.encrypt(&nonce.into(), payload).unwrap_or_default();
        Sealed(STANDARD.encode([&[VERSION][..], &nonce, &sealed].concat()))
    }

    /// Opens what was sealed for a place.
    pub fn open(&self, place: &str, sealed: &Sealed) -> Result<Secret, NotSealedHere> {
        let bytes = STANDARD.decode(&sealed.0).map_err(|_| NotSealedHere)?;
        let Some((&VERSION, rest)) = bytes.split_first() else {
            return Err(NotSealedHere);
        };
        let (nonce, sealed) = rest
            .split_first_chunk::<NONCE_BYTES>()
            .ok_or(NotSealedHere)?;
        let payload = Payload {
            msg: sealed,
            aad: place.as_bytes(),
        };
        let opened = self.0.decrypt(&(*nonce).into(), payload);
        let text = String::from_utf8(opened.map_err(|_| NotSealedHere)?);
        text.map(Secret::new).map_err(|_| NotSealedHere)
    }
}

#[cfg(test)]
mod tests;
