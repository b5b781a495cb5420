//! What a session takes, each time one transaction: inputs of the client, frames of the supervisor, and the passing of time.
use super::object::Core;
use super::store::{self, Found, Stored};
use super::{catalog, feed};
use crate::deployment::LIMITS;
use crate::edge::calls::{
    CallError, CallResult, ClientInput, InputError, Notice, Refusal, Reported, SessionCreation,
};
use crate::edge::platform::{now, random, transaction_sync};
use crate::turn::{Input, Refused, Seeds, Session, Step, MAX_INPUT_BYTES, MAX_LOG_BYTES};
use cloister_protocol::{Event, FromSupervisor};
use serde_json::value::RawValue;
use std::rc::Rc;
use std::time::Duration;
use worker::{Result, Storage};

/// When effects or a copy for the catalog are left, the alarm tries again after this time.
pub(super) const RETRY_MS: u64 = 5_000;

/// Bytes of a harness's name of its thread.
const MAX_THREAD: usize = 256;

impl Core {
    /// Reads what is stored, at the beginning and after a transaction that did not come to be.
    pub(super) fn load(&self) {
        let stored = store::load(&self.state.storage());
        self.readable.set(stored.is_ok());
        match stored {
            Ok(Found::Session(stored)) => {
                let Stored {
                    session,
                    published,
                    pending,
                    garbage,
                } = *stored;
                self.session.replace(Some(session));
                self.published.set(published);
                self.pending.set(pending);
                if garbage {
                    self.note_garbage();
                }
            }
            Ok(Found::Garbage) => {
                self.session.replace(None);
                self.note_garbage();
            }
            Ok(Found::Nothing) | Err(_) => {
                self.session.replace(None);
            }
        }
    }

    pub(super) fn create(
        self: &Rc<Self>,
        creation: SessionCreation,
    ) -> Result<CallResult<Box<RawValue>>> {
        if self.with(|_| ()).is_some() {
            return Ok(Err(Refusal::Conflict.into()));
        }
        let mut session = Session::new(creation.identity, creation.session);
        let storage = self.state.storage();
        let mut step = Step::default();
        session.created(&mut step);
        // The catalog was given this version.
        let version = session.version;
        self.published.set(version);
        self.session.replace(Some(session));
        let inputs = if creation.input.is_empty() {
            Vec::new()
        } else {
            vec![Input::Messages(creation.input)]
        };
        let taken = self.take_from(step, inputs, |_| {
            store::init(&storage)?;
            store::published(&storage, version)
        });
        match taken {
            Ok(_) => self.retrieve(),
            Err(error) => Err(error),
        }
    }

    pub(super) fn input(
        self: &Rc<Self>,
        inputs: Vec<ClientInput>,
        idempotency: Option<(String, String)>,
    ) -> Result<std::result::Result<(), InputError>> {
        let Some(waiting) = self.with(Session::waiting_bytes) else {
            return Ok(Err(CallError::from(Refusal::NotFound).into()));
        };
        if let Some((key, body)) = &idempotency {
            match store::input_with_key(&self.state.storage(), key)? {
                Some(earlier) if earlier == *body => return Ok(Ok(())),
                Some(_) => return Ok(Err(CallError::from(Refusal::KeyReused).into())),
                None => {}
            }
        }
        let new = serde_json::to_vec(&inputs)?.len();
        if waiting + new > MAX_INPUT_BYTES {
            return Ok(Err(CallError::from(Refusal::Full).into()));
        }
        let inputs = inputs.into_iter().map(|input| match input {
            ClientInput::Messages(messages) => Input::Messages(messages),
            ClientInput::Cancel => Input::Cancel,
            ClientInput::ToolResult(result) => Input::ToolResult(result),
            ClientInput::Approval {
                request_id,
                decision,
            } => Input::ApprovalResult {
                request_id,
                decision,
            },
        });
        let taken = self.take(inputs.collect(), |storage| match &idempotency {
            Some((key, body)) => store::remember_key(storage, key, body, now()),
            None => Ok(()),
        })?;
        Ok(taken.map_err(InputError::Refused))
    }

