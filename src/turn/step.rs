use super::log::Chunk;
use super::saving::Save;
use super::state::{Said, Seen, Session, Stopping, UserMessage};
use super::stored::TextWrite;
use super::{lifecycle, log};
use crate::checkpoint::{CheckpointId, Digest, Garbage, Saved, Unsaved};
use crate::environment::EnvironmentFault;
use crate::wire::artifact::Artifact;
use crate::wire::event::{Event, SessionEvent, TurnEvent};
use crate::wire::id::Kind;
use crate::wire::item::{Item, ToolOutput};
use crate::wire::request::SessionUpdate;
use crate::wire::subagent::Subagent;
use crate::wire::turn::{Turn, TurnErrorCode};
use cloister_protocol::{self as protocol, Decision};
use serde::{Deserialize, Serialize};

/// What happens to a session.
#[derive(Clone, Debug)]
pub enum Input {
    /// The client says something.
    Messages(Vec<UserMessage>),
    /// The client cancels what runs.
    Cancel,
    /// The client gives the result of a function call.
    ToolResult(ToolResult),
    /// The client answers a request for approval.
    ApprovalResult {
        /// The request.
        request_id: String,
        /// The answer.
        decision: Decision,
    },
    /// The client changes the session.
    Update(Box<SessionUpdate>),
    /// The harness instance `epoch` reports.
    Harness {
        /// Epoch of the instance.
        epoch: u64,
        /// Number of the event.
        seq: u64,
        /// The event.
        event: Box<protocol::Event>,
    },
    /// The harness has finished a turn, and its checkpoint is to be made. Nothing of that is stored before this is, and only if
    /// it then is the session's [`attempt`](Session::attempt).
    Saving {
        /// The turn.
        turn_id: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// The checkpoint of a turn is whole in the store. Counts if the end of the turn follows in the same step.
    Saved {
        /// The turn.
        turn_id: String,
        /// The checkpoint.
        saved: Box<Saved>,
    },
    /// There is no checkpoint of a turn. Counts if the end of the turn follows in the same step.
    Unsaved {
        /// The turn.
        turn_id: String,
        /// Why.
        why: Unsaved,
    },
    /// The turn was brought to a harness. May come after what that reports of it.
    Started {
        /// The turn.
        turn_id: String,
        /// Whether it has another sandbox than the turn before, or the first.
        new_sandbox: bool,
    },
    /// The turn could not be brought to a harness.
    NotStarted {
        /// The turn.
        turn_id: String,
        /// Its environment cannot be made; none if a next turn may have it.
        fault: Option<EnvironmentFault>,
    },
    /// The harness that had the turn is gone; what it did is unknown.
    Lost {
        /// The turn.
        turn_id: String,
    },
    /// A steer could not be brought to the harness.
    NotSteered {
        /// The input.
        input_id: String,
    },
    /// Time has passed.
    Tick,
}

/// The client's result of a function call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The turn of the call.
    pub turn_id: String,
    /// The call.
    pub call_id: String,
    /// Whether the function did its work.
    pub success: bool,
    /// What it gave.
    pub output: Option<ToolOutput>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Why a client's input is not taken. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refused {
    /// No such function call: it may come yet, so the client may try again.
    UnknownCall(String),
    /// The function call belongs to another turn.
    OtherTurn(String),
    /// The call or request has another answer, or its turn is over.
    Answered(String),
    /// No such request for approval.
    UnknownApproval(String),
    /// The session has failed.
    Failed,
}

/// What follows: stored in one transaction with the changed state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// For the log, in order.
    pub chunks: Vec<Chunk>,
    /// Items to write, in order.
    pub items: Vec<ItemWrite>,
    /// Turns to write, in order.
    pub turns: Vec<Turn>,
    /// Subagents to write, in order.
    pub subagents: Vec<Subagent>,
    /// Text of open items to add, in order.
    pub texts: Vec<TextWrite>,
    /// For the outbox, in order.
    pub effects: Vec<Effect>,
    /// Artifacts that are published.
    pub artifacts: Vec<ArtifactWrite>,
    /// Objects to delete, once at once and once more when no more of them may appear.
    pub garbage: Vec<Garbage>,
    /// What became of the running turn's checkpoint, for the end of the turn that follows.
    pub(super) save: Option<Save>,
}

