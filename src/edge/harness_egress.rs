//! HarnessEgress: everything a harness container can reach. Decides on the request's URL, never on the rule that sent it.
mod model;

use super::backup;
use super::calls::{self, Class, Refusal};
use super::log;
use super::platform::request::upgrade;
use super::platform::{now, Address};
use super::settings;
use crate::props::ContainerProps;
use crate::secret::{Label, RootKey};
use cloister_protocol::backup::BACKUP_HOST;
use cloister_protocol::{EXEC_HOST, MODEL_HOST};
use std::panic::AssertUnwindSafe;
use wasm_bindgen::prelude::*;
use worker::{Context, Env, Response, Result};

/// The handler of the entrypoint `HarnessEgress`.
#[wasm_bindgen(js_name = harnessEgress)]
pub async fn harness_egress(
    request: web_sys::Request,
    env: Env,
    ctx: worker_sys::Context,
) -> std::result::Result<web_sys::Response, JsValue> {
    Ok(AssertUnwindSafe(decide(request, &env, &Context::new(ctx))).await?)
}

/// A request was refused: the status and a stable code.
struct Refused(u16, &'static str);

async fn decide(request: web_sys::Request, env: &Env, ctx: &Context) -> Result<web_sys::Response> {
    let key = settings::root_key(env)?;
    let result = match identify(&key, ctx) {
        Ok(props) => route(request, env, &key, &props).await?,
        Err(refused) => Err(refused),
    };
    match result {
        Ok(response) => Ok(response),
        Err(Refused(status, code)) => {
            log::event("harness_egress_refused", &[("reason", code)]);
            Ok(refusal(status, code)?.into())
        }
    }
}

fn identify(key: &RootKey, ctx: &Context) -> std::result::Result<ContainerProps, Refused> {
    let props = ctx
        .props::<ContainerProps>()
        .map_err(|_| Refused(403, "props_forged"))?;
    props
        .verify(key, Label::HarnessEgress, now())
        .map_err(|error| Refused(403, error.code()))?;
    Ok(props)
}

async fn route(
    request: web_sys::Request,
    env: &Env,
    key: &RootKey,
    props: &ContainerProps,
) -> Result<std::result::Result<web_sys::Response, Refused>> {
    let Some(address) = Address::parse(&request.url()) else {
        return Ok(Err(Refused(400, "url_malformed")));
    };
    let (host, method, path) = (address.host(), request.method(), address.path());
    match (host.as_str(), method.as_str(), path.as_str()) {
        _ if !address.is_plain() => Ok(Err(Refused(403, "host_not_reserved"))),
        (MODEL_HOST, "POST", "/v1/responses") => model::forward(request, env, key, props).await,
        (BACKUP_HOST, _, _) => Ok(Ok(backup::serve(request, env, Class::Harness, props)
            .await?
            .into())),
        (EXEC_HOST, "GET", path) => match path[1..].parse() {
            // The right to the link is the container's identity; the URL only names an epoch.
            Ok(epoch) if epoch == props.epoch => Ok(Ok(join_exec_link(request, env, props).await?)),
            Ok(0..=u64::MAX) | Err(_) => Ok(Err(Refused(403, Refusal::Stale.code()))),
        },
        (MODEL_HOST | EXEC_HOST, _, _) => Ok(Err(Refused(404, "route_not_reserved"))),
        (_, _, _) => Ok(Err(Refused(403, "host_not_reserved"))),
    }
}

async fn join_exec_link(
    request: web_sys::Request,
    env: &Env,
    props: &ContainerProps,
) -> Result<web_sys::Response> {
    if request
        .headers()
        .get("upgrade")?
        .is_none_or(|value| !value.eq_ignore_ascii_case("websocket"))
    {
        return Ok(refusal(426, "websocket_required")?.into());
    }
    let harness = calls::object(env, Class::Harness, &props.object)?;
    let request = upgrade(&format!("http://object/exec?epoch={}", props.epoch))?;
    Ok(harness.fetch_with_request(request).await?.into())
}

/// An error in the shape that a client of the Responses API reads.
fn refusal(status: u16, code: &str) -> Result<Response> {
    let body = serde_json::json!({ "error": { "message": "Refused by the gateway.", "type": "gateway_refusal", "code": code, "param": null } });
    Response::builder().with_status(status).from_json(&body)
}
