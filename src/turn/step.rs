use super::state::{Running, Session, Steering, Stopping, UserMessage};
use crate::wire::event::{Event, ItemEvent, SessionEvent, TurnEndEvent, TurnEvent};
use crate::wire::id::Kind;
use crate::wire::item::{InputContent, Item, Message};
use crate::wire::session::{SessionStatus, TokenUsage};
use crate::wire::turn::{Turn, TurnError, TurnErrorCode, TurnObject, TurnStatus};
use cloister_protocol::{self as protocol, FailureCode, Outcome};
use serde::{Deserialize, Serialize};

/// What happens to a session.
#[derive(Clone, Debug)]
pub enum Input {
    /// The client says something.
    Messages(Vec<UserMessage>),
    /// The client cancels what runs.
    Cancel,
    /// The harness instance `epoch` reports.
    Harness {
        /// Epoch of the instance.
        epoch: u64,
        /// Number of the event.
        seq: u64,
        /// The event.
        event: protocol::Event,
    },
    /// The turn could not be brought to a harness.
    NotStarted {
        /// The turn.
        turn_id: String,
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

/// What follows: stored in one transaction with the changed state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// For the log, in order.
    pub events: Vec<Event>,
    /// Items to write, in order.
    pub items: Vec<ItemWrite>,
    /// Turns to write.
    pub turns: Vec<Turn>,
    /// For the outbox, in order.
    pub effects: Vec<Effect>,
}

impl Step {
    /// Adds what follows from a later input.
    pub fn extend(&mut self, later: Step) {
        self.events.extend(later.events);
        self.items.extend(later.items);
        self.turns.extend(later.turns);
        self.effects.extend(later.effects);
    }
}

/// A change of the stored conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemWrite {
    /// A new item at the end of the conversation.
    Append(Item),
    /// The same item, further on.
    Update(Item),
    /// An item that did not come to be.
    Remove(String),
}

