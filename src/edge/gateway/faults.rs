//! Routes of test builds: they break on purpose, and reach what has no public route yet.
use super::Answer;
use crate::edge::calls::{self, Class, SandboxCall};
use crate::edge::platform::request::{post, with_body};
use crate::edge::platform::Address;
use crate::tenant::Principal;
use crate::wire::error::ApiError;
use worker::{Env, Request, Response};

/// `panic`; `hold/<session>?at=` lets the end of its turn stand still there (see `harness::hold`); `abort-session/<session>` and `abort-harness/<session>` end an instance of its object; `sandbox/<name>` with a `SandboxCall`; `file/<name>?path=` with GET or PUT.
pub async fn answer(
    rest: &str,
    mut request: Request,
    env: &Env,
    principal: &Principal,
) -> Answer<Response> {
    match rest.split_once('/') {
        None if rest == "panic" => {
            #[allow(clippy::panic)]
            {
                panic!("asked to")
            }
        }
        Some(("sandbox", name)) => {
            let sandbox = calls::object(
                env,
                Class::Sandbox,
                &principal.tenant.hash().object_name(name),
            )?;
            let call: SandboxCall = serde_json::from_str(&request.text().await?)
                .map_err(|_| ApiError::bad_json("no such call"))?;
            let result: calls::CallResult<serde_json::Value> = calls::call(&sandbox, &call).await;
            Ok(Response::from_json(&result)?)
        }
        Some(("file", name)) => {
            let sandbox = calls::object(
                env,
                Class::Sandbox,
                &principal.tenant.hash().object_name(name),
            )?;
            let query = Address::of(&request)?.query();
            let body = request.inner().body().map(Into::into);
            let method = request.inner().method();
            let inner = with_body(&format!("http://object/file?{query}"), &method, body)?;
            Ok(sandbox.fetch_with_request(inner).await?)
        }
        Some(("hold", id)) => {
            let object = calls::object(
                env,
                Class::Harness,
                &principal.tenant.hash().object_name(id),
            )?;
            let query = Address::of(&request)?.query();
            let inner = post(&format!("http://object/hold?{query}"), "")?;
            Ok(object.fetch_with_request(inner).await?)
        }
        Some((what @ ("abort-session" | "abort-harness"), id)) => {
            let class = if what == "abort-session" {
                Class::Session
            } else {
                Class::Harness
            };
            let object = calls::object(env, class, &principal.tenant.hash().object_name(id))?;
            // The call fails with the instance.
            let _ = object
                .fetch_with_request(post("http://object/abort", "")?)
                .await;
            Ok(Response::empty()?)
        }
        None | Some(_) => Err(ApiError::no_route()),
    }
}