/// A published artifact, and where it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactWrite {
    /// As the API shows it.
    pub artifact: Artifact,
    /// The checkpoint that it was stored with.
    pub checkpoint: CheckpointId,
    /// Its place there.
    pub index: u32,
    /// SHA-256 that it was announced with.
    pub sha256: Digest,
}

/// A change of the stored conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemWrite {
    /// A new item at the end of a conversation.
    Append {
        /// Whose conversation; none for the session's own agent.
        subagent: Option<String>,
        /// The item.
        item: Item,
    },
    /// The same item, further on.
    Update(Item),
    /// An item that did not come to be.
    Remove(String),
}

/// What is to be done by others. Doing it again is harmless: each names its turn, input, call or request, which are known
/// again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// The harness runs a turn.
    Run {
        /// The turn.
        turn_id: String,
        /// What the user said.
        input: Vec<protocol::Input>,
    },
    /// The harness adds to the running turn.
    Steer {
        /// The turn.
        turn_id: String,
        /// Names the input.
        input_id: String,
        /// What the user said.
        input: Vec<protocol::Input>,
    },
    /// The harness gets the result of a function call.
    ToolResult {
        /// The turn.
        turn_id: String,
        /// The call.
        call_id: String,
        /// Whether the function did its work.
        success: bool,
        /// What it gave.
        output: Vec<protocol::Input>,
    },
    /// The harness gets the answer to a request for approval.
    Approval {
        /// The turn.
        turn_id: String,
        /// The harness's id of the request.
        request_id: String,
        /// The answer.
        decision: Decision,
    },
    /// The harness stops a turn.
    Interrupt {
        /// The turn.
        turn_id: String,
    },
    /// Both containers end, unless a later turn than this runs in them.
    Destroy {
        /// The turn that did not stop.
        turn_id: String,
    },
}

/// What a step needs from outside: the time, random bytes for ids, and the limits.
pub struct Seeds<'a> {
    /// Unix time, milliseconds.
    pub now: u64,
    /// Sixteen random bytes at a time.
    pub random: &'a mut dyn FnMut() -> [u8; 16],
    /// How long a turn may run, milliseconds.
    pub turn_deadline: u64,
    /// How long a turn may take to stop, milliseconds.
    pub cancel_deadline: u64,
    /// How long the checkpoint of a turn may take, milliseconds.
    pub save_deadline: u64,
}

impl Seeds<'_> {
    pub(super) fn id(&mut self, kind: Kind) -> String {
        kind.id((self.random)())
    }

    pub(super) fn seconds(&self) -> u64 {
        self.now / 1000
    }
}

impl Session {
    /// Takes one input. What a client sends may be refused, and then nothing has changed; anything else is taken, or
    /// ignored if it is late.
    pub fn step(
        &mut self,
        input: Input,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) -> Result<(), Refused> {
        if self.has_failed() {
            return self.take_nothing(input, seeds);
        }
        match input {
            Input::Messages(messages) => {
                let said = messages.into_iter().map(|content| Said {
                    content,
                    shown: true,
                });
                self.hear(said.collect(), seeds, step);
            }
            Input::Cancel => self.stop(Stopping::Cancelled, seeds, step),
            Input::ToolResult(result) => self.take_result(result, seeds, step)?,
            Input::ApprovalResult {
                request_id,
                decision,
            } => self.take_approval(&request_id, decision, seeds, step)?,
            Input::Update(update) => self.update(*update, seeds),
            Input::Harness { epoch, seq, event } => {
                if self.is_new(epoch, seq) {
                    self.take_event(*event, seeds, step);
                    self.stop_flood(seeds, step);
                }
            }
            Input::Saving {
                turn_id,
                checkpoint,
            } => self.saving(&turn_id, checkpoint, seeds, step),
            Input::Saved { turn_id, saved } => self.saved(&turn_id, saved, step),
            Input::Unsaved { turn_id, why } => self.unsaved(&turn_id, why, step),
            Input::Started {
                turn_id,
                new_sandbox,
            } => self.brought(&turn_id, new_sandbox, step),
            Input::NotStarted {
                turn_id,
                fault: Some(fault),
            } => self.environment_failed(&turn_id, fault, seeds, step),
            Input::NotStarted {
                turn_id,
                fault: None,
            } => self.lose(&turn_id, TurnErrorCode::SandboxError, seeds, step),
            Input::Lost { turn_id } => {
                self.lose(&turn_id, TurnErrorCode::InternalError, seeds, step)
            }
            Input::NotSteered { input_id } => self.steer_refused(&input_id, seeds, step),
            Input::Tick => {
                self.tick(seeds, step);
                return Ok(());
            }
        }
        self.core.last_active_at = seeds.seconds();
        self.public.last_active_at = self.core.last_active_at;
        Ok(())
    }