/// What is to be done by others. Doing it again is harmless.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The harness stops a turn.
    Interrupt {
        /// The turn.
        turn_id: String,
    },
    /// Both containers end.
    Destroy,
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
    /// Takes one input.
    pub fn step(&mut self, input: Input, seeds: &mut Seeds<'_>) -> Step {
        let mut step = Step::default();
        if !matches!(input, Input::Tick) {
            self.public.last_active_at = seeds.seconds();
        }
        match input {
            Input::Messages(messages) => self.take_messages(messages, seeds, &mut step),
            Input::Cancel => self.stop(Stopping::Cancelled, seeds, &mut step),
            Input::Harness { epoch, seq, event } => {
                if self.is_new(epoch, seq) {
                    self.take_event(event, seeds, &mut step);
                }
            }
            Input::NotStarted { turn_id } => {
                self.lose(&turn_id, TurnErrorCode::SandboxError, seeds, &mut step)
            }
            Input::Lost { turn_id } => {
                self.lose(&turn_id, TurnErrorCode::InternalError, seeds, &mut step)
            }
            Input::NotSteered { input_id } => self.steer_refused(&input_id, seeds, &mut step),
            Input::Tick => self.tick(seeds, &mut step),
        }
        if step
            .events
            .iter()
            .any(|event| matches!(event, Event::SessionInProgress(_) | Event::SessionIdle(_)))
        {
            self.version += 1;
        }
        step
    }

    /// Whether a harness event has not been taken yet. Events come in order; those of an older instance are over.
    fn is_new(&mut self, epoch: u64, seq: u64) -> bool {
        let newer = (epoch, seq) > (self.seen.epoch, self.seen.seq);
        if newer {
            self.seen = super::state::Seen { epoch, seq };
        }
        newer
    }

    fn take_messages(
        &mut self,
        messages: Vec<UserMessage>,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        if messages.is_empty() {
            return;
        }
        match &self.running {
            None => self.begin(messages, seeds, step),
            // A turn that the harness has not taken cannot be steered, nor one that stops.
            Some(running)
                if running.turn.status == TurnStatus::Queued || running.stopping.is_some() =>
            {
                self.waiting.extend(messages)
            }
            Some(_) => self.steer(messages, seeds, step),
        }
    }

    fn begin(&mut self, messages: Vec<UserMessage>, seeds: &mut Seeds<'_>, step: &mut Step) {
        let turn = Turn {
            id: seeds.id(Kind::Turn),
            object: TurnObject::Turn,
            session_id: self.public.id.clone(),
            agent_id: self.public.agent.id.clone(),
            subagent_id: None,
            status: TurnStatus::Queued,
            created_at: seeds.seconds(),
            started_at: None,
            completed_at: None,
            error: None,
            usage: None,
            prompt_cache_options: self.public.prompt_cache_options,
        };
        let turn_id = turn.id.clone();
        step.events
            .push(Event::TurnCreated(self.turn_event(&turn, seeds)));
        step.turns.push(turn.clone());
        let input = harness_input(&messages);
        self.add_user_items(&turn_id, messages, seeds, step);
        self.running = Some(Running {
            turn,
            usage: None,
            next_output_index: 0,
            open: Vec::new(),
            stopping: None,
            deadline: seeds.now + seeds.turn_deadline,
        });
        self.public.status = SessionStatus::InProgress;
        step.events
            .push(Event::SessionInProgress(self.session_event(seeds)));
        step.effects.push(Effect::Run { turn_id, input });
    }

    fn steer(&mut self, messages: Vec<UserMessage>, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(running) = &self.running else { return };
        let turn_id = running.turn.id.clone();
        let input_id = seeds.id(Kind::Message);
        step.effects.push(Effect::Steer {
            turn_id: turn_id.clone(),
            input_id: input_id.clone(),
            input: harness_input(&messages),
        });
        self.steering.push(Steering {
            input_id,
            turn_id,
            messages,
        });
    }

    pub(super) fn steered(&mut self, input_id: &str, seeds: &mut Seeds<'_>, step: &mut Step) {
        if let Some(at) = self
            .steering
            .iter()
            .position(|steering| steering.input_id == input_id)
        {
            let Steering {
                turn_id, messages, ..
            } = self.steering.remove(at);
            self.add_user_items(&turn_id, messages, seeds, step);
        }
    }

    /// What a turn did not take becomes the next turn's.
    pub(super) fn steer_refused(&mut self, input_id: &str, seeds: &mut Seeds<'_>, step: &mut Step) {
        if let Some(at) = self
            .steering
            .iter()
            .position(|steering| steering.input_id == input_id)
        {
            let messages = self.steering.remove(at).messages;
            self.waiting.extend(messages);
            self.begin_waiting(seeds, step);
        }
    }

    fn begin_waiting(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        if self.running.is_none() && !self.waiting.is_empty() {
            let messages = std::mem::take(&mut self.waiting);
            self.begin(messages, seeds, step);
        }
    }

    fn add_user_items(
        &mut self,
        turn_id: &str,
        messages: Vec<UserMessage>,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        for content in messages {
            let item = Item::Message(Message::of_user(
                seeds.id(Kind::Message),
                turn_id.to_owned(),
                content,
            ));
            step.items.push(ItemWrite::Append(item.clone()));
            step.events.push(Event::ItemAdded(ItemEvent {
                event_id: seeds.id(Kind::Event),
                session_id: self.public.id.clone(),
                turn_id: turn_id.to_owned(),
                item: Box::new(item),
                output_index: None,
            }));
        }
    }

    /// The harness took the turn.
    pub(super) fn started(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(running) = &mut self.running else {
            return;
        };
        if running.turn.status != TurnStatus::Queued {
            return;
        }
        running.turn.status = TurnStatus::InProgress;
        running.turn.started_at = Some(seeds.seconds());
        let turn = running.turn.clone();
        let stopping = running.stopping.is_some();
        step.events
            .push(Event::TurnInProgress(self.turn_event(&turn, seeds)));
        step.turns.push(turn);
        if !stopping && !self.waiting.is_empty() {
            let messages = std::mem::take(&mut self.waiting);
            self.steer(messages, seeds, step);
        }
    }

    fn stop(&mut self, why: Stopping, seeds: &mut Seeds<'_>, step: &mut Step) {
        if why == Stopping::Cancelled {
            // Said before the cancel: it never reaches the model.
            self.waiting.clear();
        }
        let Some(running) = &mut self.running else {
            return;
        };
        match running.stopping {
            Some((Stopping::Cancelled, _)) => {}
            // A cancel of a turn that is being stopped for its deadline reads as cancelled.
            Some((Stopping::TimedOut, end)) => running.stopping = Some((why, end)),
            None => {
                running.stopping = Some((why, seeds.now + seeds.cancel_deadline));
                step.effects.push(Effect::Interrupt {
                    turn_id: running.turn.id.clone(),
                });
            }
        }
    }

    fn tick(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(running) = &self.running else { return };
        match running.stopping {
            None if seeds.now >= running.deadline => self.stop(Stopping::TimedOut, seeds, step),
            Some((_, end)) if seeds.now >= end => {
                step.effects.push(Effect::Destroy);
                self.ended(Outcome::Interrupted, seeds, step);
            }
            None | Some(_) => {}
        }
    }

    fn lose(&mut self, turn_id: &str, code: TurnErrorCode, seeds: &mut Seeds<'_>, step: &mut Step) {
        if self.running_turn() != Some(turn_id) {
            return;
        }
        // What was sent to steer it may have been taken: it belongs to this turn, and is not run again.
        let (gone, kept) = std::mem::take(&mut self.steering)
            .into_iter()
            .partition(|steering| steering.turn_id == turn_id);
        self.steering = kept;
        for Steering { messages, .. } in Vec::from_iter::<Vec<Steering>>(gone) {
            self.add_user_items(turn_id, messages, seeds, step);
        }
        self.end(Err(code), seeds, step);
    }

    pub(super) fn lost(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        if let Some(turn_id) = self.running_turn().map(str::to_owned) {
            self.lose(&turn_id, TurnErrorCode::InternalError, seeds, step);
        }
    }

    pub(super) fn ended(&mut self, outcome: Outcome, seeds: &mut Seeds<'_>, step: &mut Step) {
        let result = match outcome {
            Outcome::Completed | Outcome::Interrupted => Ok(outcome),
            Outcome::Failed { code } => Err(error_code(code)),
        };
        self.end(result, seeds, step);
    }

    fn end(
        &mut self,
        result: Result<Outcome, TurnErrorCode>,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        let Some(mut running) = self.running.take() else {
            return;
        };
        // A cancel decides how a turn reads, whatever happened meanwhile.
        let (status, code) = match (running.stopping.map(|(why, _)| why), result) {
            (Some(Stopping::Cancelled), _) => (TurnStatus::Cancelled, None),
            (Some(Stopping::TimedOut), _) => {
                (TurnStatus::Failed, Some(TurnErrorCode::RequestTimeout))
            }
            (None, Ok(Outcome::Completed)) => (TurnStatus::Completed, None),
            (None, Ok(Outcome::Interrupted | Outcome::Failed { .. })) => {
                (TurnStatus::Cancelled, None)
            }
            (None, Err(code)) => (TurnStatus::Failed, Some(code)),
        };
        self.close_items(&mut running, status, seeds, step);
        let mut turn = running.turn;
        turn.status = status;
        turn.completed_at = Some(seeds.seconds());
        turn.error = code.map(|code| TurnError {
            code,
            message: error_text(code).to_owned(),
        });
        turn.usage = running.usage;
        let event = TurnEndEvent {
            event_id: seeds.id(Kind::Event),
            session_id: self.public.id.clone(),
            turn_id: turn.id.clone(),
            turn: Box::new(turn.clone()),
            usage: turn.usage,
        };
        step.events.push(match status {
            TurnStatus::Completed => Event::TurnCompleted(event),
            TurnStatus::Cancelled => Event::TurnCancelled(event),
            TurnStatus::Failed
            | TurnStatus::Queued
            | TurnStatus::InProgress
            | TurnStatus::Waiting => Event::TurnFailed(event),
        });
        step.turns.push(turn);
        self.public.status = SessionStatus::Idle;
        step.events
            .push(Event::SessionIdle(self.session_event(seeds)));
        self.begin_waiting(seeds, step);
    }

    pub(super) fn used(&mut self, call: protocol::TokenUsage) {
        let Some(running) = &mut self.running else {
            return;
        };
        add(running.usage.get_or_insert_default(), call);
        add(self.public.usage.get_or_insert_default(), call);
    }

    fn session_event(&self, seeds: &mut Seeds<'_>) -> SessionEvent {
        SessionEvent {
            event_id: seeds.id(Kind::Event),
            session: Box::new(self.public.clone()),
        }
    }

    fn turn_event(&self, turn: &Turn, seeds: &mut Seeds<'_>) -> TurnEvent {
        TurnEvent {
            event_id: seeds.id(Kind::Event),
            session_id: self.public.id.clone(),
            turn_id: turn.id.clone(),
            turn: Box::new(turn.clone()),
        }
    }
}

