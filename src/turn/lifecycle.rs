//! Turns: how they begin, are steered, stop and end.
use super::failure::{error_code, error_text};
use super::saving::judge;
use super::state::{Running, Said, Session, Steering, Stopping};
use super::step::{Effect, ItemWrite, Seeds, Step};
use crate::checkpoint::Saved;
use crate::wire::event::{Event, ItemEvent, TurnEndEvent};
use crate::wire::id::Kind;
use crate::wire::item::{InputContent, Item, Message};
use crate::wire::session::{SessionStatus, TokenUsage};
use crate::wire::turn::{Turn, TurnError, TurnErrorCode, TurnObject, TurnStatus};
use cloister_protocol::{self as protocol, Outcome};

/// What one turn may write, in bytes of events and of what is stored beside them. A turn that writes more is stopped.
pub const MAX_TURN_BYTES: u64 = 128 << 20;
/// What counts for a row that is small.
pub(super) const ROW_BYTES: u64 = 512;

impl Session {
    /// The user, or a function of the client, says something to the agent.
    pub(super) fn hear(&mut self, said: Vec<Said>, seeds: &mut Seeds<'_>, step: &mut Step) {
        if said.is_empty() {
            return;
        }
        match &self.core.running {
            None => self.begin(said, seeds, step),
            Some(running) if running.is_steerable() => self.steer(said, seeds, step),
            Some(_) => {
                for said in said {
                    self.waiting.push(said);
                }
            }
        }
    }

    fn begin(&mut self, said: Vec<Said>, seeds: &mut Seeds<'_>, step: &mut Step) {
        let turn = self.new_turn(None, TurnStatus::Queued, seeds);
        let turn_id = turn.id.clone();
        self.core.running = Some(Running {
            turn: turn.clone(),
            usage: None,
            next_output_index: 0,
            stopping: None,
            saving: None,
            deadline: seeds.now + seeds.turn_deadline,
            written: 0,
            brought: false,
        });
        self.emit_turn(Event::TurnCreated, &turn, step);
        step.turns.push(turn);
        let input = harness_input(&said);
        self.show(&turn_id, said, seeds, step);
        self.public.status = SessionStatus::InProgress;
        self.public_changed(seeds);
        self.emit_session(Event::SessionInProgress, step);
        step.effects.push(Effect::Run { turn_id, input });
    }

    pub(super) fn new_turn(
        &self,
        subagent_id: Option<String>,
        status: TurnStatus,
        seeds: &mut Seeds<'_>,
    ) -> Turn {
        Turn {
            id: seeds.id(Kind::Turn),
            object: TurnObject::Turn,
            session_id: self.public.id.clone(),
            agent_id: self.public.agent.id.clone(),
            subagent_id,
            status,
            created_at: seeds.seconds(),
            started_at: None,
            completed_at: None,
            error: None,
            usage: None,
            prompt_cache_options: self.public.prompt_cache_options,
        }
    }

    /// Only the running turn is steered, so what is on its way is always on its way to that one.
    fn steer(&mut self, said: Vec<Said>, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(turn_id) = self.running_turn().map(str::to_owned) else {
            return;
        };
        let input_id = seeds.id(Kind::Message);
        step.effects.push(Effect::Steer {
            turn_id: turn_id.clone(),
            input_id: input_id.clone(),
            input: harness_input(&said),
        });
        self.steering.push(Steering { input_id, said });
    }

    fn take_steering(&mut self, input_id: &str) -> Option<Steering> {
        let number = self
            .steering
            .find(|steering| steering.input_id == input_id)?;
        self.steering.remove(number)
    }

    pub(super) fn steered(&mut self, input_id: &str, seeds: &mut Seeds<'_>, step: &mut Step) {
        let turn_id = self.running_turn().map(str::to_owned);
        if let (Some(turn_id), Some(Steering { said, .. })) =
            (turn_id, self.take_steering(input_id))
        {
            self.show(&turn_id, said, seeds, step);
        }
    }

    /// What a turn did not take becomes the next turn's.
    pub(super) fn steer_refused(&mut self, input_id: &str, seeds: &mut Seeds<'_>, step: &mut Step) {
        if let Some(Steering { said, .. }) = self.take_steering(input_id) {
            for said in said {
                self.waiting.push(said);
            }
            self.begin_waiting(seeds, step);
        }
    }

    fn begin_waiting(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        if self.core.running.is_none() && !self.waiting.is_empty() {
            let said = self.waiting.take();
            self.begin(said, seeds, step);
        }
    }

    /// Adds what the user said to the conversation, now that its place is known.
    fn show(&mut self, turn_id: &str, said: Vec<Said>, seeds: &mut Seeds<'_>, step: &mut Step) {
        for Said { content, .. } in said.into_iter().filter(|said| said.shown) {
            let id = seeds.id(Kind::Message);
            let item = Item::Message(Message::of_user(id, turn_id.to_owned(), content));
            self.add_item(item, None, step);
        }
    }

