use crate::tenant::TenantHash;
use crate::wire::item::InputContent;
use crate::wire::session::{self, TokenUsage};
use crate::wire::turn::Turn;
use cloister_protocol::AgentSettings;
use serde::{Deserialize, Serialize};

/// A session: what the API shows of it, and what is not shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Session {
    /// Whose it is and how its agent runs; never changes.
    pub identity: Identity,
    /// As the API shows it.
    pub public: session::Session,
    /// Rises with each change of `public`; orders copies of it in the catalog.
    pub version: u64,
    pub(super) running: Option<Running>,
    /// Messages that wait for the running turn to start, or for the next turn, in order.
    pub(super) waiting: Vec<UserMessage>,
    /// Messages sent to steer a turn, until the harness answers.
    pub(super) steering: Vec<Steering>,
    pub(super) seen: Seen,
}

/// Whose a session is and how its agent runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// Tenant of the session.
    pub tenant: TenantHash,
    /// Public id of its environment.
    pub environment_id: String,
    /// Preset that `agent.model` named.
    pub preset: String,
    /// The agent's settings as the harness takes them.
    pub settings: AgentSettings,
}

/// What a user said at once: the parts of one message.
pub type UserMessage = Vec<InputContent>;

/// The running turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Running {
    pub turn: Turn,
    pub usage: Option<TokenUsage>,
    pub next_output_index: u32,
    pub open: Vec<OpenItem>,
    /// Why it is being stopped, and when its containers end if it has not stopped, Unix milliseconds.
    pub stopping: Option<(Stopping, u64)>,
    /// When it is stopped, Unix milliseconds.
    pub deadline: u64,
}

/// Why a turn is being stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stopping {
    /// The client cancelled it.
    Cancelled,
    /// It ran past its deadline.
    TimedOut,
}

/// An item that has begun and not ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenItem {
    /// The harness's id.
    pub harness_id: String,
    /// The public id.
    pub id: String,
    pub output_index: u32,
    pub so_far: SoFar,
}

/// What has been shown of an open item.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum SoFar {
    Message {
        text: String,
        phase: Option<cloister_protocol::Phase>,
    },
    Reasoning {
        parts: Vec<String>,
    },
    Command {
        command: String,
        cwd: Option<String>,
    },
}

/// A message sent to steer a turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Steering {
    pub input_id: String,
    pub turn_id: String,
    pub messages: Vec<UserMessage>,
}

/// The newest event of a harness that was taken.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Seen {
    pub epoch: u64,
    pub seq: u64,
}

impl Session {
    /// A session that was just created, idle.
    pub fn new(identity: Identity, public: session::Session) -> Self {
        Self {
            identity,
            public,
            version: 1,
            running: None,
            waiting: Vec::new(),
            steering: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// When [`step`](Self::step) wants a [`Tick`](super::Input::Tick), Unix milliseconds.
    pub fn wake_at(&self) -> Option<u64> {
        self.running
            .as_ref()
            .map(|running| running.stopping.map_or(running.deadline, |(_, end)| end))
    }

    /// Whether it may be deleted: nothing runs and nothing waits.
    pub fn is_settled(&self) -> bool {
        self.running.is_none() && self.waiting.is_empty() && self.steering.is_empty()
    }

    /// How much input waits to be taken, in bytes of JSON.
    pub fn waiting_bytes(&self) -> usize {
        let steering = self.steering.iter().map(|steering| &steering.messages);
        let all: Vec<_> = std::iter::once(&self.waiting).chain(steering).collect();
        serde_json::to_vec(&all).map_or(usize::MAX, |json| json.len())
    }

    /// The running turn's id.
    pub fn running_turn(&self) -> Option<&str> {
        self.running
            .as_ref()
            .map(|running| running.turn.id.as_str())
    }
}
