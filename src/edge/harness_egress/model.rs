//! `POST model.internal/v1/responses`: the one way to a model.
use super::{refusal, Refused};
use crate::deployment;
use crate::edge::{log, settings};
use crate::model_request::{Filter, Forced, Refusal};
use crate::secret::{Label, RootKey};
use crate::tenant::hex;
use crate::upstream_error;
use futures_util::io::AsyncRead;
use futures_util::{AsyncReadExt, Stream};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use worker::{Env, Error, Fetch, Response, Result};

/// Bytes read of the harness's request at once. The runtime's own default is 4 KiB, which costs a crossing each.
const CHUNK: usize = 64 << 10;
/// Bytes read of a provider's error.
const MAX_ERROR: usize = 64 << 10;
/// Headers of a provider's answer that a harness may see.
const PASSED: [&str; 2] = ["content-type", "x-request-id"];

type Outcome = Rc<RefCell<Option<Refusal>>>;

/// Filters the request as it streams, adds the credential, and streams the answer back.
pub async fn forward(
    request: web_sys::Request,
    env: &Env,
    key: &RootKey,
    object: &str,
    preset: &str,
) -> Result<std::result::Result<web_sys::Response, Refused>> {
    let Some(preset) = deployment::preset(preset) else {
        return Ok(Err(Refused(403, "preset_unknown")));
    };
    if request.headers().get("content-encoding")?.is_some() {
        return Ok(Err(Refused(415, "encoding_not_supported")));
    }
    let Some(body) = request.body() else {
        return Ok(Err(Refused(400, "body_missing")));
    };
    // One key per session: the object's name begins with the tenant, so that tenants never share a cached prefix.
    let model = settings::var(env, preset.model)?;
    let prompt_cache_key = hex(&key.mac(Label::PromptCache, object.as_bytes())[..16]);
    let filtering = Filter::new(&Forced {
        model: &model,
        prompt_cache_key: &prompt_cache_key,
    });
    let refused = Outcome::default();
    let reader = wasm_streams::ReadableStream::from_raw(body.unchecked_into()).into_async_read();
    let filtered = filter(reader, filtering, refused.clone());

    let url = format!(
        "{}/responses",
        settings::var(env, preset.base_url)?.trim_end_matches('/')
    );
    let headers = web_sys::Headers::new()?;
    let credential = settings::secret(env, preset.credential)?;
    headers.set("authorization", &format!("Bearer {}", credential.expose()))?;
    headers.set("content-type", "application/json")?;
    headers.set("accept", "text/event-stream")?;
    headers.set("accept-encoding", "identity")?;
    let init = web_sys::RequestInit::new();
    init.set_method("POST");
    init.set_headers(&headers);
    init.set_redirect(web_sys::RequestRedirect::Manual);
    init.set_body(
        &wasm_streams::ReadableStream::from_stream(filtered)
            .into_raw()
            .unchecked_into(),
    );
    let upstream = web_sys::Request::new_with_str_and_init(&url, &init)?;

    let sent = Fetch::Request(upstream.into()).send().await;
    if let Some(refusal) = refused.borrow().as_ref() {
        return Ok(Err(Refused(400, refusal.code.as_str())));
    }
    match sent {
        Ok(response) if response.status_code() == 200 => Ok(Ok(pass(response.into())?)),
        Ok(response) => Ok(Ok(sanitise(response).await?.into())),
        Err(_) => Ok(Err(Refused(502, "provider_unreachable"))),
    }
}

/// The body as the provider gets it. A refusal ends it early, so that what was sent is no JSON and can never be acted on.
fn filter(
    reader: impl AsyncRead + Unpin + 'static,
    filter: Filter,
    refused: Outcome,
) -> impl Stream<Item = std::result::Result<JsValue, JsValue>> {
    struct Work<R> {
        reader: R,
        filter: Option<Filter>,
        buffer: Vec<u8>,
        refused: Outcome,
    }
    let work = Work {
        reader,
        filter: Some(filter),
        buffer: vec![0; CHUNK],
        refused,
    };
    futures_util::stream::unfold(work, |mut work| async move {
        let mut out = Vec::new();
        while out.is_empty() {
            let filter = work.filter.as_mut()?;
            let step = match work.reader.read(&mut work.buffer).await {
                Ok(0) => work
                    .filter
                    .take()
                    .map_or(Ok(()), |mut filter| filter.finish()),
                Ok(n) => filter.push(&work.buffer[..n], &mut out),
                Err(error) => {
                    work.filter = None;
                    return Some((Err(JsValue::from_str(&error.to_string())), work));
                }
            };
            if let Err(refusal) = step {
                work.filter = None;
                work.refused.replace(Some(refusal));
                return Some((Err(JsValue::from_str("refused")), work));
            }
            if work.filter.is_none() && out.is_empty() {
                return None;
            }
        }
        Some((Ok(js_sys::Uint8Array::from(out.as_slice()).into()), work))
    })
}

/// A success: the body untouched, and only headers that say what it is.
fn pass(response: web_sys::Response) -> Result<web_sys::Response> {
    let headers = web_sys::Headers::new()?;
    for name in PASSED {
        if let Some(value) = response.headers().get(name)? {
            headers.set(name, &value)?;
        }
    }
    let init = web_sys::ResponseInit::new();
    init.set_status(200);
    init.set_headers(&headers);
    web_sys::Response::new_with_opt_readable_stream_and_init(response.body().as_ref(), &init)
        .map_err(Error::from)
}

/// An error: never the provider's words, which may quote the credential, but our own for its code.
async fn sanitise(mut response: Response) -> Result<Response> {
    let status = response.status_code();
    let mut text = Vec::new();
    if let Ok(mut stream) = response.stream() {
        while let Some(Ok(chunk)) = futures_util::StreamExt::next(&mut stream).await {
            let room = MAX_ERROR - text.len();
            text.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if text.len() == MAX_ERROR {
                break;
            }
        }
    }
    let error = upstream_error::sanitise(status, &text);
    log::event(
        "provider_error",
        &[("status", &status.to_string()), ("code", error.code)],
    );
    refusal(error.status, error.code)
}
