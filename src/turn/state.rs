use super::cells::Cells;
use super::environment::Told;
use super::saving::Attempt;
use crate::checkpoint::{Checkpoint, CheckpointId};
use crate::tenant::TenantHash;
use crate::wire::item::InputContent;
use crate::wire::session::{self, SessionStatus, TokenUsage};
use crate::wire::subagent::Subagent;
use crate::wire::turn::{Turn, TurnStatus};
use cloister_protocol::{Decision, Json, Phase};
use serde::{Deserialize, Serialize};

/// A session: what the API shows of it, and what is not shown.
///
/// It is stored in [cells](super::Cell): what is large and rarely changes apart from what changes with each event.
#[derive(Clone, Debug)]
pub struct Session {
    /// Whose it is; never changes.
    pub identity: Identity,
    /// As the API shows it.
    pub public: session::Session,
    /// Rises with each change of `public` that the catalog is told of; orders copies there.
    pub version: u64,
    pub(super) core: Core,
    /// Items of the running turn that have begun and not ended, by output index.
    pub(super) open: Cells<OpenItem>,
    /// What waits for the running turn to start, or for the next turn, in order.
    pub(super) waiting: Cells<Said>,
    /// What was sent to steer the running turn, until the harness answers.
    pub(super) steering: Cells<Steering>,
    /// Function calls: those that are open, and the newest of those that are not.
    pub(super) calls: Cells<FunctionCall>,
    /// Requests for approval that are open.
    pub(super) approvals: Cells<Approval>,
    /// Subagents of the harness instance that runs, closed ones among them.
    pub(super) subagents: Cells<Child>,
    /// Whether `identity`, `public` or `version` changed since it was stored.
    pub(super) public_changed: bool,
}

/// Whose a session is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Tenant of the session.
    pub tenant: TenantHash,
    /// Public id of its environment; none for a session that only talks.
    pub environment_id: Option<String>,
    /// Name of its event log, from which the ids of its events are made.
    pub stream: String,
    /// Patterns of what of its workspace checkpoints leave out.
    #[serde(default)]
    pub exclude: Vec<String>,
}

/// What changes with each event: small.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Core {
    pub last_active_at: u64,
    pub usage: Option<TokenUsage>,
    pub running: Option<Running>,
    /// What a turn begins from.
    pub checkpoint: Option<Checkpoint>,
    /// What events have said of the environment.
    #[serde(default)]
    pub environment: Told,
    pub seen: Seen,
    /// Place of the newest event in the log.
    pub last_event: u64,
    /// Bytes that the log holds.
    pub log_bytes: u64,
    /// Place of the newest event that the log does not hold any more.
    pub log_trimmed: u64,
}

/// A part of a conversation that the user, or a function of the client, contributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// What is said.
    pub content: UserMessage,
    /// Whether it is shown as a message of the user; what a function gave late is shown as its output.
    pub shown: bool,
}

/// What a user said at once: the parts of one message.
pub type UserMessage = Vec<InputContent>;

/// The running turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Running {
    pub turn: Turn,
    pub usage: Option<TokenUsage>,
    pub next_output_index: u32,
    /// Why it is being stopped, and when its containers end if it has not stopped, Unix milliseconds.
    pub stopping: Option<(Stopping, u64)>,
    /// The harness has finished it, and its checkpoint is being made.
    pub saving: Option<Attempt>,
    /// When it is stopped, Unix milliseconds.
    pub deadline: u64,
    /// Bytes of events and items it has written.
    pub written: u64,
    /// Whether it is known to be with its harness.
    #[serde(default)]
    pub brought: bool,
}

/// Why a turn is being stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stopping {
    /// The client cancelled it.
    Cancelled,
    /// It ran past its deadline.
    TimedOut,
    /// It wrote more than a turn may.
    Flooded,
}

/// An item that has begun and not ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenItem {
    /// The harness's id.
    pub harness_id: String,
    /// The public id.
    pub id: String,
    pub kind: OpenKind,
    /// What has been shown of its text, part by part. Stored apart, delta by delta.
    #[serde(skip)]
    pub texts: Vec<String>,
}

/// What an open item is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum OpenKind {
    Message {
        phase: Option<Phase>,
    },
    Reasoning,
    Command {
        command: String,
        cwd: Option<String>,
    },
    /// What has no text and is made of the harness's item when it ends.
    Whole(Box<cloister_protocol::ItemKind>),
}

/// Something that was sent to steer the running turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Steering {
    pub input_id: String,
    pub said: Vec<Said>,
}

/// A call of a function of the client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FunctionCall {
    pub call_id: String,
    pub turn_id: String,
    pub name: String,
    pub arguments: Json,
    /// The public id of its item.
    pub item_id: String,
    pub output_index: u32,
    /// Whether the turn goes on without its result.
    pub asynchronous: bool,
    pub state: CallState,
}

