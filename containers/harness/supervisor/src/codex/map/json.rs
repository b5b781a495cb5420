//! JSON of bounded size and depth.

use cloister_protocol::{Json, MAX_JSON_BYTES, MAX_JSON_DEPTH};
use serde_json::value::RawValue;

/// The value, if it is small and flat enough to be handed on.
pub fn bounded(raw: Box<RawValue>) -> Option<Json> {
    if raw.get().len() > MAX_JSON_BYTES {
        return None;
    }
    Json::parse(String::from(Box::<str>::from(raw)), MAX_JSON_DEPTH)
}

/// The value, or null in its place.
pub fn bounded_or_null(raw: Box<RawValue>) -> Json {
    bounded(raw).unwrap_or_else(|| Json::from(RawValue::NULL.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_too_large_or_too_deep_is_null() {
        let string = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        for (text, kept) in [
            ("{}".to_owned(), true),
            (string(MAX_JSON_BYTES), true),
            (string(MAX_JSON_BYTES + 1), false),
            (nested(MAX_JSON_DEPTH), true),
            (nested(MAX_JSON_DEPTH + 1), false),
        ] {
            let raw = RawValue::from_string(text.clone()).unwrap();
            let expected = if kept { text.as_str() } else { "null" };
            assert_eq!(bounded_or_null(raw).as_str(), expected);
        }
    }
}