    /// A failed session refuses what its client says to the agent, a cancel too. What is the client's own may still be changed.
    /// What others report is over; events of a harness count as taken, so that they do not come again.
    fn take_nothing(&mut self, input: Input, seeds: &Seeds<'_>) -> Result<(), Refused> {
        match input {
            Input::Messages(_)
            | Input::Cancel
            | Input::ToolResult(_)
            | Input::ApprovalResult { .. } => return Err(Refused::Failed),
            Input::Update(update) => self.update(*update, seeds),
            Input::Harness { epoch, seq, .. } => {
                self.is_new(epoch, seq);
            }
            Input::Saving { .. }
            | Input::Saved { .. }
            | Input::Unsaved { .. }
            | Input::Started { .. }
            | Input::NotStarted { .. }
            | Input::Lost { .. }
            | Input::NotSteered { .. }
            | Input::Tick => {}
        }
        Ok(())
    }

    fn update(&mut self, update: SessionUpdate, seeds: &Seeds<'_>) {
        update.apply(&mut self.public);
        self.public_changed(seeds);
    }

    /// Whether an effect is still to be carried out. What concerns a turn that has ended meanwhile is not: carried out late,
    /// it would run a turn that is over.
    pub fn wants(&self, effect: &Effect) -> bool {
        match effect {
            Effect::Run { turn_id, .. }
            | Effect::Steer { turn_id, .. }
            | Effect::ToolResult { turn_id, .. }
            | Effect::Approval { turn_id, .. }
            | Effect::Interrupt { turn_id } => self.running_turn() == Some(turn_id),
            Effect::Destroy { .. } => true,
        }
    }

    /// Writes the first events of a session's log, which creation streams begin with.
    pub fn created(&mut self, step: &mut Step) {
        let session = Box::new(self.public.clone());
        self.emit(Event::SessionCreated(SessionEvent { session }), step);
        self.environment_pending(step);
    }

    /// Whether a harness event has not been taken yet. Events come in order; those of an older instance are over.
    fn is_new(&mut self, epoch: u64, seq: u64) -> bool {
        let newer = (epoch, seq) > (self.core.seen.epoch, self.core.seen.seq);
        if newer {
            self.core.seen = Seen { epoch, seq };
        }
        newer
    }

    fn stop_flood(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        let flood = self
            .core
            .running
            .as_ref()
            .is_some_and(|running| running.written > lifecycle::MAX_TURN_BYTES);
        if flood {
            self.stop(Stopping::Flooded, seeds, step);
        }
    }

    pub(super) fn emit(&mut self, event: Event, step: &mut Step) {
        self.core.last_event += 1;
        let bytes = log::append(
            &mut step.chunks,
            &self.identity.stream,
            self.core.last_event,
            &event,
        );
        self.core.log_bytes += bytes;
        self.count_written(bytes);
    }

    /// The running turn has made something of this size to store.
    pub(super) fn count_written(&mut self, bytes: u64) {
        if let Some(running) = &mut self.core.running {
            running.written += bytes;
        }
    }

    /// The public session changed: the catalog is told of the new version.
    pub(super) fn public_changed(&mut self, seeds: &Seeds<'_>) {
        self.core.last_active_at = seeds.seconds();
        self.public.last_active_at = self.core.last_active_at;
        self.version += 1;
        self.public_changed = true;
    }

    pub(super) fn emit_session(
        &mut self,
        event: impl FnOnce(SessionEvent) -> Event,
        step: &mut Step,
    ) {
        let session = Box::new(self.public.clone());
        self.emit(event(SessionEvent { session }), step);
    }

    pub(super) fn emit_turn(
        &mut self,
        event: impl FnOnce(TurnEvent) -> Event,
        turn: &Turn,
        step: &mut Step,
    ) {
        let event = event(TurnEvent {
            session_id: self.public.id.clone(),
            turn_id: turn.id.clone(),
            turn: Box::new(turn.clone()),
        });
        self.emit(event, step);
    }
}
