//! Bodies of requests.
//!
//! What is read here is the part of the API that is built. Fields and values that the API has beyond that are refused by
//! name; see each type.

mod agent;
mod environment;
mod input;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use self::{
    agent::AgentSpec,
    environment::EnvironmentSpec,
    input::{EventsCreate, SessionInput, UserMessage},
};
use super::{
    error::ApiError,
    fields::Fields,
    session::{CacheTtl, PromptCacheOptions},
    MAX_IDEMPOTENCY_KEY, MAX_LIST, MAX_TEXT,
};

/// The body of `POST /v1/agents/sessions`.
///
/// Not built yet, and refused: `agent_id`, a non-empty `vault_ids`, `spend_control` and `review` other than off.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionCreate {
    /// Who works.
    pub agent: AgentSpec,
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
}

impl SessionCreate {
    /// Reads a body.
    pub fn read(body: Map<String, Value>) -> Result<SessionCreate, ApiError> {
        let mut fields = Fields::body(body);
        fields.unsupported(&["agent_id"])?;
        let environment = EnvironmentSpec::read(
            fields.require("environment")?,
            fields.path_of("environment"),
        )?;
        let agent = AgentSpec::read(
            fields
                .object("agent")?
                .ok_or_else(|| ApiError::missing("agent"))?,
        )?;
        let input = input::initial(fields.take("input"), "input")?;
        let metadata = strings(fields.metadata("metadata")?);
        fields.unsupported_list("vault_ids")?;
        let prompt_cache_options = cache_options(&mut fields)?;
        fields.not_null("review", "a string")?;
        let review = [("none", true), ("auto_review", false)];
        if fields.one_of("review", &review)? == Some(false) {
            return Err(ApiError::unsupported_value("review", "auto_review"));
        }
        fields.unsupported(&["spend_control"])?;
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
        })
    }
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
    Ok(Some(PromptCacheOptions { ttl }))
}

fn strings(map: Map<String, Value>) -> BTreeMap<String, String> {
    map.into_iter()
        .filter_map(|(key, value)| Some((key, value.as_str()?.to_owned())))
        .collect()
}
