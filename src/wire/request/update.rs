//! Changes of a session.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{agent, cache_options, review, spend_control, tools, Change, MAX_TEXT};
use crate::wire::{
    error::ApiError,
    fields::Fields,
    json::Object,
    session::{Effort, PromptCacheOptions, Review, ServiceTier, Session, SpendControl, Tool},
};

/// The body of `POST /v1/agents/sessions/{session}`. It holds for turns that start afterwards.
///
/// Null has become what it resets to. Instructions, text and environment cannot be changed, and are unknown here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionUpdate {
    /// The preset.
    pub model: Change<String>,
    /// How hard to think. The kind of summary stays.
    pub effort: Change<Option<Effort>>,
    /// How the agent is served.
    pub service_tier: Change<ServiceTier>,
    /// What it may call.
    pub tools: Change<Vec<Tool>>,
    /// The client's own notes: all of them.
    pub metadata: Change<BTreeMap<String, String>>,
    /// How long the provider keeps the prompt's cache.
    pub prompt_cache_options: Change<Option<PromptCacheOptions>>,
    /// Who decides on approvals.
    pub review: Change<Option<Review>>,
    /// What the session may spend. What it has spent stays.
    pub spend_control: Change<Option<SpendControl>>,
}

impl SessionUpdate {
    /// Reads a body.
    pub fn read(body: Object) -> Result<SessionUpdate, ApiError> {
        if body.is_empty() {
            return Err(ApiError::invalid("At least one update field is required"));
        }
        let mut fields = Fields::body(body);
        let mut update = SessionUpdate::default();
        if let Some(agent) = fields.object_not_null("agent")? {
            update.take_agent(agent)?;
        }
        update.metadata = Change::of(&mut fields, "metadata", |fields| {
            fields.metadata("metadata")
        })?;
        update.prompt_cache_options =
            Change::of(&mut fields, "prompt_cache_options", cache_options)?;
        update.review = Change::of(&mut fields, "review", review)?;
        update.spend_control = Change::of(&mut fields, "spend_control", spend_control)?;
        fields.finish()?;
        Ok(update)
    }

    fn take_agent(&mut self, mut agent: Fields) -> Result<(), ApiError> {
        agent.not_null("model", "a string")?;
        self.model = Change::of(&mut agent, "model", |agent| {
            agent.required_string("model", 1, MAX_TEXT)
        })?;
        if let Some(mut reasoning) = agent.object_not_null("reasoning")? {
            self.effort = Change::of(&mut reasoning, "effort", agent::effort)?;
            reasoning.finish()?;
        }
        self.service_tier = Change::of(&mut agent, "service_tier", agent::service_tier)?;
        self.tools = Change::of(&mut agent, "tools", tools::read)?;
        agent.finish()
    }

    /// Changes a session.
    pub fn apply(self, session: &mut Session) {
        let agent = &mut session.agent;
        self.model.apply(&mut agent.model);
        self.effort.apply(&mut agent.reasoning.effort);
        self.service_tier.apply(&mut agent.service_tier);
        self.tools.apply(&mut agent.tools);
        agent.tools.retain(Tool::is_shown_in_sessions);
        self.metadata.apply(&mut session.metadata);
        self.prompt_cache_options
            .apply(&mut session.prompt_cache_options);
        self.review.apply(&mut session.review);
        self.spend_control.apply(&mut session.spend_control);
    }
}
