use futures_util::AsyncReadExt;
use wasm_bindgen::JsCast;
use web_sys::ReadableStream;
use worker::Result;

/// Reads a body of at most this many bytes; none if it is larger. A length that its sender announces says nothing: one that
/// comes in chunks may be of any size.
pub async fn read_at_most(body: Option<ReadableStream>, most: usize) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    if let Some(body) = body {
        let reader =
            wasm_streams::ReadableStream::from_raw(body.unchecked_into()).into_async_read();
        let read = reader.take(most as u64 + 1).read_to_end(&mut bytes).await;
        read.map_err(|error| error.to_string())?;
    }
    Ok((bytes.len() <= most).then_some(bytes))
}
