use super::stream::{self, Ends};
use super::{body, catalog, json, refused, Answer, Call};
use crate::deployment;
use crate::edge::calls::{self, CallResult, SessionCall, SessionCreation};
use crate::edge::platform::{now, random};
use crate::turn::{Identity, UserMessage};
use crate::wire::error::ApiError;
use crate::wire::event::{Event, SessionEvent};
use crate::wire::id::Kind;
use crate::wire::page::Page;
use crate::wire::query::{ListQuery, SessionListQuery};
use crate::wire::request::{EnvironmentSpec, SessionCreate};
use crate::wire::session::{
    Agent, Effort, Environment, HostedEnvironment, MultiAgent, Network, NetworkAccess, Packages,
    Session, SessionDeleted, SessionObject, SessionStatus, SummaryMode, Verbosity,
};
use cloister_protocol::{self as protocol, AgentSettings};
use serde_json::value::RawValue;
use worker::Response;

pub async fn create(call: Call<'_>) -> Answer<Response> {
    let (fields, _) = body::read(&call.request).await?;
    let wanted = SessionCreate::read(fields)?;
    if deployment::preset(&wanted.agent.model).is_none() {
        let names: Vec<&str> = deployment::PRESETS
            .iter()
            .map(|preset| preset.name)
            .collect();
        return Err(ApiError::not_one_of(
            "agent.model",
            &wanted.agent.model,
            &names,
        ));
    }
    match wanted.environment {
        EnvironmentSpec::None => {
            return Err(ApiError::unsupported_value("environment.type", "none"))
        }
        EnvironmentSpec::Hosted {
            network: None | Some(NetworkAccess::Disabled),
        } => {}
        EnvironmentSpec::Hosted {
            network: Some(NetworkAccess::Enabled | NetworkAccess::Restricted),
        } => {
            return Err(ApiError::unsupported("environment.network.access"));
        }
    }
    let input: Vec<UserMessage> = wanted
        .input
        .iter()
        .flatten()
        .map(|message| message.content.clone())
        .collect();
    super::events::check_size(&input)?;
    let session = new_session(&wanted);
    let Environment::OpenaiHosted(environment) = &session.environment else {
        return Err(ApiError::internal());
    };
    let identity = Identity {
        tenant: call.principal.tenant.hash(),
        environment_id: environment.id.clone(),
        preset: wanted.agent.model.clone(),
        settings: settings_of(&session.agent),
    };
    // The catalog first: a session that nobody can find would be a leak, a row without a session answers 404.
    catalog::insert(call.env, &call.principal.tenant, &session).await?;
    let id = session.id.clone();
    let object = call.session_object(&id)?;
    let creation = SessionCall::Create(Box::new(SessionCreation {
        identity,
        session: session.clone(),
        input,
    }));
    let created: CallResult<Box<RawValue>> = calls::call(&object, &creation).await;
    let created = match created {
        Ok(created) => created,
        Err(error) => {
            catalog::delete(call.env, &call.principal.tenant, &id).await?;
            return Err(refused(error, &id));
        }
    };
    if !wanted.stream {
        return json(201, created.get());
    }
    let first = Event::SessionCreated(SessionEvent {
        event_id: Kind::Event.id(random()),
        session: Box::new(session),
    });
    stream::open(object, Some(0), Some(first), Ends::WithTurn, 201).await
}

pub async fn retrieve(call: Call<'_>, id: &str) -> Answer<Response> {
    let object = call.session(id).await?;
    let session: CallResult<Box<RawValue>> = calls::call(&object, &SessionCall::Retrieve).await;
    json(200, session.map_err(|error| refused(error, id))?.get())
}

pub async fn list(call: Call<'_>, query: SessionListQuery) -> Answer<Response> {
    let Some(rows) = catalog::list(call.env, &call.principal.tenant, &query).await? else {
        return Err(ApiError::invalid("'after' names nothing in this list.").at("after"));
    };
    let page = Page::new(rows, query.page.limit, |row| &row.id);
    let data: Result<Vec<_>, _> = page
        .data
        .into_iter()
        .map(|row| RawValue::from_string(row.snapshot))
        .collect();
    let data = data.map_err(|_| ApiError::internal())?;
    let page = Page {
        object: page.object,
        data,
        first_id: page.first_id,
        last_id: page.last_id,
        has_more: page.has_more,
    };
    json(
        200,
        &serde_json::to_string(&page).map_err(|_| ApiError::internal())?,
    )
}

