//! What the parts of the Worker ask of its Durable Objects.
//!
//! A call is one JSON value posted to the object; the answer is its result or a code. No caller's request, path or
//! header ever reaches an object.
mod grant;
mod harness;
mod network;
mod notice;
mod sandbox;
mod session;

pub use grant::{GrantCall, GrantRefusal};
pub use harness::{HarnessCall, RunTurn, Started, PRESET_HEADER, TIER_HEADER};
pub use network::{EgressCall, NetworkCall, NetworkState, PolicyInForce};
pub use notice::Notice;
pub use sandbox::{
    Capabilities, Claim, ExecRequest, ExecResult, FileEntry, SandboxCall, SandboxState, SaveError,
    SaveWorkspace, SavedWorkspace,
};
pub use session::{
    ArtifactContent, ClientInput, InputError, Reported, SessionCall, SessionCreation,
};

use crate::edge::platform::request::post;
use crate::environment::EnvironmentFault;
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

impl CallError {
    /// Why the environment that the call needs cannot be made, if that is so.
    pub fn environment_fault(&self) -> Option<EnvironmentFault> {
        match self {
            Self::Refused(Refusal::Environment(fault)) => Some(*fault),
            Self::Refused(
                Refusal::NotFound
                | Refusal::Conflict
                | Refusal::Stale
                | Refusal::Unavailable
                | Refusal::Invalid
                | Refusal::KeyReused
                | Refusal::Full,
            )
            | Self::Broken => None,
        }
    }
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
    /// The environment cannot be made.
    Environment(EnvironmentFault),
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
            Self::Environment(fault) => fault.code(),
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

/// Asks `stub` and reads its answer. A failed call is an error of the kind that the answer has.
pub async fn call<C: Serialize, T: DeserializeOwned, E>(stub: &Stub, call: &C) -> Result<T, E>
where
    E: DeserializeOwned + From<CallError>,
{
    match serde_json::to_string(call) {
        Ok(body) => send(stub, &body).await,
        Err(_) => Err(CallError::Broken.into()),
    }
}

async fn send<T: DeserializeOwned, E>(stub: &Stub, body: &str) -> Result<T, E>
where
    E: DeserializeOwned + From<CallError>,
{
    let answered = async {
        let mut response = stub
            .fetch_with_request(post("http://object/call", body)?)
            .await?;
        if response.status_code() != 200 {
            return Err("the object failed".into());
        }
        response.text().await
    };
    let text: Result<String, worker::Error> = answered.await;
    let text = text.map_err(|_| CallError::Broken)?;
    serde_json::from_str::<Result<T, E>>(&text).map_err(|_| CallError::Broken)?
}

/// Reads the call that a request to an object carries.
pub async fn read<C: DeserializeOwned>(request: &mut Request) -> worker::Result<C> {
    Ok(serde_json::from_str(&request.text().await?)?)
}

/// Writes an object's answer.
pub fn answer<T: Serialize>(result: CallResult<T>) -> worker::Result<Response> {
    answer_with(result)
}

/// Writes an object's answer that has an error of its own kind.
pub fn answer_with<T: Serialize, E: Serialize>(result: Result<T, E>) -> worker::Result<Response> {
    Response::ok(serde_json::to_string(&result)?)
}
