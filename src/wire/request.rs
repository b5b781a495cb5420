//! Bodies of requests.
//!
//! What is read here is the part of the API that is built. Fields and values that the API has beyond that are refused by
//! name; see each type.

mod agent;
mod approval;
mod change;
mod environment;
mod image;
mod input;
mod schema;
#[cfg(test)]
mod tests;
mod tools;
mod update;
mod vault;

use std::collections::BTreeMap;

pub use self::{
    agent::{AgentChanges, AgentChoice, AgentCreate, AgentUpdate},
    change::Change,
    environment::{network_policy, EnvironmentSpec},
    input::{EventsCreate, SessionInput, UserMessage},
    update::SessionUpdate,
    vault::{CredentialCreate, CredentialUpdate, VaultCreate, VaultUpdate},
};
use super::{
    error::ApiError,
    fields::Fields,
    json::Object,
    session::{CacheTtl, PromptCacheOptions, Review, SpendControl},
    MAX_IDEMPOTENCY_KEY, MAX_LIST, MAX_TEXT,
};

/// The body of `POST /v1/agents/sessions`.
///
/// Not built yet, and refused: a non-empty `vault_ids`, a limit in `spend_control`, and `review` other than none.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionCreate {
    /// Who works.
    pub agent: AgentChoice,
    /// Where commands run.
    pub environment: EnvironmentSpec,
    /// The first input, if any. Never an empty list.
    pub input: Option<Vec<UserMessage>>,
    /// The client's own notes.
    pub metadata: BTreeMap<String, String>,
    /// Whether the answer is a stream.
    pub stream: bool,
    /// How long the provider keeps the prompt's cache.
    pub prompt_cache_options: Option<PromptCacheOptions>,
    /// Who decides on approvals, if the client said so.
    pub review: Option<Review>,
    /// What the session may spend, if the client said so.
    pub spend_control: Option<SpendControl>,
}

impl SessionCreate {
    /// Reads a body.
    pub fn read(body: Object) -> Result<SessionCreate, ApiError> {
        let mut fields = Fields::body(body);
        let environment = EnvironmentSpec::read(
            fields.require("environment")?,
            fields.path_of("environment"),
        )?;
        let agent = AgentChoice::take(&mut fields)?;
        let input = input::initial(fields.take("input"), "input")?;
        let metadata = fields.metadata("metadata")?;
        fields.unsupported_list("vault_ids")?;
        let prompt_cache_options = cache_options(&mut fields)?;
        let review = review(&mut fields)?;
        let spend_control = spend_control(&mut fields)?;
        let stream = stream(&mut fields)?;
        fields.finish()?;
        if input.is_none() && matches!(environment, EnvironmentSpec::None) {
            return Err(ApiError::invalid(
                "conversation-only sessions currently require initial input",
            )
            .at("input"));
        }
        if input.is_none() && stream {
            return Err(
                ApiError::invalid("streaming session creation requires initial input").at("input"),
            );
        }
        Ok(SessionCreate {
            agent,
            environment,
            input,
            metadata,
            stream,
            prompt_cache_options,
            review,
            spend_control,
        })
    }
}

fn stream(fields: &mut Fields) -> Result<bool, ApiError> {
    let stream = fields.boolean("stream")?.unwrap_or(false);
    if let Some(mut options) = fields.object("stream_options")? {
        if !stream {
            return Err(ApiError::invalid(
                "'stream_options' is only allowed when 'stream' is true.",
            )
            .at("stream_options"));
        }
        options.boolean("include_obfuscation")?;
        options.finish()?;
    }
    Ok(stream)
}

/// Checks an `Idempotency-Key` header.
pub fn idempotency_key(header: Option<&str>) -> Result<Option<String>, ApiError> {
    let Some(key) = header else { return Ok(None) };
    let length = key.chars().count();
    if length == 0 || length > MAX_IDEMPOTENCY_KEY {
        return Err(ApiError::wrong_length(
            "Idempotency-Key",
            "string",
            1,
            MAX_IDEMPOTENCY_KEY,
            length,
        ));
    }
    Ok(Some(key.to_owned()))
}

/// An object without a `ttl` leaves it to the model, as does none.
fn cache_options(fields: &mut Fields) -> Result<Option<PromptCacheOptions>, ApiError> {
    let Some(mut options) = fields.object("prompt_cache_options")? else {
        return Ok(None);
    };
    options.not_null("ttl", "a string")?;
    let ttl = options.one_of(
        "ttl",
        &[("30m", CacheTtl::HalfHour), ("12h", CacheTtl::HalfDay)],
    )?;
    options.finish()?;
    Ok(ttl.map(|ttl| PromptCacheOptions { ttl }))
}

fn review(fields: &mut Fields) -> Result<Option<Review>, ApiError> {
    fields.not_null("review", "a string")?;
    let reviews = [("none", Some(Review::None)), ("auto_review", None)];
    match fields.one_of("review", &reviews)? {
        None => Ok(None),
        Some(Some(review)) => Ok(Some(review)),
        Some(None) => Err(ApiError::unsupported_value("review", "auto_review")),
    }
}

fn spend_control(fields: &mut Fields) -> Result<Option<SpendControl>, ApiError> {
    let Some(mut options) = fields.object("spend_control")? else {
        return Ok(None);
    };
    let path = options.path_of("limit");
    if !options.has("limit") {
        return Err(ApiError::missing(&path));
    }
    let limit = options.integer("limit", 1, i64::MAX)?;
    options.finish()?;
    match limit {
        None => Ok(Some(SpendControl::default())),
        Some(_) => Err(ApiError::unsupported(&path)),
    }
}
