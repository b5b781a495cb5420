//! What requests say of an agent: a saved one, or a session's.
use std::collections::BTreeMap;

use super::{schema, tools, Change, MAX_TEXT};
use crate::wire::{
    error::ApiError,
    fields::Fields,
    json::Object,
    session::{
        Agent, Compaction, Effort, Experimental, MultiAgent, ReasoningOptions, ServiceTier,
        SummaryMode, TextFormat, TextOptions, Tool, Verbosity,
    },
};

/// Longest name of an agent, in characters.
const MAX_NAME: usize = 128;

/// Longest id of a saved agent, in characters.
const MAX_AGENT_ID: usize = 64;

/// Subagents that may work at once unless the client says so.
const SUBAGENTS: u32 = 6;

/// What a request says of an agent. Null has become what it resets to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentChanges {
    /// The preset.
    pub model: Change<String>,
    /// What the client wants of the agent.
    pub instructions: Change<Option<String>>,
    /// How it thinks.
    pub reasoning: Change<ReasoningOptions>,
    /// How it writes.
    pub text: Change<TextOptions>,
    /// How it is served.
    pub service_tier: Change<ServiceTier>,
    /// Whether it may have subagents.
    pub multi_agent: Change<MultiAgent>,
    /// What it may call.
    pub tools: Change<Vec<Tool>>,
    /// How a long history is compacted.
    pub compaction: Change<Option<Compaction>>,
    /// Whether the agent is told the time: this alone is merged, not replaced.
    pub time_awareness: Change<bool>,
}

impl AgentChanges {
    /// Takes what is known out of an agent's object.
    fn take(fields: &mut Fields) -> Result<AgentChanges, ApiError> {
        fields.not_null("model", "a string")?;
        Ok(AgentChanges {
            model: Change::of(fields, "model", |fields| {
                fields.required_string("model", 1, MAX_TEXT)
            })?,
            instructions: Change::of(fields, "instructions", |fields| {
                fields.string("instructions", 0, MAX_TEXT)
            })?,
            reasoning: Change::of(fields, "reasoning", reasoning)?,
            text: Change::of(fields, "text", text)?,
            service_tier: Change::of(fields, "service_tier", service_tier)?,
            multi_agent: Change::of(fields, "multi_agent", multi_agent)?,
            tools: Change::of(fields, "tools", tools::read)?,
            compaction: Change::of(fields, "compaction", compaction)?,
            time_awareness: time_awareness(fields)?,
        })
    }

    /// Changes an agent.
    pub fn apply(self, agent: &mut Agent) {
        self.model.apply(&mut agent.model);
        self.instructions.apply(&mut agent.instructions);
        self.reasoning.apply(&mut agent.reasoning);
        self.text.apply(&mut agent.text);
        self.service_tier.apply(&mut agent.service_tier);
        self.multi_agent.apply(&mut agent.multi_agent);
        self.tools.apply(&mut agent.tools);
        self.compaction.apply(&mut agent.compaction);
        if let Change::Set(time_awareness) = self.time_awareness {
            agent.experimental = Some(Experimental { time_awareness });
        }
    }
}

/// The body of `POST /v1/agents`.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCreate {
    /// The preset.
    pub model: String,
    /// The name.
    pub name: Option<String>,
    /// The client's own notes.
    pub metadata: BTreeMap<String, String>,
    /// The rest.
    pub changes: AgentChanges,
}

impl AgentCreate {
    /// Reads a body.
    pub fn read(body: Object) -> Result<AgentCreate, ApiError> {
        let mut fields = Fields::body(body);
        let model = fields.required_string("model", 1, MAX_TEXT)?;
        let name = fields.string("name", 0, MAX_NAME)?;
        let metadata = fields.metadata("metadata")?;
        let changes = AgentChanges::take(&mut fields)?;
        fields.finish()?;
        Ok(AgentCreate {
            model,
            name,
            metadata,
            changes,
        })
    }
}

/// The body of `POST /v1/agents/{agent}`. An empty one changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentUpdate {
    /// The name.
    pub name: Change<Option<String>>,
    /// The client's own notes: all of them.
    pub metadata: Change<BTreeMap<String, String>>,
    /// The rest.
    pub changes: AgentChanges,
}

impl AgentUpdate {
    /// Reads a body.
    pub fn read(body: Object) -> Result<AgentUpdate, ApiError> {
        let mut fields = Fields::body(body);
        let update = AgentUpdate {
            name: Change::of(&mut fields, "name", |fields| {
                fields.string("name", 0, MAX_NAME)
            })?,
            metadata: Change::of(&mut fields, "metadata", |fields| {
                fields.metadata("metadata")
            })?,
            changes: AgentChanges::take(&mut fields)?,
        };
        fields.finish()?;
        Ok(update)
    }
}

/// The agent that a session is created with.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentChoice {
    /// One of its own.
    Inline {
        /// The preset.
        model: String,
        /// The rest.
        changes: AgentChanges,
    },
    /// A copy of a saved one.
    Saved {
        /// Which. May be no id at all.
        agent_id: String,
        /// What is different in this session.
        changes: AgentChanges,
    },
}

