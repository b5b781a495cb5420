//! API keys: `clk_` and 256 random bits. Only their SHA-256 is stored.
use crate::tenant::hex;
use base64::{engine::general_purpose::URL_SAFE_NO_PAD, Engine};
use sha2::{Digest, Sha256};

/// What every key begins with, so that scanners for leaked secrets can find it.
pub const PREFIX: &str = "clk_";

/// The key made of these random bytes.
pub fn from_random(bytes: [u8; 32]) -> String {
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// What a key is stored and looked up by; none if the text has not the shape of a key.
pub fn hash(key: &str) -> Option<String> {
    let random = key.strip_prefix(PREFIX)?;
    let bytes = URL_SAFE_NO_PAD.decode(random).ok()?;
    (bytes.len() == 32).then(|| hex(&Sha256::digest(key.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_only_what_has_the_shape_of_a_key() {
        let key = from_random([7; 32]);
        assert_eq!(key.len(), 4 + 43);
        assert_eq!(hash(&key).map(|h| h.len()), Some(64));
        let cut = &key[..46];
        for bad in [
            "",
            "clk_",
            "x' OR 1=1--",
            cut,
            "sk-123",
            &format!("{key}A"),
            &key.replace("clk_", "clx_"),
        ] {
            assert_eq!(hash(bad), None, "{bad}");
        }
    }
}
