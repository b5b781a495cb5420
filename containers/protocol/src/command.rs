//! What the Worker tells the supervisor.
use crate::Json;
use serde::{Deserialize, Serialize};

/// One frame from the Worker. Repeating a command is harmless: each names what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// First frame of a link. Events after `acknowledged` are sent again; an older link is closed.
    Attach {
        /// Epoch of this link; a lower one than the supervisor has seen is refused by closing.
        epoch: u64,
        /// Highest sequence number the Worker has stored; 0 for none.
        acknowledged: u64,
    },
    /// Everything up to `seq` is stored; the supervisor may forget it.
    Acknowledge {
        /// Highest stored sequence number.
        seq: u64,
    },
    /// Runs one turn. The same `turn_id` again is ignored.
    StartTurn {
        /// Public id of the turn.
        turn_id: String,
        /// The harness's own thread to continue; none starts a new one.
        thread: Option<String>,
        /// Settings of the agent for this turn.
        agent: Box<AgentSettings>,
        /// What the user said.
        input: Vec<Input>,
    },
    /// Adds to the running turn; answered by `steered` or `steer_refused`.
    Steer {
        /// The turn that should be running.
        turn_id: String,
        /// Names this input in the answer.
        input_id: String,
        /// What the user said.
        input: Vec<Input>,
    },
    /// The client's answer to a `tool_call`. Ignored if the call is not open.
    ToolResult {
        /// The turn of the call.
        turn_id: String,
        /// The call.
        call_id: String,
        /// Whether the tool did its work.
        success: bool,
        /// What it gave, or why it failed.
        output: Vec<Input>,
    },
    /// The client's answer to an `approval_requested`. Ignored if the request is not open.
    Approval {
        /// The request.
        request_id: String,
        /// The answer.
        decision: Decision,
    },
    /// Stops the turn and everything it runs in the sandbox; `turn_ended` follows, unless it has ended already.
    Interrupt {
        /// The turn to stop.
        turn_id: String,
    },
    /// Stores the native history, as far as it is on disk; answered by `history_saved`, unless the link is cut before. One
    /// save may run and one wait; any more are answered at once, without success.
    SaveHistory {
        /// Grant for the first part.
        grant: String,
    },
    /// Asks for `pong`: the link and the supervisor are alive.
    Ping,
}

/// How the agent works in one turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    /// Instructions of the developer, added to the harness's own.
    pub instructions: Option<String>,
    /// Reasoning effort; none leaves it to the model.
    pub effort: Option<Effort>,
    /// Reasoning summary; none leaves it to the model.
    pub summary: Option<Summary>,
    /// Verbosity of answers; none leaves it to the model.
    pub verbosity: Option<Verbosity>,
    /// JSON Schema that the final answer follows; none for prose.
    pub output_schema: Option<Json>,
    /// Functions of the client that the agent may call.
    pub functions: Vec<Function>,
    /// How many subagents may work at once; none for no subagents.
    pub subagents: Option<u32>,
    /// Whether commands and files are to be had: there is a sandbox.
    pub sandbox: bool,
}

/// A function of the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Json,
    /// Whether the model is told of it only when it searches for tools.
    pub deferred: bool,
    /// Whether the agent goes on before there is a result: the supervisor tells the model at once that the call was
    /// accepted, and the result comes later as a `steer`.
    pub asynchronous: bool,
}

/// Answer to a request for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Do it.
    Approve,
    /// Do not.
    Deny,
    /// The request alone is dismissed.
    Cancel,
}

/// Reasoning effort, as the wire names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// Reasoning summary, as the wire names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Summary {
    Auto,
    Concise,
    Detailed,
}

/// Verbosity, as the wire names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Verbosity {
    Low,
    Medium,
    High,
}

/// One part of what the user said or a tool gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Text, verbatim.
    Text(String),
    /// An image: a `data` URL. Codex refuses any that it would have to fetch.
    Image(String),
}
