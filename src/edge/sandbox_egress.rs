//! SandboxEgress: every request that a sandbox sends on ports 80 and 443 comes here, is judged by its URL, and is sent on or
//! refused. Redirects go back to the sandbox as they come: its next request is judged like any other.
mod forward;
mod policies;
mod refusal;
mod tallies;
mod under_way;

use self::forward::{forward, loses_body, Fetched};
use self::policies::Policies;
use self::refusal::{fail, refuse, Fault, Refused};
use self::under_way::UnderWay;
use super::calls::{self, CallResult, Class, EgressCall, SandboxCall};
use super::platform::now;
use super::settings;
use crate::environment::Verdict;
use crate::policy::{Decision, Head};
use crate::props::ContainerProps;
use crate::secret::Label;
use cloister_protocol::self_test::{ALLOWED_HOST, SELF_TEST_VERDICT};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use worker::{Context, Env, Response, Result};

/// The handler of the entrypoint `SandboxEgress`.
#[wasm_bindgen(js_name = sandboxEgress)]
pub async fn sandbox_egress(
    request: web_sys::Request,
    env: Env,
    ctx: worker_sys::Context,
) -> std::result::Result<web_sys::Response, JsValue> {
    Ok(AssertUnwindSafe(identify(request, env, Rc::new(Context::new(ctx)))).await?)
}

/// One request of a sandbox whose identity was verified, and what is needed to carry it out.
struct Egress {
    env: Env,
    ctx: Rc<Context>,
    /// Name of the sandbox's object.
    object: String,
}

/// What is judged of a request, kept to be judged again.
struct Asked {
    url: String,
    method: String,
    host: Option<String>,
}

impl Asked {
    fn of(request: &web_sys::Request) -> Result<Self> {
        Ok(Self {
            url: request.url(),
            method: request.method(),
            host: request.headers().get("host")?,
        })
    }

    fn head(&self) -> Head<'_> {
        Head {
            url: &self.url,
            method: &self.method,
            host: self.host.as_deref(),
        }
    }
}

async fn identify(
    request: web_sys::Request,
    env: Env,
    ctx: Rc<Context>,
) -> Result<web_sys::Response> {
    let key = settings::root_key(&env)?;
    let verified = match ctx.props::<ContainerProps>() {
        Ok(props) => match props.verify(&key, Label::SandboxEgress, now()) {
            Ok(()) => Ok(props),
            Err(error) => Err(error.code()),
        },
        Err(_) => Err("props_forged"),
    };
    match verified {
        Ok(ContainerProps { object, epoch, .. }) => {
            Egress { env, ctx, object }.decide(request, epoch).await
        }
        Err(code) => fail(Fault::Identity(code)),
    }
}

impl Egress {
    async fn decide(self, request: web_sys::Request, epoch: u64) -> Result<web_sys::Response> {
        let (epoch, policy) = match Policies::of(&self, epoch).await {
            Ok(Some(found)) => found,
            Ok(None) => return fail(Fault::StaleEpoch),
            Err(_) => return fail(Fault::PolicyUnavailable),
        };
        let asked = Asked::of(&request)?;
        if let Some(nonce) = nonce(&asked) {
            return self.hear(epoch, nonce).await;
        }
        match policy.decide(&asked.head()) {
            Decision::Deny(denial) => {
                let refused = Refused::of(&denial);
                self.note_refusal(&refused.host, refused.port, refused.code)
                    .await;
                refuse(refused)
            }
            Decision::Allow { target, .. } => {
                let (host, port) = (target.host.to_string(), target.port);
                if loses_body(&request)? {
                    let fault = Fault::BodyWithGet;
                    self.note_refusal(&host, port, fault.code()).await;
                    return fail(fault);
                }
                tallies::count(&self, &host, port);
                let url = target.to_string();
                let under_way = UnderWay::new(Rc::new(self), asked, epoch, host, port);
                match forward(&request, &url, under_way).await? {
                    Fetched::Response(response) => Ok(response),
                    Fetched::Failed(fault) => fail(fault),
                }
            }
        }
    }

    /// Before it is answered: what is refused is counted exactly.
    async fn note_refusal(&self, host: &str, port: u16, code: &str) {
        let tally = tallies::tally(host, port, Verdict::Denied, code);
        tallies::note(self, tally).await;
    }

    /// The container says the nonce of its self-test, or pretends to.
    async fn hear(&self, epoch: u64, nonce: String) -> Result<web_sys::Response> {
        let known: CallResult<()> = self.ask(EgressCall::Nonce { epoch, nonce }).await?;
        match known {
            Ok(()) => {
                let answer = Response::builder().with_status(204);
                let answer = answer.with_header(refusal::HEADER, SELF_TEST_VERDICT)?;
                Ok(answer.empty().into())
            }
            Err(_) => fail(Fault::NoSelfTest),
        }
    }

    async fn ask<T: serde::de::DeserializeOwned>(&self, call: EgressCall) -> Result<CallResult<T>> {
        let object = calls::object(&self.env, Class::Sandbox, &self.object)?;
        Ok(calls::call(&object, &SandboxCall::Egress(call)).await)
    }
}

/// What a request to the reserved host of self-tests says, if it is one.
fn nonce(asked: &Asked) -> Option<String> {
    let rest = asked.url.strip_prefix("http://")?;
    let nonce = rest.strip_prefix(ALLOWED_HOST)?.strip_prefix('/')?;
    let plain = nonce.len() == 32 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
    (plain && asked.method == "GET").then(|| nonce.to_owned())
}
