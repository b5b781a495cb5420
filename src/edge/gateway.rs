//! The default entrypoint: authentication, validation, routing, errors. It trusts no tenant that a caller names, and
//! forwards no caller's request or path to a Durable Object.
mod agents;
mod artifacts;
mod body;
mod catalog;
mod environment;
mod events;
#[cfg(feature = "test-faults")]
mod faults;
mod history;
mod known;
mod network;
mod sessions;
mod stream;

use super::calls::{self, CallError, CallResult, Class, Refusal, SessionCall};
use super::platform::{random, Address};
use super::{log, settings, AuthError};
use crate::deployment;
use crate::tenant::Principal;
use crate::wire::error::ApiError;
use crate::wire::id::Kind;
use crate::wire::query::{ArtifactListQuery, ListQuery, OutOfRange, SessionListQuery};
use crate::wire::route::{self, Route};
use catalog::Table;
use futures_util::FutureExt;
use serde_json::value::RawValue;
use std::panic::AssertUnwindSafe;
use worker::{event, Context, Env, Request, Response, Result, Stub};

/// A result that the client sees.
type Answer<T> = std::result::Result<T, ApiError>;

impl From<worker::Error> for ApiError {
    fn from(error: worker::Error) -> Self {
        // The text may carry anything, so it goes nowhere but into the count of failures.
        let kind = match error {
            worker::Error::D1(_) => "d1",
            _ => "runtime",
        };
        log::event("request_failed", &[("part", kind)]);
        ApiError::internal()
    }
}

/// One request, and what its handlers need.
struct Call<'a> {
    env: &'a Env,
    context: &'a Context,
    principal: Principal,
    request: Request,
    query: String,
}

#[event(fetch)]
async fn fetch(request: Request, env: Env, context: Context) -> Result<Response> {
    let request_id = Kind::Request.id(random());
    // A panic ends this request alone.
    let answered = AssertUnwindSafe(answer(request, &env, &context))
        .catch_unwind()
        .await;
    let answered = answered.unwrap_or_else(|_| Err(ApiError::internal()));
    let response = answered.or_else(|error| respond(&error))?;
    let headers = response.headers().clone();
    headers.set("x-request-id", &request_id)?;
    headers.set("openai-version", "2020-10-01")?;
    Ok(response.with_headers(headers))
}

fn respond(error: &ApiError) -> Result<Response> {
    let mut builder = Response::builder().with_status(error.status);
    for (name, value) in &error.headers {
        builder = builder.with_header(name, value)?;
    }
    builder.from_json(&error.body())
}

async fn answer(request: Request, env: &Env, context: &Context) -> Answer<Response> {
    check_host(&request, env)?;
    if request
        .headers()
        .get("openai-beta")?
        .is_none_or(|beta| beta != "agents=v1")
    {
        return Err(ApiError::invalid_beta());
    }
    let principal = match deployment::authenticate(request.headers(), env).await {
        Ok(principal) => principal,
        Err(AuthError::Missing | AuthError::Unknown) => return Err(ApiError::invalid_api_key()),
        Err(AuthError::Broken(error)) => return Err(error.into()),
    };
    let address = Address::of(&request)?;
    let (path, query) = (address.path(), address.query());
    // The raw method: workers-rs reads an unknown one as GET.
    let method = request.inner().method();
    #[cfg(feature = "test-faults")]
    if let Some(rest) = path.strip_prefix("/__test/") {
        return faults::answer(rest, request, env, &principal).await;
    }
    let route = route::find(&method, &path)?;
    let call = Call {
        env,
        context,
        principal,
        request,
        query,
    };
    match route {
        Route::AgentCreate => agents::create(call).await,
        Route::AgentList => {
            let query = ListQuery::read(&call.query, OutOfRange::Refuse)?;
            agents::list(call, query).await
        }
        Route::AgentRetrieve(id) => agents::retrieve(call, id).await,
        Route::AgentUpdate(id) => agents::update(call, id).await,
        Route::AgentDelete(id) => agents::delete(call, id).await,
        Route::SessionCreate => sessions::create(call).await,
        Route::SessionList => {
            let query = SessionListQuery::read(&call.query)?;
            sessions::list(call, query).await
        }
        Route::SessionRetrieve(id) => sessions::retrieve(call, id).await,
        Route::SessionUpdate(id) => sessions::update(call, id).await,
        Route::SessionDelete(id) => sessions::delete(call, id).await,
        Route::EventsCreate(id) => events::create(call, id).await,
        Route::EventsStream(id) => events::stream(call, id).await,
        Route::NetworkRetrieve(id) => network::retrieve(call, id).await,
        Route::NetworkReplace(id) => network::replace(call, id).await,
        Route::NetworkAudit(id) => network::audit(call, id).await,
        Route::ItemList(id) => items(call, id, None).await,
        Route::TurnList(id) => turns(call, id, None).await,
        Route::TurnRetrieve(id, turn) => history::turn(call, id, None, turn).await,
        Route::TurnItemList(id, turn) => turn_items(call, id, None, turn).await,
        Route::SubagentList(id) => {
            let query = ListQuery::read(&call.query, OutOfRange::Refuse)?;
            history::subagents(call, id, query).await
        }
        Route::SubagentRetrieve(id, subagent) => history::subagent(call, id, subagent).await,
        Route::SubagentItemList(id, subagent) => items(call, id, Some(subagent)).await,
        Route::SubagentTurnList(id, subagent) => turns(call, id, Some(subagent)).await,
        Route::SubagentTurnRetrieve(id, subagent, turn) => {
            history::turn(call, id, Some(subagent), turn).await
        }
        Route::SubagentTurnItemList(id, subagent, turn) => {
            turn_items(call, id, Some(subagent), turn).await
        }
        Route::ArtifactList(id) => {
            let query = ArtifactListQuery::read(&call.query)?;
            artifacts::list(call, id, query).await
        }
        Route::ArtifactRetrieve(id, artifact) => artifacts::retrieve(call, id, artifact).await,
        Route::ArtifactContent(id, artifact) => artifacts::content(call, id, artifact).await,
        Route::ArtifactDelete(id, artifact) => artifacts::delete(call, id, artifact).await,
    }
}

