//! Items: the entries of a conversation. They are written, and never read back.
mod message;
mod subagent;
mod tool;

use serde::Serialize;

pub use self::{
    message::{Content, InputContent, Message, OutputStatus, Phase, Reasoning, Role, Summary},
    subagent::{
        AgentMessage, CreateSubagentCall, SendSubagentInputCall, SubagentCall, WaitForSubagentsCall,
    },
    tool::{
        CallStatus, CommandExecution, FunctionCall, FunctionCallOutput, McpCall, ToolOutput,
        WebAction, WebSearchCall,
    },
};

macro_rules! items {
    ($($(#[$doc:meta])* $variant:ident($item:ident)),* $(,)?) => {
        /// An item of a session. `id` and `turn_id` come right after `type`.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Item { $($(#[$doc])* $variant($item),)* }

        impl Item {
            /// The item's id.
            pub fn id(&self) -> &str {
                match self { $(Item::$variant(item) => &item.id,)* }
            }

            /// The id of its turn.
            pub fn turn_id(&self) -> &str {
                match self { $(Item::$variant(item) => &item.turn_id,)* }
            }
        }
    };
}

items! {
    /// Words of the user or of the agent.
    Message(Message),
    /// A summary of the model's reasoning.
    Reasoning(Reasoning),
    /// A call of a function of the client's.
    FunctionCall(FunctionCall),
    /// The client's answer to one.
    FunctionCallOutput(FunctionCallOutput),
    /// A command in the sandbox.
    CommandExecution(CommandExecution),
    /// A call of a tool of an MCP server.
    McpCall(McpCall),
    /// A search of the web.
    WebSearchCall(WebSearchCall),
    /// An agent makes a subagent.
    CreateSubagentCall(CreateSubagentCall),
    /// An agent gives a subagent more to do.
    SendSubagentInputCall(SendSubagentInputCall),
    /// An agent waits for subagents.
    WaitForSubagentsCall(WaitForSubagentsCall),
    /// An agent stops what a subagent does.
    InterruptSubagentCall(SubagentCall),
    /// An agent lets a subagent go on.
    ResumeSubagentCall(SubagentCall),
    /// An agent closes a subagent.
    CloseSubagentCall(SubagentCall),
    /// An agent's words to another.
    AgentMessage(AgentMessage),
}

#[cfg(test)]
mod tests;
