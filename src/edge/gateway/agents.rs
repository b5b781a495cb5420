//! Saved agents.
use super::catalog::{self, Filter, State, Table};
use super::{body, json, Answer, Call};
use crate::deployment;
use crate::edge::platform::{now, random};
use crate::turn::MAX_AGENT_BYTES;
use crate::wire::agent::SavedAgent;
use crate::wire::deleted::Deleted;
use crate::wire::error::ApiError;
use crate::wire::id::Kind;
use crate::wire::query::ListQuery;
use crate::wire::request::{AgentCreate, AgentUpdate};
use crate::wire::session::ServiceTier;
use worker::Response;

/// Tries of a change that meets others.
const MAX_TRIES: u32 = 8;

pub async fn create(call: Call<'_>) -> Answer<Response> {
    let (fields, _) = body::read(&call.request).await?;
    let wanted = AgentCreate::read(fields)?;
    let agent = SavedAgent::new(wanted, Kind::Agent.id(random()), now() / 1000);
    check_model(&agent.agent.model, agent.agent.service_tier, "")?;
    let text = text_of(&agent)?;
    let id = &agent.agent.id;
    catalog::insert(
        call.env,
        Table::Agents,
        &call.principal.tenant,
        id,
        text.clone(),
    )
    .await?;
    json(201, &text)
}

pub async fn retrieve(call: Call<'_>, id: &str) -> Answer<Response> {
    let found = catalog::read(call.env, Table::Agents, &call.principal.tenant, id).await?;
    json(200, &found.ok_or_else(|| ApiError::not_found(id))?.snapshot)
}

pub async fn update(call: Call<'_>, id: &str) -> Answer<Response> {
    let (fields, _) = body::read(&call.request).await?;
    let wanted = AgentUpdate::read(fields)?;
    let tenant = &call.principal.tenant;
    // Two updates at once: the second is made again on what the first left.
    for _ in 0..MAX_TRIES {
        let found = catalog::read(call.env, Table::Agents, tenant, id).await?;
        let found = found.ok_or_else(|| ApiError::not_found(id))?;
        let mut agent = SavedAgent::parse(&found.snapshot).ok_or_else(ApiError::internal)?;
        agent.apply(wanted.clone(), now() / 1000);
        check_model(&agent.agent.model, agent.agent.service_tier, "")?;
        let text = text_of(&agent)?;
        let replaced = catalog::replace(
            call.env,
            Table::Agents,
            tenant,
            id,
            text.clone(),
            found.version,
        );
        if replaced.await? {
            return json(200, &text);
        }
    }
    Err(ApiError::conflict_for_now(
        "The agent is being changed by others. Try again.",
    ))
}

pub async fn list(call: Call<'_>, query: ListQuery) -> Answer<Response> {
    let filter = Filter::default();
    let page = catalog::page(
        call.env,
        Table::Agents,
        &call.principal.tenant,
        &query,
        &filter,
    );
    let page = page.await?.ok_or_else(ApiError::unknown_cursor)?;
    Ok(Response::from_json(&page)?)
}

/// Deleting one's own agent again succeeds again.
pub async fn delete(call: Call<'_>, id: &str) -> Answer<Response> {
    let tenant = &call.principal.tenant;
    match catalog::state(call.env, Table::Agents, tenant, id).await? {
        State::Missing => return Err(ApiError::not_found(id)),
        State::Deleted => {}
        State::Live => catalog::delete(call.env, Table::Agents, tenant, id).await?,
    }
    Ok(Response::from_json(&Deleted::agent(id.to_owned()))?)
}

/// The saved agent that a session names.
pub async fn saved(call: &Call<'_>, id: &str) -> Answer<SavedAgent> {
    if !Kind::Agent.fits(id) {
        return Err(ApiError::not_found(id));
    }
    let found = catalog::read(call.env, Table::Agents, &call.principal.tenant, id).await?;
    let found = found.ok_or_else(|| ApiError::not_found(id))?;
    SavedAgent::parse(&found.snapshot).ok_or_else(ApiError::internal)
}

/// A model is the name of a preset, which says what may be asked for with it. `agent` is where in the body they are.
pub fn check_model(model: &str, tier: ServiceTier, agent: &str) -> Answer<()> {
    let Some(preset) = deployment::preset(model) else {
        let names: Vec<&str> = deployment::PRESETS
            .iter()
            .map(|preset| preset.name)
            .collect();
        return Err(ApiError::not_one_of(
            &format!("{agent}model"),
            model,
            &names,
        ));
    };
    if preset.service_tiers.contains(&tier.name()) {
        return Ok(());
    }
    let param = format!("{agent}service_tier");
    Err(ApiError::not_one_of(
        &param,
        tier.name(),
        preset.service_tiers,
    ))
}

/// An agent is a part of a row, which has its limit.
pub fn check_size(bytes: usize, param: &str) -> Answer<()> {
    if bytes > MAX_AGENT_BYTES {
        return Err(ApiError::too_large(MAX_AGENT_BYTES).at(param));
    }
    Ok(())
}

fn text_of(agent: &SavedAgent) -> Answer<String> {
    let text = serde_json::to_string(agent).map_err(|_| ApiError::internal())?;
    check_size(text.len(), "tools")?;
    Ok(text)
}