async fn items(call: Call<'_>, id: &str, subagent: Option<&str>) -> Answer<Response> {
    let query = ListQuery::read(&call.query, OutOfRange::Clamp)?;
    history::items(call, id, subagent, query).await
}

async fn turns(call: Call<'_>, id: &str, subagent: Option<&str>) -> Answer<Response> {
    let query = ListQuery::read(&call.query, OutOfRange::Refuse)?;
    history::turns(call, id, subagent, query).await
}

async fn turn_items(
    call: Call<'_>,
    id: &str,
    subagent: Option<&str>,
    turn: &str,
) -> Answer<Response> {
    let query = ListQuery::read(&call.query, OutOfRange::Clamp)?;
    history::turn_items(call, id, subagent, turn, query).await
}

/// A gateway on somebody's own machine answers only under the names it was started for, and to no web page: otherwise a
/// page could reach it through a name that it points at loopback.
fn check_host(request: &Request, env: &Env) -> Answer<()> {
    let allowed = settings::var(env, "ALLOWED_HOSTS")?;
    if allowed.is_empty() {
        return Ok(());
    }
    let host = request.headers().get("host")?.unwrap_or_default();
    if request.headers().get("origin")?.is_some()
        || !allowed
            .split(',')
            .any(|name| name.trim().eq_ignore_ascii_case(&host))
    {
        return Err(ApiError::forbidden(
            "This gateway does not answer web pages, nor under this name: ALLOWED_HOSTS lists those that it has.",
        ));
    }
    Ok(())
}

impl Call<'_> {
    /// The session's object, if the session is this tenant's. A foreign id and a missing one take the same way.
    async fn session(&self, id: &str) -> Answer<Stub> {
        let name = self.object_name(id);
        if !known::is_known(&name) {
            let state = catalog::state(self.env, Table::Sessions, &self.principal.tenant, id);
            match state.await? {
                catalog::State::Live => known::remember(name),
                catalog::State::Deleted | catalog::State::Missing => {
                    return Err(ApiError::not_found(id))
                }
            }
        }
        Ok(self.session_object(id)?)
    }

    /// Asks the session `id` a question about `about`: JSON, to be handed on.
    async fn ask(&self, id: &str, about: &str, question: &SessionCall) -> Answer<Box<RawValue>> {
        let object = self.session(id).await?;
        let answer: CallResult<Box<RawValue>> = calls::call(&object, question).await;
        match answer {
            Ok(answer) => Ok(answer),
            Err(CallError::Refused(Refusal::NotFound)) if about != id => {
                Err(ApiError::not_found(about))
            }
            Err(error) => Err(self.lost(id, error).await?),
        }
    }

    /// What a refused call to the session means. One that has no session behind its row in the catalog, because its creation
    /// or its deletion got only so far, is taken out of the catalog, unless it is so new that it may be on its way.
    async fn lost(&self, id: &str, error: CallError) -> Answer<ApiError> {
        if error == CallError::Refused(Refusal::NotFound) {
            known::forget(&self.object_name(id));
            catalog::delete_old(self.env, &self.principal.tenant, id).await?;
        }
        Ok(refused(error, id))
    }

    fn session_object(&self, id: &str) -> Result<Stub> {
        calls::object(self.env, Class::Session, &self.object_name(id))
    }

    fn stream_of(&self, id: &str) -> stream::Session {
        stream::Session {
            env: self.env.clone(),
            name: self.object_name(id),
        }
    }

    fn object_name(&self, id: &str) -> String {
        self.principal.tenant.hash().object_name(id)
    }
}

/// What a refused call means to the client who asked about `id`.
fn refused(error: CallError, id: &str) -> ApiError {
    match error {
        CallError::Refused(Refusal::NotFound) => ApiError::not_found(id),
        CallError::Refused(Refusal::Invalid) => ApiError::unknown_cursor(),
        CallError::Refused(Refusal::KeyReused) => {
            ApiError::conflict("This Idempotency-Key was used with another body.")
        }
        CallError::Refused(Refusal::Full) => ApiError::rate_limited(
            "Too much input waits for the running turn. Try again when it has been taken.",
            Some(5),
        ),
        CallError::Refused(Refusal::Conflict) => ApiError::not_deletable(),
        CallError::Refused(Refusal::Stale | Refusal::Unavailable | Refusal::Environment(_))
        | CallError::Broken => ApiError::unavailable("The session does not answer. Try again."),
    }
}

/// JSON that an object made, handed on.
fn json(status: u16, json: &str) -> Answer<Response> {
    let builder = Response::builder().with_status(status);
    // `ok` would make it text.
    let builder = builder.with_header("content-type", "application/json")?;
    Ok(builder.fixed(json.as_bytes().to_vec()))
}
