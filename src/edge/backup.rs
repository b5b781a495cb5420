//! BackupGateway: streams one stored object for one live grant. The grant says which; the request says nothing but the grant.
use super::calls::{self, CallError, Class, GrantCall, GrantRefusal, HarnessCall, SandboxCall};
use super::container::within;
use super::log;
use super::platform::{now, read_at_most, Address};
use super::{settings, store};
use crate::checkpoint::{Allowed, Ask, Digest, GrantError, Part, Verb};
use crate::props::ContainerProps;
use crate::secret::Label;
use cloister_protocol::backup::{
    Announcement, Wanted, BACKUP_HOST, DIGEST_HEADER, MAX_ANNOUNCEMENT_BYTES, NEXT_HEADER,
    PART_BYTES,
};
use serde::de::DeserializeOwned;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use wasm_bindgen::prelude::*;
use worker::{Context, Env, Headers, Response, ResponseBuilder, Result};

/// The handler of the entrypoint `BackupGateway`, for sandboxes. Harnesses come through HarnessEgress.
#[wasm_bindgen(js_name = backupGateway)]
pub async fn backup_gateway(
    request: web_sys::Request,
    env: Env,
    ctx: worker_sys::Context,
) -> std::result::Result<web_sys::Response, JsValue> {
    Ok(
        AssertUnwindSafe(identify(request, &env, &Context::new(ctx)))
            .await?
            .into(),
    )
}

async fn identify(request: web_sys::Request, env: &Env, ctx: &Context) -> Result<Response> {
    let props = match ctx.props::<ContainerProps>() {
        Ok(props) => props,
        Err(_) => return refuse(403, "props_forged"),
    };
    match props.verify(&settings::root_key(env)?, Label::Backup, now()) {
        Ok(()) => serve(request, env, Class::Sandbox, &props).await,
        Err(error) => refuse(403, error.code()),
    }
}

/// Serves the container whose identity was verified, and whose object is of `class`.
pub async fn serve(
    request: web_sys::Request,
    env: &Env,
    class: Class,
    props: &ContainerProps,
) -> Result<Response> {
    let operation = match read(&request, props)? {
        Ok(operation) => operation,
        Err((status, code)) => return refuse(status, code),
    };
    let granter = Granter { env, class, props };
    let done = match operation.verb {
        Verb::Store => store_part(&granter, operation, &request).await?,
        Verb::Fetch => fetch_part(&granter, operation).await?,
        Verb::Announce => announce(&granter, operation, request).await?,
    };
    match done {
        Ok(response) => Ok(response),
        Err(Failed::Refused(GrantRefusal::Grant(GrantError::Size))) => {
            refuse(413, GrantError::Size.code())
        }
        Err(Failed::Refused(GrantRefusal::Grant(error))) => refuse(403, error.code()),
        Err(Failed::Refused(GrantRefusal::Announcement)) => refuse(403, "announcement_invalid"),
        Err(Failed::Refused(GrantRefusal::Call(_))) => refuse(503, "object_unavailable"),
        Err(Failed::Store) => refuse(502, "store_failed"),
    }
}

/// Judges everything but the grant. The inner error is a status and a stable code.
fn read(
    request: &web_sys::Request,
    props: &ContainerProps,
) -> Result<std::result::Result<Ask, (u16, &'static str)>> {
    let Some(address) = Address::parse(&request.url()) else {
        return Ok(Err((400, "url_malformed")));
    };
    let path = address.path();
    let grant = path.strip_prefix('/').unwrap_or_default();
    let is_name = grant.len() == 32 && grant.bytes().all(|b| b.is_ascii_hexdigit());
    if address.host() != BACKUP_HOST || !address.is_plain() || !is_name {
        return Ok(Err((403, GrantError::Unknown.code())));
    }
    let headers = Headers(request.headers());
    // An S3 client would name other objects, or a piece of one, in these.
    if headers
        .keys()
        .any(|name| name.starts_with("x-amz-") || name == "range")
    {
        return Ok(Err((403, "header_not_allowed")));
    }
    let length = headers.get("content-length")?;
    let length = length.and_then(|length| length.parse::<u64>().ok());
    let (verb, part) = match request.method().as_str() {
        "GET" => (Verb::Fetch, None),
        "POST" => match length {
            Some(0..=MAX_ANNOUNCEMENT) => (Verb::Announce, None),
            Some(_) => return Ok(Err((413, "announcement_too_large"))),
            None => return Ok(Err((411, "length_required"))),
        },
        "PUT" => {
            let digest = headers.get(DIGEST_HEADER)?;
            let digest = digest.as_deref().and_then(Digest::parse);
            match (length, digest) {
                (None, _) => return Ok(Err((411, "length_required"))),
                (Some(bytes), _) if bytes > PART_BYTES as u64 => {
                    return Ok(Err((413, GrantError::Size.code())))
                }
                (Some(_), None) => return Ok(Err((403, "digest_required"))),
                (Some(bytes), Some(sha256)) => (Verb::Store, Some(Part { bytes, sha256 })),
            }
        }
        _ => return Ok(Err((403, GrantError::Verb.code()))),
    };
    Ok(Ok(Ask {
        grant: grant.to_owned(),
        epoch: props.epoch,
        verb,
        part,
    }))
}