/// The harness reports its own count, so it saturates rather than trust it.
fn add(sum: &mut TokenUsage, call: protocol::TokenUsage) {
    let more = |total: &mut u64, part: u64| *total = total.saturating_add(part);
    more(&mut sum.input_tokens, call.input_tokens);
    more(
        &mut sum.input_tokens_details.cached_tokens,
        call.cached_tokens,
    );
    more(&mut sum.output_tokens, call.output_tokens);
    more(
        &mut sum.output_tokens_details.reasoning_tokens,
        call.reasoning_tokens,
    );
    sum.total_tokens = sum.input_tokens.saturating_add(sum.output_tokens);
}

fn harness_input(messages: &[UserMessage]) -> Vec<protocol::Input> {
    let parts = messages.iter().flatten();
    parts
        .map(|InputContent::InputText { text }| protocol::Input::Text { text: text.clone() })
        .collect()
}

fn error_code(code: FailureCode) -> TurnErrorCode {
    match code {
        FailureCode::ContextLengthExceeded => TurnErrorCode::ContextLengthExceeded,
        FailureCode::MaxOutputTokens => TurnErrorCode::MaxOutputTokens,
        FailureCode::UsageLimitExceeded => TurnErrorCode::UsageLimitExceeded,
        FailureCode::RateLimitExceeded => TurnErrorCode::RateLimitExceeded,
        FailureCode::ServerOverloaded => TurnErrorCode::ServerOverloaded,
        FailureCode::CyberPolicy => TurnErrorCode::CyberPolicy,
        FailureCode::ConnectionFailed => TurnErrorCode::ConnectionFailed,
        FailureCode::ServerError => TurnErrorCode::ServerError,
        FailureCode::AuthenticationError => TurnErrorCode::AuthenticationError,
        FailureCode::InvalidRequest => TurnErrorCode::InvalidRequest,
        FailureCode::SandboxError => TurnErrorCode::SandboxError,
        FailureCode::ActiveTurnNotSteerable => TurnErrorCode::ActiveTurnNotSteerable,
        FailureCode::RequestTimeout => TurnErrorCode::RequestTimeout,
        FailureCode::InternalError => TurnErrorCode::InternalError,
    }
}

