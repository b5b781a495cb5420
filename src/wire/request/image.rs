//! Images that clients send.
use super::MAX_TEXT;
use crate::wire::{error::ApiError, fields::Fields};

/// What models take, and the model path lets through.
const DATA: [&str; 4] = [
    "data:image/png;base64,",
    "data:image/jpeg;base64,",
    "data:image/gif;base64,",
    "data:image/webp;base64,",
];

/// Takes the URL of an image: a `data` URL of a PNG, JPEG, GIF or WebP in base64.
///
/// The API also has `http` and `https` URLs. They are refused here: the provider would fetch them, and an agent without a
/// network would have one through it.
pub(super) fn url(fields: &mut Fields, name: &str) -> Result<String, ApiError> {
    let url = fields.required_string(name, 1, MAX_TEXT)?;
    if is_data(&url) {
        return Ok(url);
    }
    let path = fields.path_of(name);
    let text = format!(
        "Invalid '{path}': expected a base64 data URL of a PNG, JPEG, GIF or WebP image. \
         Images at other URLs are not fetched: send their data."
    );
    Err(ApiError::invalid(text).at(&path))
}

fn is_data(url: &str) -> bool {
    let Some(data) = DATA.iter().find_map(|prefix| url.strip_prefix(prefix)) else {
        return false;
    };
    let digits = data.trim_end_matches('=');
    !digits.is_empty()
        && data.len() - digits.len() <= 2
        && data.len() % 4 == 0
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}
