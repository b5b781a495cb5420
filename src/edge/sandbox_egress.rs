//! SandboxEgress: everything a sandbox sends on ports 80 and 443 ends here. The network of a sandbox is `disabled`, so all of
//! it is refused, in words that a model can act on, and counted by code.
use super::log;
use super::platform::now;
use super::settings;
use crate::props::ContainerProps;
use crate::secret::Label;
use wasm_bindgen::prelude::*;
use worker::{Context, Env, Response, Result};

/// The handler of the entrypoint `SandboxEgress`.
#[wasm_bindgen(js_name = sandboxEgress)]
pub async fn sandbox_egress(
    _request: web_sys::Request,
    env: Env,
    ctx: worker_sys::Context,
) -> std::result::Result<web_sys::Response, JsValue> {
    Ok(refuse(&env, &Context::new(ctx))?.into())
}

fn refuse(env: &Env, ctx: &Context) -> Result<Response> {
    let reason = match ctx.props::<ContainerProps>() {
        Ok(props) => match props.verify(&settings::root_key(env)?, Label::SandboxEgress, now()) {
            Ok(()) => "network_disabled",
            Err(error) => error.code(),
        },
        Err(_) => "props_forged",
    };
    log::event("sandbox_egress_refused", &[("reason", reason)]);
    let body = serde_json::json!({
        "code": reason,
        "message": "This sandbox has no network. Work with what is in the sandbox, or ask for a session whose environment allows the host.",
    });
    Response::builder()
        .with_status(403)
        .with_header("x-cloister-egress", reason)?
        .from_json(&body)
}