/// Where a function call stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CallState {
    /// The client has not answered.
    Open,
    /// It has; a digest of the answer, to know it again.
    Answered(String),
    /// Its turn ended first.
    Dropped,
}

/// An open request for approval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Approval {
    /// The public id.
    pub request_id: String,
    /// The harness's id.
    pub harness_id: String,
    pub turn_id: String,
    pub server: String,
    pub tool: Option<String>,
    pub message: String,
    pub arguments: Option<Json>,
    /// The client's answer, once it is given: then the harness closes the request.
    pub decision: Option<Decision>,
}

/// A subagent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Child {
    /// The harness's id.
    pub harness_id: String,
    pub public: Subagent,
    /// Its turns that run, with the harness's ids.
    pub turns: Vec<(String, Turn)>,
}

/// The newest event of a harness that was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    pub epoch: u64,
    pub seq: u64,
}

impl Session {
    /// A session that was just created, idle.
    pub fn new(identity: Identity, public: session::Session) -> Self {
        Self {
            core: Core {
                last_active_at: public.last_active_at,
                ..Core::default()
            },
            identity,
            public,
            version: 1,
            open: Cells::default(),
            waiting: Cells::default(),
            steering: Cells::default(),
            calls: Cells::default(),
            approvals: Cells::default(),
            subagents: Cells::default(),
            public_changed: true,
        }
    }

    /// When [`step`](Self::step) wants a [`Tick`](super::Input::Tick), Unix milliseconds.
    pub fn wake_at(&self) -> Option<u64> {
        self.core.running.as_ref().map(Running::wake_at)
    }

    /// Whether it may be deleted: nothing runs and nothing waits.
    pub fn is_settled(&self) -> bool {
        self.core.running.is_none() && self.waiting.is_empty() && self.steering.is_empty()
    }

    /// Whether it has failed: it takes nothing from its client any more, and nothing follows from anything.
    pub fn has_failed(&self) -> bool {
        self.public.status == SessionStatus::Failed
    }

    /// How much input waits to be taken, in bytes of JSON.
    pub fn waiting_bytes(&self) -> usize {
        let waiting = self.waiting.iter().map(|(_, said)| said);
        let steering = self
            .steering
            .iter()
            .flat_map(|(_, steering)| &steering.said);
        waiting
            .chain(steering)
            .map(|said| bytes_of(&said.content))
            .sum()
    }

    /// The committed checkpoint.
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        self.core.checkpoint.as_ref()
    }

    /// The checkpoint of the running turn that is being made. Nothing of any other may be stored.
    pub fn attempt(&self) -> Option<&CheckpointId> {
        let running = self.core.running.as_ref()?;
        running.saving.as_ref().map(|attempt| &attempt.id)
    }

    /// Until when its objects may be stored, Unix milliseconds.
    pub fn save_until(&self) -> Option<u64> {
        let running = self.core.running.as_ref()?;
        running.saving.as_ref().map(|attempt| attempt.until)
    }

    /// The running turn's id.
    pub fn running_turn(&self) -> Option<&str> {
        self.core
            .running
            .as_ref()
            .map(|running| running.turn.id.as_str())
    }

    /// Place of the newest event in the log.
    pub fn last_event(&self) -> u64 {
        self.core.last_event
    }

    /// Bytes that the log holds.
    pub fn log_bytes(&self) -> u64 {
        self.core.log_bytes
    }

    /// Place after which the log is whole.
    pub fn log_begins(&self) -> u64 {
        self.core.log_trimmed
    }

    /// The oldest events of the log, `bytes` up to place `last`, are gone.
    pub fn log_trimmed(&mut self, bytes: u64, last: u64) {
        self.core.log_bytes = self.core.log_bytes.saturating_sub(bytes);
        self.core.log_trimmed = last;
    }

    /// Highest event of the harness instance `epoch` that was taken; 0 for none.
    pub fn seen(&self, epoch: u64) -> u64 {
        let Seen { epoch: seen, seq } = self.core.seen;
        if seen == epoch {
            seq
        } else {
            0
        }
    }
}

impl Running {
    /// Whether the harness can be told anything more. It does not have a turn that is queued, and is done with one that stops
    /// or is saved.
    pub(super) fn is_steerable(&self) -> bool {
        self.turn.status != TurnStatus::Queued && self.stopping.is_none() && self.saving.is_none()
    }

    /// When it is next looked at. While a turn is saved, the time for that is all that counts.
    pub(super) fn wake_at(&self) -> u64 {
        match (&self.saving, self.stopping) {
            (Some(attempt), _) => attempt.until,
            (None, Some((_, end))) => end,
            (None, None) => self.deadline,
        }
    }
}

/// Bytes of a message as JSON, which is how it is stored.
pub fn bytes_of(content: &[InputContent]) -> usize {
    serde_json::to_vec(content).map_or(usize::MAX, |json| json.len())
}
