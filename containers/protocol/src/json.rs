//! JSON that is handed on as it is.
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One JSON value as text: valid, and not read any further.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Takes text that is one JSON value. `None` if it is not, or nests deeper than `depth`.
    pub fn parse(text: String, depth: usize) -> Option<Self> {
        let json = Self(RawValue::from_string(text).ok()?);
        (json.depth() <= depth).then_some(json)
    }

    /// `null`.
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// How deep arrays and objects are nested in it.
    pub fn depth(&self) -> usize {
        let (mut depth, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
        for byte in self.as_str().bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b'[' | b'{' if !quoted => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        deepest
    }
}

impl From<Box<RawValue>> for Json {
    fn from(value: Box<RawValue>) -> Self {
        Self(value)
    }
}

/// Equal texts: two spellings of one value differ.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Json;

    #[test]
    fn depth_counts_brackets_outside_of_strings() {
        let depth = |text: &str| Json::parse(text.into(), 99).unwrap().depth();
        assert_eq!(depth("1"), 0);
        assert_eq!(depth(r#"{"a":[{}],"b":[]}"#), 3);
        assert_eq!(depth(r#"["[[", "\"[", "\\", []]"#), 2);
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_not_taken() {
        assert!(Json::parse("{".into(), 9).is_none());
        assert!(Json::parse("[[[]]]".into(), 2).is_none());
        assert!(Json::parse("[".repeat(100_000) + &"]".repeat(100_000), 64).is_none());
    }
}
