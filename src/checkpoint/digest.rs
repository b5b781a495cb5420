use serde::{Deserialize, Serialize};

/// A SHA-256, as 64 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

/// What is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidDigest;

impl Digest {
    /// Checks the digits.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 64 && text.bytes().all(hex)).then(|| Self(text.to_owned()))
    }

    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(crate::tenant::hex(&sha2::Sha256::digest(bytes)))
    }

    /// The digest itself.
    pub fn bytes(&self) -> [u8; 32] {
        // The digits were checked.
        let digit = |b: u8| {
            if b.is_ascii_digit() {
                b - b'0'
            } else {
                b - b'a' + 10
            }
        };
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(self.0.as_bytes().chunks_exact(2)) {
            *byte = (digit(pair[0]) << 4) | digit(pair[1]);
        }
        bytes
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidDigest;
    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        Self::parse(&text).ok_or(InvalidDigest)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

impl std::fmt::Display for InvalidDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a digest is 64 lower-case hex digits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_bytes_are_the_same() {
        use sha2::Digest as _;
        let hashed: [u8; 32] = sha2::Sha256::digest(b"x").into();
        assert_eq!(Digest::of(b"x").bytes(), hashed);
        assert!(Digest::parse(&Digest::of(b"x").as_str().to_uppercase()).is_none());
        assert!(Digest::parse("ab").is_none());
    }
}