/// Deleting one's own session again succeeds again.
pub async fn delete(call: Call<'_>, id: &str) -> Answer<Response> {
    match catalog::state(call.env, &call.principal.tenant, id).await? {
        catalog::State::Missing => return Err(ApiError::not_found(id)),
        catalog::State::Deleted => {}
        catalog::State::Live => {
            let deleted: CallResult<()> =
                calls::call(&call.session_object(id)?, &SessionCall::Delete).await;
            match deleted {
                // Not there: an earlier try got this far.
                Ok(()) | Err(calls::CallError::Refused(calls::Refusal::NotFound)) => {}
                Err(error) => return Err(refused(error, id)),
            }
            catalog::delete(call.env, &call.principal.tenant, id).await?;
        }
    }
    Ok(Response::from_json(&SessionDeleted::new(id.to_owned()))?)
}

pub async fn items(
    call: Call<'_>,
    id: &str,
    turn_id: Option<&str>,
    query: ListQuery,
) -> Answer<Response> {
    let object = call.session(id).await?;
    let question = SessionCall::Items {
        turn_id: turn_id.map(str::to_owned),
        query,
    };
    let page: CallResult<Box<RawValue>> = calls::call(&object, &question).await;
    json(
        200,
        page.map_err(|error| refused(error, turn_id.unwrap_or(id)))?
            .get(),
    )
}

pub async fn turns(call: Call<'_>, id: &str, query: ListQuery) -> Answer<Response> {
    let object = call.session(id).await?;
    let page: CallResult<Box<RawValue>> = calls::call(&object, &SessionCall::Turns { query }).await;
    json(200, page.map_err(|error| refused(error, id))?.get())
}

pub async fn turn(call: Call<'_>, id: &str, turn_id: &str) -> Answer<Response> {
    let object = call.session(id).await?;
    let turn: CallResult<Box<RawValue>> = calls::call(
        &object,
        &SessionCall::Turn {
            turn_id: turn_id.to_owned(),
        },
    )
    .await;
    json(200, turn.map_err(|error| refused(error, turn_id))?.get())
}

fn new_session(wanted: &SessionCreate) -> Session {
    let seconds = now() / 1000;
    Session {
        id: Kind::Session.id(random()),
        object: SessionObject::Session,
        created_at: seconds,
        last_active_at: seconds,
        status: SessionStatus::Idle,
        error: None,
        agent: Agent {
            id: Kind::Agent.id(random()),
            name: None,
            model: wanted.agent.model.clone(),
            instructions: wanted.agent.instructions.clone(),
            reasoning: wanted.agent.reasoning,
            text: wanted.agent.text,
            service_tier: wanted.agent.service_tier,
            multi_agent: MultiAgent::default(),
            tools: Vec::new(),
        },
        environment: Environment::OpenaiHosted(Box::new(HostedEnvironment {
            id: Kind::Environment.id(random()),
            capability_directories: Vec::new(),
            files: Vec::new(),
            network: Network {
                access: NetworkAccess::Disabled,
                allowed_domains: Vec::new(),
            },
            packages: Packages::default(),
            plugins: Vec::new(),
            skills: Vec::new(),
        })),
        metadata: wanted.metadata.clone(),
        required_actions: Vec::new(),
        usage: None,
        vault_ids: Vec::new(),
        prompt_cache_options: wanted.prompt_cache_options,
    }
}

fn settings_of(agent: &Agent) -> AgentSettings {
    AgentSettings {
        instructions: agent.instructions.clone(),
        effort: agent.reasoning.effort.map(|effort| match effort {
            Effort::None => protocol::Effort::None,
            Effort::Minimal => protocol::Effort::Minimal,
            Effort::Low => protocol::Effort::Low,
            Effort::Medium => protocol::Effort::Medium,
            Effort::High => protocol::Effort::High,
            Effort::Xhigh => protocol::Effort::Xhigh,
            Effort::Max => protocol::Effort::Max,
        }),
        summary: agent.reasoning.summary.map(|summary| match summary {
            SummaryMode::Concise => protocol::Summary::Concise,
            SummaryMode::Detailed => protocol::Summary::Detailed,
            SummaryMode::Auto => protocol::Summary::Auto,
        }),
        verbosity: match agent.text.verbosity {
            Verbosity::Low => Some(protocol::Verbosity::Low),
            // The API's default is the model's own.
            Verbosity::Medium => None,
            Verbosity::High => Some(protocol::Verbosity::High),
        },
    }
}