const MAX_ANNOUNCEMENT: u64 = MAX_ANNOUNCEMENT_BYTES as u64;

enum Failed {
    Refused(GrantRefusal),
    Store,
}

impl From<GrantRefusal> for Failed {
    fn from(refusal: GrantRefusal) -> Self {
        Self::Refused(refusal)
    }
}

type Done = std::result::Result<Response, Failed>;

async fn store_part(granter: &Granter<'_>, ask: Ask, request: &web_sys::Request) -> Result<Done> {
    let grant = ask.grant.clone();
    let allowed: Allowed = match granter.ask(GrantCall::Take(ask)).await {
        Ok(allowed) => allowed,
        Err(refusal) => return Ok(Err(refusal.into())),
    };
    let (Some(part), Some(body)) = (allowed.part, request.body()) else {
        return Ok(Err(GrantRefusal::Grant(GrantError::Size).into()));
    };
    // The store compares the digest, and the runtime the length: what differs is not stored.
    let bucket = store::bucket(granter.env)?;
    let put = bucket.put(allowed.key, body).sha256(part.sha256.bytes());
    let left = Duration::from_millis(allowed.expires_at.saturating_sub(now()));
    if !matches!(within(left, put.execute()).await, Some(Ok(Some(_)))) {
        return Ok(Err(Failed::Store));
    }
    let next: Option<String> = match granter.ask(GrantCall::Stored { grant }).await {
        Ok(next) => next,
        Err(refusal) => return Ok(Err(refusal.into())),
    };
    Ok(Ok(with_next(Response::builder(), next)?.empty()))
}

async fn fetch_part(granter: &Granter<'_>, ask: Ask) -> Result<Done> {
    let allowed: Allowed = match granter.ask(GrantCall::Take(ask)).await {
        Ok(allowed) => allowed,
        Err(refusal) => return Ok(Err(refusal.into())),
    };
    let Some(part) = allowed.part else {
        return Ok(Err(GrantRefusal::Grant(GrantError::Verb).into()));
    };
    let object = store::bucket(granter.env)?.get(allowed.key).execute().await;
    let Ok(Some(object)) = object else {
        return Ok(Err(Failed::Store));
    };
    let body = object.body().filter(|_| object.size() == part.bytes);
    let Some(Ok(body)) = body.map(|body| body.response_body()) else {
        return Ok(Err(Failed::Store));
    };
    let response = Response::builder()
        .with_header("content-type", "application/octet-stream")?
        .with_header("content-length", &part.bytes.to_string())?
        .with_header(DIGEST_HEADER, part.sha256.as_str())?;
    Ok(Ok(with_next(response, allowed.next)?.body(body)))
}

async fn announce(granter: &Granter<'_>, ask: Ask, request: web_sys::Request) -> Result<Done> {
    // One that breaks off is as good as one that is no announcement.
    let body = read_at_most(request.body(), MAX_ANNOUNCEMENT_BYTES).await;
    let body = body.ok().flatten().unwrap_or_default();
    let Ok(announcement) = serde_json::from_slice::<Announcement>(&body) else {
        return Ok(Err(GrantRefusal::Announcement.into()));
    };
    let asked = granter.ask(GrantCall::Announce { ask, announcement }).await;
    let wanted: Wanted = match asked {
        Ok(wanted) => wanted,
        Err(refusal) => return Ok(Err(refusal.into())),
    };
    Ok(Ok(Response::from_json(&wanted)?))
}

fn with_next(response: ResponseBuilder, next: Option<String>) -> Result<ResponseBuilder> {
    match next {
        Some(next) => response.with_header(NEXT_HEADER, &next),
        None => Ok(response),
    }
}

/// The object that gave the container its grants.
struct Granter<'a> {
    env: &'a Env,
    class: Class,
    props: &'a ContainerProps,
}

impl Granter<'_> {
    async fn ask<T: DeserializeOwned>(
        &self,
        call: GrantCall,
    ) -> std::result::Result<T, GrantRefusal> {
        let object = calls::object(self.env, self.class, &self.props.object)
            .map_err(|_| CallError::Broken)?;
        match self.class {
            Class::Harness => calls::call(&object, &HarnessCall::Grant(call)).await,
            Class::Sandbox => calls::call(&object, &SandboxCall::Grant(call)).await,
            Class::Session => Err(CallError::Broken.into()),
        }
    }
}

fn refuse(status: u16, code: &'static str) -> Result<Response> {
    log::event("backup_refused", &[("reason", code)]);
    let body = serde_json::json!({ "code": code, "message": "Refused by the gateway." });
    Response::builder().with_status(status).from_json(&body)
}
