use super::CallError;
use crate::environment::EnvironmentFault;
use crate::turn::{Identity, Refused, ToolResult, UserMessage};
use crate::wire::query::ListQuery;
use crate::wire::request::SessionUpdate;
use crate::wire::session::{Network, Session};
use cloister_protocol::Decision;
use serde::{Deserialize, Serialize};

/// What is asked of a SessionDO. Answers that the client sees are JSON text, handed on as it is.
#[derive(Serialize, Deserialize)]
pub enum SessionCall {
    /// Makes the session: its JSON.
    Create(Box<SessionCreation>),
    /// The session's JSON.
    Retrieve,
    /// Changes the session: its JSON.
    Update(Box<SessionUpdate>),
    /// Its sandbox has another policy: `()`.
    Network {
        /// What is shown of it.
        network: Network,
        /// The sandbox's network epoch; an older one than the last is passed over.
        epoch: u64,
    },
    /// Takes inputs from the client, all or none: `()`, or an [`InputError`].
    Input {
        /// The inputs, in order.
        inputs: Vec<ClientInput>,
        /// The client's key and the SHA-256 of the body it came with.
        idempotency: Option<(String, String)>,
    },
    /// A page of items: its JSON.
    Items {
        /// Of this subagent; none for the session's own agent.
        subagent: Option<String>,
        /// Which page.
        query: ListQuery,
    },
    /// A page of turns: its JSON.
    Turns {
        /// Of this subagent; none for the session's own agent.
        subagent: Option<String>,
        /// Which page.
        query: ListQuery,
    },
    /// A turn's JSON.
    Turn {
        /// The turn.
        turn_id: String,
        /// Of this subagent; none for the session's own agent.
        subagent: Option<String>,
    },
    /// A page of a turn's items: its JSON.
    TurnItems {
        /// The turn.
        turn_id: String,
        /// Of this subagent; none for the session's own agent.
        subagent: Option<String>,
        /// Which page.
        query: ListQuery,
    },
    /// A page of subagents: its JSON.
    Subagents {
        /// Which page.
        query: ListQuery,
    },
    /// A subagent's JSON.
    Subagent {
        /// The subagent.
        subagent: String,
    },
    /// A page of artifacts, in the order they were published: its JSON.
    Artifacts {
        /// Only of this environment. Another than the session's has none.
        environment: Option<String>,
        /// Which page.
        query: ListQuery,
    },
    /// An artifact's JSON.
    Artifact {
        /// The artifact.
        id: String,
    },
    /// Where an artifact's bytes are: an [`ArtifactContent`].
    ArtifactContent {
        /// The artifact.
        id: String,
    },
    /// Deletes an artifact and what it holds: `()`, also if that was done before.
    DeleteArtifact {
        /// The artifact.
        id: String,
    },
    /// Place in the log of an event: a number, or null if it is no event of this log, or what follows it is gone.
    Place {
        /// The event.
        event_id: String,
    },
    /// Ends the containers and forgets everything: `()`. Refused while anything runs or waits.
    Delete,
    /// What was published last under each path, by its name: `HashMap<String, Digest>`.
    Published,
    /// The harness that had this turn is gone, or never had it: `()`.
    HarnessLost {
        /// The turn.
        turn_id: String,
        /// Its environment cannot be made: why.
        fault: Option<EnvironmentFault>,
    },
}

/// An artifact as it is stored: parts of [`cloister_protocol::backup::PART_BYTES`] each but the last. An empty one has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactContent {
    /// What the keys of its parts begin with: see [`crate::checkpoint::key::part`].
    pub key_prefix: String,
    /// Absolute path of the file in the sandbox.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// What events of a harness meant, for the HarnessDO that reported them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// The newest event that is stored.
    pub last: u64,
    /// The harness's thread, if it was named.
    pub thread: Option<String>,
    /// Steers that were answered.
    pub steers: Vec<String>,
    /// Turns that ended.
    pub ended: Vec<String>,
    /// The checkpoint that is to be stored may be, until then, Unix milliseconds.
    pub saving: Option<u64>,
}

/// A session to make.
#[derive(Serialize, Deserialize)]
pub struct SessionCreation {
    /// Whose it is.
    pub identity: Identity,
    /// As the API shows it.
    pub session: Session,
    /// What the user said first.
    pub input: Vec<UserMessage>,
}

/// One input of the client.
#[derive(Serialize, Deserialize)]
pub enum ClientInput {
    /// Messages.
    Messages(Vec<UserMessage>),
    /// Cancel.
    Cancel,
    /// A result of a function call.
    ToolResult(ToolResult),
    /// An answer to a request for approval.
    Approval {
        /// The request.
        request_id: String,
        /// The answer.
        decision: Decision,
    },
}

/// Why inputs were not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputError {
    /// The call failed.
    Call(CallError),
    /// The session does not take one of them.
    Refused(Refused),
}

impl From<CallError> for InputError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}