    /// Takes a message of HarnessDO: what it has to say itself, and below it frames of the supervisor of the harness instance
    /// `epoch`, one a line, all or none. Frames that were taken before are passed over; one that is missing, or is no event,
    /// means that the instance cannot be believed.
    pub(super) fn report(
        self: &Rc<Self>,
        epoch: u64,
        message: &str,
    ) -> Result<CallResult<Reported>> {
        let (notice, frames) = message.split_once('\n').ok_or("not a report")?;
        let notice = match notice {
            "" => None,
            notice => Some(serde_json::from_str::<Notice>(notice)?),
        };
        let (running, attempt) = match self.with(|session| {
            let running = session.running_turn().map(str::to_owned);
            (running, session.attempt().cloned())
        }) {
            Some(found) => found,
            None => return Ok(Err(Refusal::NotFound.into())),
        };
        let Some(seen) = self.with(|session| session.seen(epoch)) else {
            return Ok(Err(Refusal::NotFound.into()));
        };
        let mut inputs = Vec::new();
        let mut announced = None;
        match notice {
            None => {}
            Some(Notice::Saving {
                turn_id,
                checkpoint,
            }) => {
                announced = Some(checkpoint.clone());
                inputs.push(Input::Saving {
                    turn_id,
                    checkpoint,
                });
            }
            // Of an attempt that was given up: another is being made, and ends the turn.
            Some(Notice::Saved { turn_id, saved })
                if running.as_ref() == Some(&turn_id) && attempt.as_ref() != Some(&saved.id) =>
            {
                return Ok(Err(Refusal::Stale.into()))
            }
            Some(Notice::Saved { turn_id, saved }) => inputs.push(Input::Saved { turn_id, saved }),
            Some(Notice::Unsaved { turn_id, why }) => inputs.push(Input::Unsaved { turn_id, why }),
        }
        let mut reported = Reported {
            last: seen,
            ..Reported::default()
        };
        for frame in frames.lines() {
            let Ok(FromSupervisor::Event { seq, event }) = serde_json::from_str(frame) else {
                return Ok(Err(Refusal::Invalid.into()));
            };
            if seq > reported.last + 1 {
                return Ok(Err(Refusal::Invalid.into()));
            }
            if seq <= reported.last {
                continue;
            }
            reported.last = seq;
            match &event {
                // It is stored with each change of the harness's record.
                Event::TurnStarted { thread, .. } if thread.len() > MAX_THREAD => {
                    return Ok(Err(Refusal::Invalid.into()))
                }
                Event::TurnStarted { thread, .. } => reported.thread = Some(thread.clone()),
                Event::TurnEnded { turn_id, .. } => reported.ended.push(turn_id.clone()),
                Event::Steered { input_id } | Event::SteerRefused { input_id } => {
                    reported.steers.push(input_id.clone())
                }
                Event::Ready { .. }
                | Event::HarnessLost { .. }
                | Event::ItemStarted { .. }
                | Event::TextDelta { .. }
                | Event::ReasoningDelta { .. }
                | Event::OutputDelta { .. }
                | Event::ItemCompleted { .. }
                | Event::Usage { .. }
                | Event::ToolCall { .. }
                | Event::ApprovalRequested { .. }
                | Event::ApprovalClosed { .. }
                | Event::SubagentOpened { .. }
                | Event::SubagentClosed { .. }
                | Event::Subagent { .. } => {}
            }
            let event = Box::new(event);
            inputs.push(Input::Harness { epoch, seq, event });
        }
        if !inputs.is_empty() {
            // What a harness reports is never refused.
            let _ = self.take(inputs, |_| Ok(()))?;
        }
        if announced.is_some() {
            let attempt = self.with(|session| {
                let taken = session.attempt() == announced.as_ref();
                session.save_until().filter(|_| taken)
            });
            reported.saving = attempt.flatten();
        }
        Ok(Ok(reported))
    }