    /// A new item of the session's own conversation.
    pub(super) fn add_item(&mut self, item: Item, output_index: Option<u32>, step: &mut Step) {
        step.items.push(ItemWrite::Append {
            subagent: None,
            item: item.clone(),
        });
        let event = self.item_event(item, output_index);
        self.emit(Event::ItemAdded(event), step);
    }

    /// The same item, in its last form.
    pub(super) fn finish_item(&mut self, item: Item, output_index: u32, step: &mut Step) {
        step.items.push(ItemWrite::Update(item.clone()));
        let event = self.item_event(item, Some(output_index));
        self.emit(Event::ItemDone(event), step);
    }

    pub(super) fn item_event(&self, item: Item, output_index: Option<u32>) -> ItemEvent {
        ItemEvent {
            session_id: self.public.id.clone(),
            turn_id: item.turn_id().to_owned(),
            item: Box::new(item),
            output_index,
        }
    }

    /// The harness took the turn.
    pub(super) fn started(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(running) = &mut self.core.running else {
            return;
        };
        if running.turn.status != TurnStatus::Queued {
            return;
        }
        running.turn.status = TurnStatus::InProgress;
        running.turn.started_at = Some(seeds.seconds());
        let turn = running.turn.clone();
        let steerable = running.is_steerable();
        self.emit_turn(Event::TurnInProgress, &turn, step);
        step.turns.push(turn);
        if steerable && !self.waiting.is_empty() {
            let said = self.waiting.take();
            self.steer(said, seeds, step);
        }
    }

    pub(super) fn stop(&mut self, why: Stopping, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(turn_id) = self.running_turn().map(str::to_owned) else {
            return;
        };
        if why == Stopping::Cancelled {
            // Said before the cancel: it ends with this turn.
            self.show_unheard(seeds, step);
        }
        let Some(running) = &mut self.core.running else {
            return;
        };
        match running.stopping {
            Some((Stopping::Cancelled, _)) => return,
            // A cancel of a turn that is being stopped for another reason reads as cancelled.
            Some((Stopping::TimedOut | Stopping::Flooded, end)) => {
                if why == Stopping::Cancelled {
                    running.stopping = Some((why, end));
                }
            }
            None => {
                running.stopping = Some((why, seeds.now + seeds.cancel_deadline));
                // A cancel also of a turn that is being saved: what it has left running ends with it.
                if running.saving.is_none() || why == Stopping::Cancelled {
                    step.effects.push(Effect::Interrupt { turn_id });
                }
            }
        }
        // Nobody waits for the client any more.
        self.drop_actions(false, step);
        self.actions_changed(seeds, step);
    }

    pub(super) fn tick(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(running) = &self.core.running else {
            return;
        };
        if seeds.now < running.wake_at() {
            return;
        }
        match (&running.saving, running.stopping) {
            (Some(_), _) => self.destroy(Err(TurnErrorCode::SandboxError), seeds, step),
            (None, Some(_)) => self.destroy(Ok(Outcome::Interrupted), seeds, step),
            (None, None) => self.stop(Stopping::TimedOut, seeds, step),
        }
    }

    /// The running turn takes too long to stop or to be saved: it ends with its containers.
    fn destroy(
        &mut self,
        result: Result<Outcome, TurnErrorCode>,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        let Some(turn_id) = self.running_turn().map(str::to_owned) else {
            return;
        };
        step.effects.push(Effect::Destroy { turn_id });
        self.keep_steering(seeds, step);
        self.close_subagents(seeds, step);
        self.end(result, None, seeds, step);
    }

    pub(super) fn lose(
        &mut self,
        turn_id: &str,
        code: TurnErrorCode,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        if self.running_turn() != Some(turn_id) {
            return;
        }
        self.keep_steering(seeds, step);
        self.close_subagents(seeds, step);
        self.end(Err(code), None, seeds, step);
    }

    /// What was said up to now belongs to the running turn; what has not reached the model never does.
    pub(super) fn show_unheard(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        self.keep_steering(seeds, step);
        if let Some(turn_id) = self.running_turn().map(str::to_owned) {
            let said = self.waiting.take();
            self.show(&turn_id, said, seeds, step);
        }
    }

    /// What was sent to steer the running turn may have been taken: it belongs to this turn, whatever the harness answers, and
    /// is not run again.
    fn keep_steering(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(turn_id) = self.running_turn().map(str::to_owned) else {
            return;
        };
        for steering in self.steering.take() {
            self.show(&turn_id, steering.said, seeds, step);
        }
    }

    /// A harness instance says that it is gone. Whether a turn that it has not begun had reached it is for its object to say.
    pub(super) fn lost(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        let begun = self
            .core
            .running
            .as_ref()
            .filter(|running| running.turn.status != TurnStatus::Queued)
            .map(|running| running.turn.id.clone());
        match begun {
            Some(turn_id) => self.lose(&turn_id, TurnErrorCode::InternalError, seeds, step),
            None => self.close_subagents(seeds, step),
        }
    }

    pub(super) fn ended(&mut self, outcome: Outcome, seeds: &mut Seeds<'_>, step: &mut Step) {
        let result = match outcome {
            Outcome::Completed | Outcome::Interrupted => Ok(outcome),
            Outcome::Failed { code } => Err(error_code(code)),
        };
        let save = step.save.take();
        let result = judge(result, save.as_ref());
        self.end(result, save.and_then(Result::ok), seeds, step);
    }

