//! Secrets and what is read like them.
use crate::secret::Secret;
use crate::vault::{is_member, is_token, timestamp, ClientMethod, SecureUrl, MAX_TOKEN, MAX_VALUE};
use crate::wire::error::ApiError;
use crate::wire::fields::{self, Fields};
use crate::wire::json::Value;

pub(super) const METHODS: [(&str, ClientMethod); 3] = [
    ("none", ClientMethod::None),
    ("client_secret_basic", ClientMethod::Basic),
    ("client_secret_post", ClientMethod::Post),
];

/// A secret of one kind: where it is, and what it must be.
pub(super) type Read = fn(Value, &str) -> Result<Secret, ApiError>;

/// A secret that must be there.
pub(super) fn required(fields: &mut Fields, name: &str, read: Read) -> Result<Secret, ApiError> {
    let value = fields.require(name)?;
    read(value, &fields.path_of(name))
}

/// A secret that may be null or left out.
pub(super) fn optional(
    fields: &mut Fields,
    name: &str,
    read: Read,
) -> Result<Option<Secret>, ApiError> {
    let path = fields.path_of(name);
    fields
        .take(name)
        .map(|value| read(value, &path))
        .transpose()
}

/// What goes into an Authorization header as it is.
pub(super) fn token(value: Value, path: &str) -> Result<Secret, ApiError> {
    let text = fields::string_of_bytes(value, path, 1, MAX_TOKEN)?;
    if !is_token(&text) {
        return Err(invalid(
            path,
            "a token has only visible ASCII characters and no spaces",
        ));
    }
    Ok(Secret::new(text))
}

/// What goes into a form.
pub(super) fn form_secret(value: Value, path: &str) -> Result<Secret, ApiError> {
    form_text(value, path).map(Secret::new)
}

/// The value of a variable.
pub(super) fn variable(value: Value, path: &str) -> Result<Secret, ApiError> {
    let text = fields::string_of_bytes(value, path, 1, MAX_VALUE)?;
    if text.contains(['\r', '\n']) {
        return Err(invalid(path, "line breaks are not allowed"));
    }
    Ok(Secret::new(text))
}

pub(super) fn form_text(value: Value, path: &str) -> Result<String, ApiError> {
    let text = fields::string_of_bytes(value, path, 1, MAX_TOKEN)?;
    if !is_member(&text) {
        return Err(invalid(path, "control characters are not allowed"));
    }
    Ok(text)
}

/// A text that may be null or left out.
pub(super) fn optional_text(fields: &mut Fields, name: &str) -> Result<Option<String>, ApiError> {
    let path = fields.path_of(name);
    fields
        .take(name)
        .map(|value| form_text(value, &path))
        .transpose()
}

pub(super) fn url(fields: &mut Fields, name: &str) -> Result<SecureUrl, ApiError> {
    let path = fields.path_of(name);
    let text = fields.required_string(name, 1, super::super::MAX_TEXT)?;
    SecureUrl::parse(&text).map_err(|error| invalid(&path, error))
}

/// An instant that may be null or left out.
pub(super) fn instant(fields: &mut Fields, name: &str) -> Result<Option<u64>, ApiError> {
    let path = fields.path_of(name);
    let Some(text) = fields.string(name, 1, 64)? else {
        return Ok(None);
    };
    timestamp::parse(&text)
        .map(Some)
        .ok_or_else(|| invalid(&path, "expected an RFC 3339 timestamp"))
}

pub(super) fn invalid(path: &str, why: impl std::fmt::Display) -> ApiError {
    ApiError::invalid(format!("Invalid '{path}': {why}.")).at(path)
}
