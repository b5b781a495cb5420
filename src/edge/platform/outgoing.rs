//! The ways in which a request leaves the Worker: none follows a redirect, and none asks a cache.
use super::js_error;
use js_sys::{BigInt, Reflect};
use std::future::Future;
use std::pin::Pin;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Headers, ReadableStream, Request, Response, WritableStream};
use worker::Result;
use worker_sys::FixedLengthStream;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = fetch)]
    fn fetch_with_init(request: &Request, init: &JsValue) -> js_sys::Promise;

    type IdentityTransformStream;
    #[wasm_bindgen(constructor, catch)]
    fn new() -> std::result::Result<IdentityTransformStream, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn readable(this: &IdentityTransformStream) -> web_sys::ReadableStream;
    #[wasm_bindgen(method, getter)]
    fn writable(this: &IdentityTransformStream) -> WritableStream;
}

/// When an answer that is handed on has ended.
pub enum End {
    /// Now: it has no body.
    Now,
    /// When this resolves: its body has been moved, whole or not.
    At(Pin<Box<dyn Future<Output = ()>>>),
    /// Nobody can tell: the runtime does not say when a WebSocket ends.
    Untold,
}

/// Statuses beyond this one are read, but cannot be written anew.
const LAST_STATUS: u16 = 599;

/// Sends a request of the Worker's own.
pub async fn fetch(request: &Request) -> std::result::Result<Response, JsValue> {
    let init = js_sys::Object::new();
    set(&init, &CAREFUL.map(|(name, value)| (name, value.into())))?;
    let response = JsFuture::from(fetch_with_init(request, &init)).await?;
    Ok(response.unchecked_into())
}

/// Members of every request's `init`.
const CAREFUL: [(&str, &str); 2] = [("redirect", "manual"), ("cache", "no-store")];

fn set(object: &js_sys::Object, members: &[(&str, JsValue)]) -> std::result::Result<(), JsValue> {
    for (name, value) in members {
        Reflect::set(object, &(*name).into(), value)?;
    }
    Ok(())
}

/// A request of others on its way out. Bodies stay coded as they are.
pub struct Outgoing {
    request: Request,
    init: JsValue,
    abort: AbortController,
}

impl Outgoing {
    /// `request` with another URL and other headers; method and body as they are.
    pub fn new(request: &Request, url: &str, headers: &Headers) -> Result<Self> {
        let request = Request::new_with_str_and_init(url, request.unchecked_ref())?;
        let abort = AbortController::new()?;
        let init = js_sys::Object::new();
        let members = [
            ("headers", headers.into()),
            ("encodeResponseBody", "manual".into()),
            ("signal", abort.signal().into()),
        ];
        set(&init, &CAREFUL.map(|(name, value)| (name, value.into())))
            .and_then(|()| set(&init, &members))
            .map_err(js_error)?;
        Ok(Self {
            request,
            init: init.into(),
            abort,
        })
    }

    /// Sends it.
    pub fn fetch(&self) -> impl Future<Output = std::result::Result<Response, JsValue>> {
        let sent = JsFuture::from(fetch_with_init(&self.request, &self.init));
        async { Ok(sent.await?.unchecked_into()) }
    }

    /// Ends it: whoever sends or reads a body of it gets an error.
    pub fn abort(&self) {
        self.abort.abort();
    }

    /// The answer as it can be handed on, and its end. The header `own` is the gateway's: a host's answer has none, unless it
    /// cannot be written anew.
    pub fn hand_on(
        &self,
        response: Response,
        own: &str,
    ) -> std::result::Result<(Response, End), JsValue> {
        let body = match response.body() {
            Some(body) if response.status() <= LAST_STATUS => body,
            None if response.status() != 101 => {
                let answer = match response.headers().has(own)? {
                    true => rewritten(&response, None, own)?,
                    false => response,
                };
                return Ok((answer, End::Now));
            }
            Some(_) | None => return Ok((response, End::Untold)),
        };
        let length = response.headers().get("content-length")?;
        let length = length.and_then(|length| length.parse::<u64>().ok());
        let (readable, writable) = match length {
            Some(length) => {
                let stream = FixedLengthStream::new_big_int(BigInt::from(length))?;
                (stream.readable(), stream.writable())
            }
            None => {
                let stream = IdentityTransformStream::new()?;
                (stream.readable(), stream.writable())
            }
        };
        let answer = rewritten(&response, Some(&readable), own)?;
        let moved = JsFuture::from(body.pipe_to(&writable));
        let moved = async {
            let _ = moved.await;
        };
        Ok((answer, End::At(Box::pin(moved))))
    }
}

/// `response` with this body, coded as it was, and without one of its headers.
fn rewritten(
    response: &Response,
    body: Option<&ReadableStream>,
    without: &str,
) -> std::result::Result<Response, JsValue> {
    let mut headers = response.headers();
    if headers.has(without)? {
        headers = Headers::new_with_headers(&headers)?;
        headers.delete(without)?;
    }
    let init = js_sys::Object::new();
    let members = [
        ("status", response.status().into()),
        ("statusText", response.status_text().into()),
        ("headers", headers.into()),
        ("encodeBody", "manual".into()),
    ];
    set(&init, &members)?;
    Response::new_with_opt_readable_stream_and_init(body, init.unchecked_ref())
}