    fn end(
        &mut self,
        result: Result<Outcome, TurnErrorCode>,
        saved: Option<Box<Saved>>,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        self.end_turn(result, saved, seeds, step);
        self.public.status = SessionStatus::Idle;
        self.public_changed(seeds);
        self.emit_session(Event::SessionIdle, step);
        self.begin_waiting(seeds, step);
    }

    /// Ends the running turn; where the session stands then is for the caller to say.
    pub(super) fn end_turn(
        &mut self,
        result: Result<Outcome, TurnErrorCode>,
        saved: Option<Box<Saved>>,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        let Some(running) = &self.core.running else {
            return;
        };
        // A cancel decides how a turn reads, whatever happened meanwhile.
        let (status, code) = match (running.stopping.map(|(why, _)| why), result) {
            (Some(Stopping::Cancelled), _) => (TurnStatus::Cancelled, None),
            (Some(Stopping::TimedOut), _) => {
                (TurnStatus::Failed, Some(TurnErrorCode::RequestTimeout))
            }
            (Some(Stopping::Flooded), _) => {
                (TurnStatus::Failed, Some(TurnErrorCode::MaxOutputTokens))
            }
            (None, Ok(Outcome::Completed)) => (TurnStatus::Completed, None),
            (None, Ok(Outcome::Interrupted | Outcome::Failed { .. })) => {
                (TurnStatus::Cancelled, None)
            }
            (None, Err(code)) => (TurnStatus::Failed, Some(code)),
        };
        self.settle_steering(status, seeds, step);
        self.close_items(status, step);
        self.drop_actions(status == TurnStatus::Completed, step);
        let Some(Running {
            mut turn,
            usage,
            saving,
            ..
        }) = self.core.running.take()
        else {
            return;
        };
        if saved.as_ref().is_some_and(|saved| saved.sandbox_lost) {
            self.sandbox_lost(step);
        }
        finish(&mut turn, status, code, usage, seeds);
        self.settle_attempt(saving, saved, &turn, seeds, step);
        self.emit_turn_end(&turn, step);
        step.turns.push(turn);
        self.public.required_actions.clear();
    }

    /// What was sent to steer a turn that ends, and was not answered: it ends with a turn that is cancelled, and otherwise
    /// becomes the next turn's, before what came later.
    fn settle_steering(&mut self, status: TurnStatus, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(turn_id) = self.running_turn().map(str::to_owned) else {
            return;
        };
        let said = self.steering.take();
        let said = said.into_iter().flat_map(|steering| steering.said);
        if status == TurnStatus::Cancelled {
            self.show(&turn_id, said.collect(), seeds, step);
            return;
        }
        let later = self.waiting.take();
        for said in said.chain(later) {
            self.waiting.push(said);
        }
    }

    fn emit_turn_end(&mut self, turn: &Turn, step: &mut Step) {
        let event = TurnEndEvent {
            session_id: self.public.id.clone(),
            turn_id: turn.id.clone(),
            turn: Box::new(turn.clone()),
            usage: turn.usage,
        };
        let event = match turn.status {
            TurnStatus::Completed => Event::TurnCompleted(event),
            TurnStatus::Cancelled => Event::TurnCancelled(event),
            TurnStatus::Failed
            | TurnStatus::Queued
            | TurnStatus::InProgress
            | TurnStatus::Waiting => Event::TurnFailed(event),
        };
        self.emit(event, step);
    }

    /// One model call's tokens, of the session's own agent or of a subagent's turn.
    pub(super) fn used(&mut self, call: protocol::TokenUsage) {
        if let Some(running) = &mut self.core.running {
            add(running.usage.get_or_insert_default(), call);
        }
        self.session_used(call);
    }

    pub(super) fn session_used(&mut self, call: protocol::TokenUsage) {
        add(self.core.usage.get_or_insert_default(), call);
        self.public.usage = self.core.usage;
    }
}

/// Puts a turn into its last state.
pub(super) fn finish(
    turn: &mut Turn,
    status: TurnStatus,
    code: Option<TurnErrorCode>,
    usage: Option<TokenUsage>,
    seeds: &Seeds<'_>,
) {
    turn.status = status;
    turn.completed_at = Some(seeds.seconds());
    turn.error = code.map(|code| TurnError {
        code,
        message: error_text(code).to_owned(),
    });
    turn.usage = usage;
}

/// The harness reports its own count, so it saturates rather than trust it.
pub(super) fn add(sum: &mut TokenUsage, call: protocol::TokenUsage) {
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

fn harness_input(said: &[Said]) -> Vec<protocol::Input> {
    said.iter()
        .flat_map(|said| &said.content)
        .map(input_of)
        .collect()
}

pub(super) fn input_of(part: &InputContent) -> protocol::Input {
    match part {
        InputContent::InputText { text } => protocol::Input::Text(text.clone()),
        InputContent::InputImage { image_url } => protocol::Input::Image(image_url.clone()),
    }
}