    /// Steps through inputs in one transaction, with what else is to be stored; then tells and does what follows. If one is
    /// refused, none is taken.
    pub(super) fn take(
        self: &Rc<Self>,
        inputs: Vec<Input>,
        also: impl FnOnce(&Storage) -> Result<()>,
    ) -> Result<std::result::Result<(), Refused>> {
        self.take_from(Step::default(), inputs, also)
    }

    fn take_from(
        self: &Rc<Self>,
        mut step: Step,
        inputs: Vec<Input>,
        also: impl FnOnce(&Storage) -> Result<()>,
    ) -> Result<std::result::Result<(), Refused>> {
        let storage = self.state.storage();
        // A refusal or an error leaves a session in memory that is not the stored one: it is read again.
        let taken = {
            let mut session = self.session.borrow_mut();
            let Some(session) = session.as_mut() else {
                return Ok(Ok(()));
            };
            let mut seeds = Seeds {
                now: now(),
                random: &mut random,
                turn_deadline: LIMITS.turn_deadline.as_millis() as u64,
                cancel_deadline: LIMITS.cancel_deadline.as_millis() as u64,
                save_deadline: LIMITS.save_deadline.as_millis() as u64,
            };
            let stepped = inputs
                .into_iter()
                .try_for_each(|input| session.step(input, &mut seeds, &mut step));
            match stepped {
                Err(refused) => Ok(Err(refused)),
                Ok(()) => transaction_sync(&storage, || {
                    also(&storage)?;
                    if session.log_bytes() > MAX_LOG_BYTES {
                        // An eighth at a time, so that it is not done with each event.
                        if let Some((bytes, last)) = store::trim_log(&storage, MAX_LOG_BYTES / 8)? {
                            session.log_trimmed(bytes, last);
                        }
                    }
                    store::save(&storage, session, &step)
                })
                .map(Ok),
            }
        };
        if !matches!(taken, Ok(Ok(()))) {
            self.load();
            return taken;
        }
        feed::broadcast(&self.state, &step.chunks);
        if !step.effects.is_empty() {
            self.pending.set(true);
        }
        if self.pending.get() {
            self.dispatch()?;
        }
        if !step.garbage.is_empty() {
            self.note_garbage();
            self.sweep();
        }
        self.follow_up();
        Ok(Ok(()))
    }

    /// Copies the session to the catalog, and sets the alarm: all from what is stored.
    pub(super) fn follow_up(self: &Rc<Self>) {
        let Some((wake_at, version)) = self.with(|session| (session.wake_at(), session.version))
        else {
            return;
        };
        if version > self.published.get() && !self.publishing.replace(true) {
            let core = self.clone();
            self.state.wait_until(async move {
                let _ = core.publish().await;
                core.publishing.set(false);
            });
        }
        let retry = self.pending.get() || version > self.published.get();
        let wanted = wake_at
            .into_iter()
            .chain(retry.then(|| now() + RETRY_MS))
            .chain(self.sweep_at.get().map(|at| at.max(now() + RETRY_MS)))
            .min();
        // An alarm that comes earlier does no harm: it looks, and is set again.
        let keep = match (self.armed.get(), wanted) {
            (Some(armed), Some(wanted)) => armed <= wanted && armed > now(),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !keep {
            self.armed.set(wanted);
            let core = self.clone();
            self.state.wait_until(async move {
                let _ = match wanted {
                    Some(at) => core.arm(at.saturating_sub(now())).await,
                    None => core.state.storage().delete_alarm().await,
                };
            });
        }
    }

    async fn publish(&self) -> Result<()> {
        while let Some((version, copy)) = self
            .with(|session| (session.version, catalog::Copy::of(session)))
            .filter(|(version, _)| *version > self.published.get())
        {
            catalog::publish(&self.env, copy?, version).await?;
            if self.with(|_| ()).is_some() {
                store::published(&self.state.storage(), version)?;
            }
            self.published.set(version);
        }
        Ok(())
    }

    pub(super) async fn arm(&self, ms: u64) -> Result<()> {
        self.state
            .storage()
            .set_alarm(Duration::from_millis(ms))
            .await
    }
}
