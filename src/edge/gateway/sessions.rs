use super::agents::{self, check_model, check_size};
use super::catalog::{self, Filter, State, Table};
use super::events::{check_input, said};
use super::stream::{self, Ends};
use super::{body, json, refused, Answer, Call};
use crate::edge::calls::{self, CallError, CallResult, Refusal, SessionCall, SessionCreation};
use crate::edge::platform::{now, random};
use crate::turn::{stream_name, Identity, UserMessage};
use crate::wire::agent::inline_agent;
use crate::wire::deleted::Deleted;
use crate::wire::error::ApiError;
use crate::wire::id::Kind;
use crate::wire::query::SessionListQuery;
use crate::wire::request::{AgentChoice, Change, EnvironmentSpec, SessionCreate, SessionUpdate};
use crate::wire::session::{
    Agent, Environment, HostedEnvironment, Network, NetworkAccess, Packages, Session,
    SessionObject, SessionStatus,
};
use serde_json::value::RawValue;
use worker::Response;

pub async fn create(call: Call<'_>) -> Answer<Response> {
    let (fields, _) = body::read(&call.request).await?;
    let wanted = SessionCreate::read(fields)?;
    let stream = wanted.stream;
    let input: Vec<UserMessage> = said(wanted.input.clone().unwrap_or_default());
    check_input(&input)?;
    let agent = agent_of(&call, wanted.agent.clone()).await?;
    let exclude = match &wanted.environment {
        EnvironmentSpec::None => Vec::new(),
        EnvironmentSpec::Hosted { exclude, .. } => exclude.clone(),
    };
    let (session, environment_id) = new_session(wanted, agent)?;
    let identity = Identity {
        tenant: call.principal.tenant.hash(),
        environment_id,
        stream: stream_name(random()),
        exclude,
    };
    let id = session.id.clone();
    let snapshot = serde_json::to_string(&session).map_err(|_| ApiError::internal())?;
    let tenant = &call.principal.tenant;
    // The catalog first: a session that nobody can find would be a leak, a row without a session answers 404.
    catalog::insert(call.env, Table::Sessions, tenant, &id, snapshot).await?;
    let object = call.session_object(&id)?;
    let creation = SessionCall::Create(Box::new(SessionCreation {
        identity,
        session,
        input,
    }));
    let created: CallResult<Box<RawValue>> = calls::call(&object, &creation).await;
    let created = match created {
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

/// A session as it begins, and the id of its environment if it has one.
fn new_session(wanted: SessionCreate, agent: Agent) -> Answer<(Session, Option<String>)> {
    let seconds = now() / 1000;
    let (environment, environment_id) = match wanted.environment {
        EnvironmentSpec::None => (Environment::None, None),
        EnvironmentSpec::Hosted {
            network: None | Some(NetworkAccess::Disabled),
            ..
        } => {
            let id = Kind::Environment.id(random());
            let environment = HostedEnvironment {
                id: id.clone(),
                capability_directories: Vec::new(),
                files: Vec::new(),
                network: Network {
                    access: NetworkAccess::Disabled,
                    allowed_domains: Vec::new(),
                },
                packages: Packages::default(),
                plugins: Vec::new(),
                skills: Vec::new(),
            };
            (Environment::OpenaiHosted(Box::new(environment)), Some(id))
        }
        EnvironmentSpec::Hosted {
            network: Some(NetworkAccess::Enabled | NetworkAccess::Restricted),
            ..
        } => return Err(ApiError::unsupported("environment.network.access")),
    };
    let session = Session {
        id: Kind::Session.id(random()),
        object: SessionObject::Session,
        created_at: seconds,
        last_active_at: seconds,
        status: SessionStatus::Idle,
        error: None,
        agent,
        environment,
        metadata: wanted.metadata,
        required_actions: Vec::new(),
        usage: None,
        vault_ids: Vec::new(),
        prompt_cache_options: wanted.prompt_cache_options,
        review: wanted.review,
        spend_control: wanted.spend_control,
    };
    Ok((session, environment_id))
}
