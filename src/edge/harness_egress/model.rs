//! `POST model.internal/v1/responses`: the one way to a model.
use super::{refusal, Refused};
use crate::deployment;
use crate::edge::calls::{self, Class, Refusal, PRESET_HEADER, TIER_HEADER};
use crate::edge::platform::fetch;
use crate::edge::{log, settings};
use crate::model_request::{self, Filter, Forced};
use crate::props::ContainerProps;
use crate::secret::{Label, RootKey};
use crate::tenant::hex;
use crate::upstream_error;
use futures_util::{stream, AsyncReadExt, StreamExt};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_streams::readable::IntoAsyncRead;
use worker::{Env, Error, Response, Result};

/// Bytes read of the harness's request at once. The runtime's own default is 4 KiB, which costs a crossing each.
const CHUNK: usize = 64 << 10;
/// A request that ends within this many bytes is judged as a whole before anything of it is sent, and sent in one piece,
/// which is twice as fast as a stream. Codex's requests begin at some 10 kB.
const HEAD: usize = 256 << 10;
/// Bytes read of a provider's error.
const MAX_ERROR: usize = 64 << 10;
/// Headers of a provider's answer that a harness may see.
const PASSED: [&str; 2] = ["content-type", "x-request-id"];

type Outcome = Rc<RefCell<Option<model_request::Refusal>>>;

/// Filters the request, adds the credential, and streams the answer back.
pub async fn forward(
    request: web_sys::Request,
    env: &Env,
    key: &RootKey,
    props: &ContainerProps,
) -> Result<std::result::Result<web_sys::Response, Refused>> {
    if request.headers().get("content-encoding")?.is_some() {
        return Ok(Err(Refused(415, "encoding_not_supported")));
    }
    let Some(mut source) = Source::of(&request)? else {
        return Ok(Err(Refused(400, "body_missing")));
    };
    // The object may be far away; the body's beginning is read meanwhile.
    let (authorized, read) = futures_util::join!(authorize(env, props), source.read_head());
    let authorized = match (authorized, read) {
        (Err(refused), _) => return Ok(Err(refused)),
        (Ok(_), Err(_)) => return Ok(Err(Refused(400, "body_broken"))),
        (Ok(authorized), Ok(())) => authorized,
    };
    let (preset, service_tier) = authorized;
    let Some(preset) = deployment::preset(&preset) else {
        return Ok(Err(Refused(403, "preset_unknown")));
    };
    // One key per session: the object's name begins with the tenant, so that tenants never share a cached prefix.
    let model = settings::var(env, preset.model)?;
    let prompt_cache_key = hex(&key.mac(Label::PromptCache, props.object.as_bytes())[..16]);
    let filter = Filter::new(&Forced {
        model: &model,
        prompt_cache_key: &prompt_cache_key,
        service_tier: service_tier.as_deref(),
    });
    let refused = Outcome::default();
    let body = match source.filtered(filter, refused.clone()) {
        Ok(body) => body,
        Err(refusal) => return Ok(Err(Refused(refusal.code.status(), refusal.code.as_str()))),
    };

    let base = settings::var(env, preset.base_url)?;
    let url = format!("{}/responses", base.trim_end_matches('/'));
    let credential = settings::secret(env, preset.credential)?;
    let headers = web_sys::Headers::new()?;
    headers.set("authorization", &format!("Bearer {}", credential.expose()))?;
    headers.set("content-type", "application/json")?;
    headers.set("accept", "text/event-stream")?;
    headers.set("accept-encoding", "identity")?;
    let init = web_sys::RequestInit::new();
    init.set_method("POST");
    init.set_headers(&headers);
    init.set_body(&body);
    let upstream = web_sys::Request::new_with_str_and_init(&url, &init)?;

    let sent = fetch(&upstream).await;
    if let Some(refusal) = refused.borrow().as_ref() {
        return Ok(Err(Refused(refusal.code.status(), refusal.code.as_str())));
    }
    match sent {
        Ok(response) if response.status() == 200 => Ok(Ok(pass(response)?)),
        Ok(response) => Ok(Ok(sanitise(response.into()).await?.into())),
        Err(_) => Ok(Err(Refused(502, "provider_unreachable"))),
    }
}

