//! The egress policy of a session's environment, and what was decided by it: extensions to the API.
use super::{body, refused, Answer, Call};
use crate::edge::calls::{
    self, CallResult, Class, NetworkCall, NetworkState, SandboxCall, SessionCall,
};
use crate::wire::error::ApiError;
use crate::wire::network::{audit as audit_list, SessionNetwork};
use crate::wire::request::network_policy;
use crate::wire::session::{Environment, Network, Session};
use serde::de::DeserializeOwned;
use worker::Response;

pub async fn retrieve(call: Call<'_>, id: &str) -> Answer<Response> {
    let environment = environment_of(&call, id).await?;
    let state = ask(&call, &environment, NetworkCall::Retrieve).await?;
    answer(id, environment, &state)
}

/// Replaces the policy where requests are judged by it, and then what the session shows of it. A client that got no answer may
/// try again: the same policy again changes nothing but its epoch.
pub async fn replace(call: Call<'_>, id: &str) -> Answer<Response> {
    let (fields, _) = body::read(&call.request).await?;
    let policy = network_policy(fields)?;
    let environment = environment_of(&call, id).await?;
    let replacement = NetworkCall::Replace(Box::new(policy));
    let state: NetworkState = ask(&call, &environment, replacement).await?;
    let shown = SessionCall::Network {
        network: Network::from(&state.policy),
        epoch: state.epoch,
    };
    call.ask(id, id, &shown).await?;
    answer(id, environment, &state)
}

pub async fn audit(call: Call<'_>, id: &str) -> Answer<Response> {
    let environment = environment_of(&call, id).await?;
    let tallies = ask(&call, &environment, NetworkCall::Audit).await?;
    Ok(Response::from_json(&audit_list(tallies))?)
}

/// The environment of a session.
async fn environment_of(call: &Call<'_>, id: &str) -> Answer<String> {
    let session = call.ask(id, id, &SessionCall::Retrieve).await?;
    let session: Session = serde_json::from_str(session.get()).map_err(|_| ApiError::internal())?;
    match session.environment {
        Environment::None => Err(ApiError::no_environment(id)),
        Environment::OpenaiHosted(environment) => Ok(environment.id),
    }
}

/// Asks the object of an environment's sandboxes.
async fn ask<T: DeserializeOwned>(
    call: &Call<'_>,
    environment: &str,
    question: NetworkCall,
) -> Answer<T> {
    let object = calls::object(call.env, Class::Sandbox, &call.object_name(environment))?;
    let answer: CallResult<T> = calls::call(&object, &SandboxCall::Network(question)).await;
    answer.map_err(|error| refused(error, environment))
}

fn answer(id: &str, environment: String, state: &NetworkState) -> Answer<Response> {
    let NetworkState {
        policy,
        epoch,
        updated_at,
    } = state;
    let network = SessionNetwork::new(id.to_owned(), environment, policy, *epoch, *updated_at);
    Ok(Response::from_json(&network)?)
}
