use super::js_error;
use js_sys::BigInt;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStream, StreamPipeOptions};
use worker::Result;
use worker_sys::FixedLengthStream;

/// A body that is put together of others, one after the other. The runtime moves the bytes; this code never sees them.
///
/// Its reader gets all the bytes that were announced, or an error: never fewer.
pub struct Pipe(FixedLengthStream);

impl Pipe {
    /// A body of this many bytes.
    pub fn new(bytes: u64) -> Result<Self> {
        FixedLengthStream::new_big_int(BigInt::from(bytes))
            .map(Self)
            .map_err(js_error)
    }

    /// Its reader's end.
    pub fn reader(&self) -> ReadableStream {
        self.0.readable()
    }

    /// Adds all of `body`, at the pace of the reader. Fails if it breaks off, or the reader is gone; the reader then has an
    /// error.
    pub async fn add(&self, body: &ReadableStream) -> Result<()> {
        let options = StreamPipeOptions::new();
        options.set_prevent_close(true);
        let moved = body.pipe_to_with_options(&self.0.writable(), &options);
        JsFuture::from(moved).await.map(|_| ()).map_err(js_error)
    }

    /// Ends the body. Fails, for the reader too, if bytes are missing.
    pub async fn end(self) -> Result<()> {
        JsFuture::from(self.0.writable().close())
            .await
            .map(|_| ())
            .map_err(js_error)
    }

    /// Gives the body up: its reader has an error.
    pub async fn abort(self) {
        // It may have an error already.
        let _ = JsFuture::from(self.0.writable().abort()).await;
    }
}