impl AgentChoice {
    /// Takes `agent_id` and `agent` out of a session's body.
    pub(super) fn take(fields: &mut Fields) -> Result<AgentChoice, ApiError> {
        let agent_id = fields.string("agent_id", 1, MAX_AGENT_ID)?;
        let agent = fields.object("agent")?;
        let Some(agent_id) = agent_id else {
            let mut agent = agent.ok_or_else(|| ApiError::missing("agent"))?;
            let model = agent.required_string("model", 1, MAX_TEXT)?;
            let changes = AgentChanges::take(&mut agent)?;
            agent.finish()?;
            return Ok(AgentChoice::Inline { model, changes });
        };
        let mut changes = AgentChanges::default();
        if let Some(mut agent) = agent {
            changes = AgentChanges::take(&mut agent)?;
            agent.finish()?;
        }
        Ok(AgentChoice::Saved { agent_id, changes })
    }
}

const EFFORTS: [(&str, Effort); 7] = [
    ("none", Effort::None),
    ("minimal", Effort::Minimal),
    ("low", Effort::Low),
    ("medium", Effort::Medium),
    ("high", Effort::High),
    ("xhigh", Effort::Xhigh),
    ("max", Effort::Max),
];

pub(super) fn effort(options: &mut Fields) -> Result<Option<Effort>, ApiError> {
    options.one_of("effort", &EFFORTS)
}

fn reasoning(fields: &mut Fields) -> Result<ReasoningOptions, ApiError> {
    let Some(mut options) = fields.object("reasoning")? else {
        return Ok(ReasoningOptions::default());
    };
    let effort = effort(&mut options)?;
    let summaries = [
        ("concise", SummaryMode::Concise),
        ("detailed", SummaryMode::Detailed),
        ("auto", SummaryMode::Auto),
    ];
    let summary = options.one_of("summary", &summaries)?;
    options.finish()?;
    Ok(ReasoningOptions { effort, summary })
}

fn text(fields: &mut Fields) -> Result<TextOptions, ApiError> {
    let Some(mut options) = fields.object("text")? else {
        return Ok(TextOptions::default());
    };
    let format = match options.object("format")? {
        Some(format) => text_format(format)?,
        None => TextFormat::Text,
    };
    let verbosities = [
        ("low", Verbosity::Low),
        ("medium", Verbosity::Medium),
        ("high", Verbosity::High),
    ];
    let verbosity = options
        .one_of("verbosity", &verbosities)?
        .unwrap_or_default();
    options.finish()?;
    Ok(TextOptions { format, verbosity })
}

fn text_format(mut format: Fields) -> Result<TextFormat, ApiError> {
    let is_json = format.required_one_of("type", &[("text", false), ("json_schema", true)])?;
    let read = if is_json {
        TextFormat::JsonSchema {
            schema: schema::read(&mut format, "schema")?,
        }
    } else {
        TextFormat::Text
    };
    format.finish()?;
    Ok(read)
}

pub(super) fn service_tier(fields: &mut Fields) -> Result<ServiceTier, ApiError> {
    let tiers = [
        ("auto", ServiceTier::Auto),
        ("default", ServiceTier::Default),
        ("flex", ServiceTier::Flex),
        ("priority", ServiceTier::Priority),
        ("fast", ServiceTier::Fast),
        ("ultrafast", ServiceTier::Ultrafast),
    ];
    Ok(fields.one_of("service_tier", &tiers)?.unwrap_or_default())
}

fn multi_agent(fields: &mut Fields) -> Result<MultiAgent, ApiError> {
    let Some(mut options) = fields.object("multi_agent")? else {
        return Ok(MultiAgent::default());
    };
    let enabled = options.required_boolean("enabled")?;
    options.not_null("max_concurrent_subagents", "an integer")?;
    let most = options.integer("max_concurrent_subagents", 1, i64::from(u32::MAX))?;
    options.finish()?;
    let most = most
        .and_then(|most| u32::try_from(most).ok())
        .unwrap_or(SUBAGENTS);
    Ok(MultiAgent {
        enabled,
        max_concurrent_subagents: enabled.then_some(most),
    })
}

fn compaction(fields: &mut Fields) -> Result<Option<Compaction>, ApiError> {
    let mut asynchronous = false;
    if let Some(mut options) = fields.object("compaction")? {
        asynchronous = options.boolean("async")?.unwrap_or_default();
        options.finish()?;
    }
    Ok(Some(Compaction { asynchronous }))
}

fn time_awareness(fields: &mut Fields) -> Result<Change<bool>, ApiError> {
    let Some(mut options) = fields.object_not_null("experimental")? else {
        return Ok(Change::Keep);
    };
    options.not_null("time_awareness", "a boolean")?;
    let known = options.boolean("time_awareness")?;
    options.finish()?;
    Ok(known.map_or(Change::Keep, Change::Set))
}