/// Asks the harness's object for the preset of the running turn, and how it is served. The answer is in headers, so that no
/// body is made and read.
async fn authorize(
    env: &Env,
    props: &ContainerProps,
) -> std::result::Result<(String, Option<String>), Refused> {
    let ask = async {
        let harness = calls::object(env, Class::Harness, &props.object)?;
        let url = format!("http://object/authorize?epoch={}", props.epoch);
        let response = harness.fetch_with_str(&url).await?;
        let headers = response.headers();
        Ok((headers.get(PRESET_HEADER)?, headers.get(TIER_HEADER)?))
    };
    let answer: Result<(Option<String>, Option<String>)> = ask.await;
    match answer {
        Ok((Some(preset), tier)) => Ok((preset, tier)),
        Ok((None, _)) => Err(Refused(403, Refusal::Stale.code())),
        Err(_) => Err(Refused(503, "harness_unavailable")),
    }
}

/// The harness's body: its beginning, and what is still to be read.
struct Source {
    reader: IntoAsyncRead<'static>,
    head: Vec<u8>,
    ended: bool,
}

impl Source {
    /// `None` if there is no body.
    fn of(request: &web_sys::Request) -> Result<Option<Self>> {
        // Room for all of it if its length is known, so that two reads do.
        let length = request
            .headers()
            .get("content-length")?
            .and_then(|length| length.parse().ok());
        let room = length.unwrap_or(CHUNK).min(HEAD) + 1;
        Ok(request.body().map(|body| Self {
            reader: wasm_streams::ReadableStream::from_raw(body.unchecked_into()).into_async_read(),
            head: Vec::with_capacity(room),
            ended: false,
        }))
    }

    /// Reads to the end or to [`HEAD`], whichever is first.
    async fn read_head(&mut self) -> std::io::Result<()> {
        while !self.ended && self.head.len() < HEAD {
            let filled = self.head.len();
            let room = (self.head.capacity() - filled).max(CHUNK);
            self.head.resize(filled + room, 0);
            let read = self.reader.read(&mut self.head[filled..]).await?;
            self.head.truncate(filled + read);
            self.ended = read == 0;
        }
        Ok(())
    }

    /// The body as the provider gets it: bytes if it has ended, else a stream. A refusal while it streams ends it early, so
    /// that what was sent is no JSON and can never be acted on.
    fn filtered(
        self,
        mut filter: Filter,
        refused: Outcome,
    ) -> std::result::Result<JsValue, model_request::Refusal> {
        let mut first = Vec::with_capacity(self.head.len() + 128);
        filter.push(&self.head, &mut first)?;
        if self.ended {
            filter.finish()?;
            return Ok(js_sys::Uint8Array::from(first.as_slice()).into());
        }
        let rest = Rest {
            reader: self.reader,
            filter: Some(filter),
            buffer: vec![0; CHUNK],
            refused,
        };
        let chunks =
            stream::once(async move { Ok(bytes(&first)) }).chain(stream::unfold(rest, Rest::next));
        Ok(wasm_streams::ReadableStream::from_stream(chunks)
            .into_raw()
            .unchecked_into())
    }
}

/// What is read while it is sent.
struct Rest {
    reader: IntoAsyncRead<'static>,
    /// None after the end.
    filter: Option<Filter>,
    buffer: Vec<u8>,
    refused: Outcome,
}

impl Rest {
    async fn next(mut self) -> Option<(std::result::Result<JsValue, JsValue>, Self)> {
        let mut out = Vec::new();
        while out.is_empty() {
            let mut filter = self.filter.take()?;
            let step = match self.reader.read(&mut self.buffer).await {
                Ok(0) => filter.finish(),
                Ok(n) => {
                    let step = filter.push(&self.buffer[..n], &mut out);
                    self.filter = Some(filter);
                    step
                }
                Err(error) => return Some((Err(JsValue::from_str(&error.to_string())), self)),
            };
            if let Err(refusal) = step {
                self.filter = None;
                self.refused.replace(Some(refusal));
                return Some((Err(JsValue::from_str("refused")), self));
            }
        }
        Some((Ok(bytes(&out)), self))
    }
}

fn bytes(bytes: &[u8]) -> JsValue {
    js_sys::Uint8Array::from(bytes).into()
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
        while let Some(Ok(chunk)) = stream.next().await {
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
