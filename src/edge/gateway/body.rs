use super::Answer;
use crate::wire::error::ApiError;
use crate::wire::json::{self, Object};
use crate::wire::MAX_BODY;
use futures_util::AsyncReadExt;
use wasm_bindgen::JsCast;
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
    let mut bytes = Vec::new();
    if let Some(body) = request.inner().body() {
        let reader =
            wasm_streams::ReadableStream::from_raw(body.unchecked_into()).into_async_read();
        let read = reader
            .take(MAX_BODY as u64 + 1)
            .read_to_end(&mut bytes)
            .await;
        read.map_err(|_| ApiError::bad_json("the body ended early"))?;
    }
    // A client that sends nothing need not say what it is.
    let is_nothing = bytes.is_empty() && media_type.is_empty();
    if !is_json && !is_nothing {
        return Err(ApiError::bad_content_type());
    }
    if bytes.len() > MAX_BODY {
        return Err(ApiError::too_large(MAX_BODY));
    }
    Ok((json::parse_body(&bytes)?, bytes))
}
