//! Our extension `environment.checkpoint`.
use crate::wire::error::ApiError;
use crate::wire::fields::{self, Fields};
use crate::wire::json::Value;

/// Most patterns of what a checkpoint leaves out.
const MAX_PATTERNS: usize = 64;
/// Longest such pattern, bytes.
const MAX_PATTERN: usize = 256;

pub(super) fn read(mut checkpoint: Fields) -> Result<Vec<String>, ApiError> {
    checkpoint.not_null("exclude", "an array")?;
    let patterns = checkpoint.array("exclude", MAX_PATTERNS)?;
    checkpoint.finish()?;
    let pattern = |(value, path): (Value, String)| {
        let text = fields::string_of_bytes(value, &path, 1, MAX_PATTERN)?;
        match flaw(&text) {
            Some(flaw) => Err(ApiError::invalid(format!("Invalid '{path}': {flaw}.")).at(&path)),
            None => Ok(text),
        }
    };
    patterns
        .unwrap_or_default()
        .into_iter()
        .map(pattern)
        .collect()
}

/// What is wrong with a pattern: a path below `/workspace`, in whose segments `*` and `?` stand for characters and which as
/// segments `**` may stand for any number of.
fn flaw(pattern: &str) -> Option<&'static str> {
    if pattern.starts_with('/') {
        return Some("a pattern is relative to /workspace");
    }
    if pattern
        .chars()
        .any(|c| c.is_control() || r"\[]{}!".contains(c))
    {
        return Some("a pattern has no control character and none of \\ [ ] { } !");
    }
    for segment in pattern.split('/') {
        match segment {
            "" | "." | ".." => return Some("no segment of a pattern is empty, '.' or '..'"),
            "**" => {}
            segment if segment.contains("**") => {
                return Some("'**' is a segment of its own");
            }
            _ => {}
        }
    }
    None
}
