use std::fmt;

/// What a sandbox sees instead of a secret: a text of a fixed length that is made of letters, digits and underscores, is
/// recognised by how it begins, and is worth nothing to whoever steals it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placeholder(String);

impl Placeholder {
    /// How each begins.
    pub const PREFIX: &'static str = "cloister_placeholder_";
    /// How long each is, bytes.
    pub const LENGTH: usize = Self::PREFIX.len() + 32;

    /// A new one.
    pub fn new(random: [u8; 16]) -> Self {
        let random = u128::from_be_bytes(random);
        Self(format!("{}{random:032x}", Self::PREFIX))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
