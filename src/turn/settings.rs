//! How an agent works, as the harness takes it.
use super::state::Session;
use crate::wire::session::{
    Agent, Effort, FunctionTool, ServiceTier, SummaryMode, TextFormat, Tool, Verbosity,
};
use cloister_protocol::{self as protocol, AgentSettings, Function};

impl Session {
    /// How the provider serves a turn that begins now; none leaves it to the provider.
    pub fn service_tier(&self) -> Option<String> {
        let tier = self.public.agent.service_tier;
        (tier != ServiceTier::Auto).then(|| tier.name().to_owned())
    }

    /// The agent's settings for a turn that begins now.
    pub fn agent_settings(&self) -> AgentSettings {
        settings_of(&self.public.agent, self.identity.environment_id.is_some())
    }
}

fn settings_of(agent: &Agent, sandbox: bool) -> AgentSettings {
    let multi_agent = agent.multi_agent;
    AgentSettings {
        instructions: agent.instructions.clone(),
        effort: agent.reasoning.effort.map(effort_of),
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
        output_schema: match &agent.text.format {
            TextFormat::Text => None,
            TextFormat::JsonSchema { schema } => Some(schema.clone()),
        },
        functions: agent.tools.iter().filter_map(function_of).collect(),
        subagents: multi_agent
            .max_concurrent_subagents
            .filter(|_| multi_agent.enabled),
        sandbox,
    }
}

fn function_of(tool: &Tool) -> Option<Function> {
    match tool {
        Tool::Function(FunctionTool {
            name,
            description,
            parameters,
            defer_loading,
            asynchronous,
        }) => Some(Function {
            name: name.clone(),
            description: description.clone(),
            parameters: parameters.clone(),
            deferred: *defer_loading,
            asynchronous: *asynchronous,
        }),
        // It only says that deferred functions are searched for.
        Tool::ToolSearch => None,
    }
}

fn effort_of(effort: Effort) -> protocol::Effort {
    match effort {
        Effort::None => protocol::Effort::None,
        Effort::Minimal => protocol::Effort::Minimal,
        Effort::Low => protocol::Effort::Low,
        Effort::Medium => protocol::Effort::Medium,
        Effort::High => protocol::Effort::High,
        Effort::Xhigh => protocol::Effort::Xhigh,
        Effort::Max => protocol::Effort::Max,
    }
}