fn error_text(code: TurnErrorCode) -> &'static str {
    match code {
        TurnErrorCode::ContextLengthExceeded => {
            "The conversation is longer than the model can read."
        }
        TurnErrorCode::MaxOutputTokens => "The model reached its output limit.",
        TurnErrorCode::UsageLimitExceeded => "The model provider's quota is used up.",
        TurnErrorCode::RateLimitExceeded => "The model provider limits the rate of requests.",
        TurnErrorCode::ServerOverloaded => "The model provider is overloaded.",
        TurnErrorCode::CyberPolicy => "The model provider's policy stopped the turn.",
        TurnErrorCode::ConnectionFailed => "The model provider could not be reached.",
        TurnErrorCode::ServerError => "The model provider failed.",
        TurnErrorCode::AuthenticationError => {
            "The model provider refused the gateway's credential."
        }
        TurnErrorCode::InvalidRequest => "The model provider or the gateway refused the request.",
        TurnErrorCode::SandboxError => "The session's containers did not start.",
        TurnErrorCode::RequestTimeout => "The turn ran longer than the deployment allows.",
        TurnErrorCode::InternalError => {
            "The harness failed or was lost; what it had done of the turn is unknown."
        }
        TurnErrorCode::SessionBudgetExceeded
        | TurnErrorCode::ProjectSpendLimitExceeded
        | TurnErrorCode::OrganizationSpendLimitExceeded
        | TurnErrorCode::OrganizationUsageLimitExceeded
        | TurnErrorCode::BillingNotActive
        | TurnErrorCode::CreditBalanceExhausted
        | TurnErrorCode::FlexUnavailable
        | TurnErrorCode::MisalignmentPolicyViolation
        | TurnErrorCode::ResourceNotFound
        | TurnErrorCode::ExecutorVersionIncompatible
        | TurnErrorCode::ActiveTurnNotSteerable => "The turn failed.",
    }
}
