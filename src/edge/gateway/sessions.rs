use super::agents::{self, check_model, check_size};
use super::catalog::{self, Filter, State, Table};
use super::environment::NewEnvironment;
use super::events::{check_input, said};
use super::stream::{self, Ends};
use super::{body, json, refused, Answer, Call};
use crate::edge::calls::{
    self, CallError, CallResult, Refusal, SandboxCall, SessionCall, SessionCreation,
};
use crate::edge::platform::{now, random};
use crate::turn::{stream_name, Identity, UserMessage};
use crate::wire::agent::inline_agent;
use crate::wire::deleted::Deleted;
use crate::wire::error::ApiError;
use crate::wire::id::Kind;
use crate::wire::query::SessionListQuery;
use crate::wire::request::{AgentChoice, Change, SessionCreate, SessionUpdate};
use crate::wire::session::{Agent, Environment, Session, SessionObject, SessionStatus};
use serde_json::value::RawValue;
use worker::Response;

pub async fn create(call: Call<'_>) -> Answer<Response> {
    let (fields, _) = body::read(&call.request).await?;
    let wanted = SessionCreate::read(fields)?;
    let stream = wanted.stream;
    let input: Vec<UserMessage> = said(wanted.input.clone().unwrap_or_default());
    check_input(&input)?;
    let agent = agent_of(&call, wanted.agent.clone()).await?;
    let environment = NewEnvironment::of(wanted.environment.clone(), call.env)?;
    let session = new_session(wanted, agent, environment.as_ref());
    let identity = Identity {
        tenant: call.principal.tenant.hash(),
        environment_id: environment.as_ref().map(|new| new.id.clone()),
        stream: stream_name(random()),
        exclude: environment
            .as_ref()
            .map(|new| new.exclude.clone())
            .unwrap_or_default(),
    };
    let id = session.id.clone();
    let snapshot = serde_json::to_string(&session).map_err(|_| ApiError::internal())?;
    let tenant = &call.principal.tenant;
    // The catalog first: a session that nobody can find would be a leak, a row without a session answers 404.
    catalog::insert(call.env, Table::Sessions, tenant, &id, snapshot).await?;
    let creation = SessionCall::Create(Box::new(SessionCreation {
        identity,
        session,
        input,
    }));
    let created = match begin(&call, &id, environment, &creation).await? {
        Ok(created) => created,
        Err(error) => {
            catalog::delete(call.env, Table::Sessions, tenant, &id).await?;
            return Err(refused(error, &id));
        }
    };
    if stream {
        // The log begins with the event that says so.
        stream::open(call.stream_of(&id), Some(0), Ends::Turn, 201)
            .await
            .map_err(|error| refused(error, &id))
    } else {
        json(201, created.get())
    }
}

pub async fn retrieve(call: Call<'_>, id: &str) -> Answer<Response> {
    let answer = call.ask(id, id, &SessionCall::Retrieve).await?;
    json(200, answer.get())
}

pub async fn update(call: Call<'_>, id: &str) -> Answer<Response> {
    let (fields, _) = body::read(&call.request).await?;
    let wanted = SessionUpdate::read(fields)?;
    if !wanted.model.is_keep() || !wanted.service_tier.is_keep() {
        // Each may be right with one and wrong with another.
        let now = call.ask(id, id, &SessionCall::Retrieve).await?;
        let mut session: Session =
            serde_json::from_str(now.get()).map_err(|_| ApiError::internal())?;
        wanted.clone().apply(&mut session);
        check_model(&session.agent.model, session.agent.service_tier, "agent.")?;
    }
    if let Change::Set(tools) = &wanted.tools {
        check_size(size_of(tools)?, "agent.tools")?;
    }
    let answer = call
        .ask(id, id, &SessionCall::Update(Box::new(wanted)))
        .await?;
    json(200, answer.get())
}

pub async fn list(call: Call<'_>, query: SessionListQuery) -> Answer<Response> {
    let filter = Filter {
        agent_id: query.agent_id.as_deref(),
        metadata: Some(&query.metadata),
    };
    let tenant = &call.principal.tenant;
    let page = catalog::page(call.env, Table::Sessions, tenant, &query.page, &filter);
    let page = page.await?.ok_or_else(ApiError::unknown_cursor)?;
    Ok(Response::from_json(&page)?)
}

/// Deleting one's own session again succeeds again.
pub async fn delete(call: Call<'_>, id: &str) -> Answer<Response> {
    let tenant = &call.principal.tenant;
    match catalog::state(call.env, Table::Sessions, tenant, id).await? {
        State::Missing => return Err(ApiError::not_found(id)),
        State::Deleted => {}
        State::Live => {
            let object = call.session_object(id)?;
            let deleted: CallResult<()> = calls::call(&object, &SessionCall::Delete).await;
            match deleted {
                // Not there: an earlier try got this far.
                Ok(()) | Err(CallError::Refused(Refusal::NotFound)) => {}
                Err(error) => return Err(refused(error, id)),
            }
            catalog::delete(call.env, Table::Sessions, tenant, id).await?;
        }
    }
    Ok(Response::from_json(&Deleted::session(id.to_owned()))?)
}

/// The agent of a new session: its own, or a copy of a saved one with what is different here.
async fn agent_of(call: &Call<'_>, choice: AgentChoice) -> Answer<Agent> {
    let agent = match choice {
        AgentChoice::Inline { model, changes } => {
            inline_agent(Kind::Agent.id(random()), model, changes)
        }
        AgentChoice::Saved { agent_id, changes } => {
            agents::saved(call, &agent_id).await?.session_agent(changes)
        }
    };
    check_model(&agent.model, agent.service_tier, "agent.")?;
    check_size(size_of(&agent)?, "agent")?;
    Ok(agent)
}

fn size_of<T: serde::Serialize>(value: &T) -> Answer<usize> {
    serde_json::to_vec(value)
        .map(|json| json.len())
        .map_err(|_| ApiError::internal())
}

/// Makes the session, and before it says how its sandboxes are made: its first turn may begin at once. Without the session,
/// nothing of that stays.
async fn begin(
    call: &Call<'_>,
    id: &str,
    environment: Option<NewEnvironment>,
    creation: &SessionCall,
) -> Answer<CallResult<Box<RawValue>>> {
    let session = call.session_object(id)?;
    let Some(environment) = environment else {
        return Ok(calls::call(&session, creation).await);
    };
    let sandbox = environment.object(call.env, &call.principal.tenant.hash())?;
    let created = match environment.configure(&sandbox).await {
        Ok(()) => calls::call(&session, creation).await,
        Err(error) => Err(error),
    };
    if created.is_err() {
        let _: CallResult<()> = calls::call(&sandbox, &SandboxCall::Forget).await;
    }
    Ok(created)
}

/// A session as it begins.
fn new_session(
    wanted: SessionCreate,
    agent: Agent,
    environment: Option<&NewEnvironment>,
) -> Session {
    let seconds = now() / 1000;
    Session {
        id: Kind::Session.id(random()),
        object: SessionObject::Session,
        created_at: seconds,
        last_active_at: seconds,
        status: SessionStatus::Idle,
        error: None,
        agent,
        environment: environment.map_or(Environment::None, NewEnvironment::shown),
        metadata: wanted.metadata,
        required_actions: Vec::new(),
        usage: None,
        vault_ids: Vec::new(),
        prompt_cache_options: wanted.prompt_cache_options,
        review: wanted.review,
        spend_control: wanted.spend_control,
    }
}
