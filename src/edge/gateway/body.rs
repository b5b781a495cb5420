use super::Answer;
use crate::edge::platform::read_at_most;
use crate::wire::error::ApiError;
use crate::wire::json::{self, Object};
use crate::wire::MAX_BODY;
use worker::Request;

/// Reads a JSON object of at most [`MAX_BODY`] bytes. Also returns the bytes, which an idempotency key is compared by.
pub async fn read(request: &Request) -> Answer<(Object, Vec<u8>)> {
    let content_type = request.headers().get("content-type")?.unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    let is_json = media_type.eq_ignore_ascii_case("application/json");
    let encoding = request.headers().get("content-encoding")?;
    if encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        return Err(ApiError::bad_encoding());
    }
    let bytes = read_at_most(request.inner().body(), MAX_BODY)
        .await
        .map_err(|_| ApiError::bad_json("the body ended early"))?;
    // A client that sends nothing need not say what it is.
    let is_nothing = bytes.as_ref().is_some_and(Vec::is_empty) && media_type.is_empty();
    if !is_json && !is_nothing {
        return Err(ApiError::bad_content_type());
    }
    let bytes = bytes.ok_or_else(|| ApiError::too_large(MAX_BODY))?;
    Ok((json::parse_body(&bytes)?, bytes))
}
