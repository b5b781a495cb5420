//! The agent that a session is created with.
use super::MAX_TEXT;
use crate::wire::{
    error::ApiError,
    fields::Fields,
    session::{
        Effort, ReasoningOptions, ServiceTier, SummaryMode, TextFormat, TextOptions, Verbosity,
    },
};

/// An agent's configuration, with defaults filled in.
///
/// Not built yet, and refused: `tools`, subagents, JSON answers, service tiers that are bought, `compaction`, `experimental`.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSpec {
    /// The preset.
    pub model: String,
    /// What the client wants of the agent.
    pub instructions: Option<String>,
    /// How it thinks.
    pub reasoning: ReasoningOptions,
    /// How it writes.
    pub text: TextOptions,
    /// How it is served.
    pub service_tier: ServiceTier,
}

impl AgentSpec {
    pub(super) fn read(mut fields: Fields) -> Result<AgentSpec, ApiError> {
        let model = fields.required_string("model", 1, MAX_TEXT)?;
        let instructions = fields.string("instructions", 0, MAX_TEXT)?;
        let reasoning = reasoning(&mut fields)?;
        let text = text(&mut fields)?;
        let service_tier = service_tier(&mut fields)?;
        no_subagents(&mut fields)?;
        fields.unsupported_list("tools")?;
        fields.unsupported(&["compaction", "experimental"])?;
        fields.finish()?;
        Ok(AgentSpec {
            model,
            instructions,
            reasoning,
            text,
            service_tier,
        })
    }
}

fn reasoning(fields: &mut Fields) -> Result<ReasoningOptions, ApiError> {
    let Some(mut options) = fields.object("reasoning")? else {
        return Ok(ReasoningOptions::default());
    };
    let efforts = [
        ("none", Effort::None),
        ("minimal", Effort::Minimal),
        ("low", Effort::Low),
        ("medium", Effort::Medium),
        ("high", Effort::High),
        ("xhigh", Effort::Xhigh),
        ("max", Effort::Max),
    ];
    let effort = options.one_of("effort", &efforts)?;
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
    if let Some(mut format) = options.object("format")? {
        if !format.required_one_of("type", &[("text", true), ("json_schema", false)])? {
            return Err(ApiError::unsupported_value(
                &format.path_of("type"),
                "json_schema",
            ));
        }
        format.finish()?;
    }
    let verbosities = [
        ("low", Verbosity::Low),
        ("medium", Verbosity::Medium),
        ("high", Verbosity::High),
    ];
    let verbosity = options
        .one_of("verbosity", &verbosities)?
        .unwrap_or_default();
    options.finish()?;
    Ok(TextOptions {
        format: TextFormat::Text,
        verbosity,
    })
}

fn service_tier(fields: &mut Fields) -> Result<ServiceTier, ApiError> {
    let tiers = [
        ("auto", Ok(ServiceTier::Auto)),
        ("default", Ok(ServiceTier::Default)),
        ("flex", Err("flex")),
        ("priority", Err("priority")),
        ("fast", Err("fast")),
        ("ultrafast", Err("ultrafast")),
    ];
    match fields.one_of("service_tier", &tiers)? {
        None => Ok(ServiceTier::Auto),
        Some(Ok(tier)) => Ok(tier),
        Some(Err(name)) => Err(ApiError::unsupported_value(
            &fields.path_of("service_tier"),
            name,
        )),
    }
}

fn no_subagents(fields: &mut Fields) -> Result<(), ApiError> {
    let Some(mut options) = fields.object("multi_agent")? else {
        return Ok(());
    };
    let path = options.path_of("enabled");
    options.not_null("enabled", "a boolean")?;
    let enabled = options
        .boolean("enabled")?
        .ok_or_else(|| ApiError::missing(&path))?;
    options.integer("max_concurrent_subagents", 1, i64::from(u32::MAX))?;
    options.finish()?;
    if enabled {
        return Err(ApiError::unsupported_value(&path, "true"));
    }
    Ok(())
}
