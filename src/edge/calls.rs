//! What the parts of the Worker ask of its Durable Objects.
//!
//! A call is one JSON value posted to the object; the answer is its result or a code. No caller's request, path or
//! header ever reaches an object.
mod harness;
mod sandbox;
mod session;

pub use harness::{HarnessCall, RunTurn, PRESET_HEADER};
pub use sandbox::{Capabilities, ExecRequest, ExecResult, FileEntry, SandboxCall, SandboxState};
pub use session::{ClientInput, SessionCall, SessionCreation};

use crate::edge::platform::request::post;
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use worker::{Env, Request, Response, Stub};

/// Why a call failed. The code is stable and safe to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallError {
    /// The object answered with a refusal.
    Refused(Refusal),
    /// It could not be reached, or broke; whether the call had an effect is unknown.
    Broken,
}

/// Why an object refused a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No such session, sandbox, turn or file.
    NotFound,
    /// It exists, but not in a state for this.
    Conflict,
    /// Made by an older epoch, or by another container.
    Stale,
    /// The container did not start or answer in time.
    Unavailable,
    /// An argument is out of its bounds.
    Invalid,
    /// The same idempotency key came with another body.
    KeyReused,
    /// As much as can wait is waiting already.
    Full,
}

impl Refusal {
    /// Stable code for logs and answers.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Stale => "stale_epoch",
            Self::Unavailable => "container_unavailable",
            Self::Invalid => "invalid_argument",
            Self::KeyReused => "idempotency_key_reused",
            Self::Full => "full",
        }
    }
}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Result of a call.
pub type CallResult<T> = Result<T, CallError>;

/// Durable Object classes of this Worker.
#[derive(Clone, Copy, Debug)]
pub enum Class {
    /// SessionDO.
    Session,
    /// HarnessDO.
    Harness,
    /// SandboxDO.
    Sandbox,
}

/// The object of `class` named `name`.
pub fn object(env: &Env, class: Class, name: &str) -> worker::Result<Stub> {
    let binding = match class {
        Class::Session => "SESSION",
        Class::Harness => "HARNESS",
        Class::Sandbox => "SANDBOX",
    };
    env.durable_object(binding)?.get_by_name(name)
}

/// Asks `stub` and reads its answer.
pub async fn call<C: Serialize, T: DeserializeOwned>(stub: &Stub, call: &C) -> CallResult<T> {
    let broken = |_| CallError::Broken;
    let body = serde_json::to_string(call).map_err(|_| CallError::Broken)?;
    let request = post("http://object/call", &body).map_err(broken)?;
    let mut response = stub.fetch_with_request(request).await.map_err(broken)?;
    if response.status_code() != 200 {
        return Err(CallError::Broken);
    }
    let text = response.text().await.map_err(broken)?;
    serde_json::from_str::<CallResult<T>>(&text).map_err(|_| CallError::Broken)?
}

/// Reads the call that a request to an object carries.
pub async fn read<C: DeserializeOwned>(request: &mut Request) -> worker::Result<C> {
    Ok(serde_json::from_str(&request.text().await?)?)
}

/// Writes an object's answer.
pub fn answer<T: Serialize>(result: CallResult<T>) -> worker::Result<Response> {
    Response::ok(serde_json::to_string(&result)?)
}
