//! Effects on their way to the harness. Each stays stored until it is done; doing one again is harmless.
use super::object::Core;
use super::store::{self, Pending};
use crate::edge::calls::{self, CallError, CallResult, Class, HarnessCall, RunTurn, Started};
use crate::edge::log;
use crate::turn::{Effect, Input};
use std::rc::Rc;
use worker::{Result, Stub};

/// Tries of an effect whose outcome stays unknown.
const MAX_TRIES: u32 = 5;

impl Core {
    /// Begins every stored effect that is not under way. What follows the end of the containers waits for it.
    pub(super) fn dispatch(self: &Rc<Self>) -> Result<()> {
        let outbox = store::outbox(&self.state.storage())?;
        self.pending.set(!outbox.is_empty());
        for pending in outbox {
            if self.with(|session| session.wants(&pending.effect)) == Some(false) {
                // Its turn is over: nobody would want what it does.
                store::done(&self.state.storage(), pending.id)?;
                continue;
            }
            let last = matches!(pending.effect, Effect::Destroy { .. });
            if self.under_way.borrow_mut().insert(pending.id) {
                store::trying(&self.state.storage(), pending.id)?;
                let core = self.clone();
                self.state.wait_until(async move {
                    let id = pending.id;
                    let over = core.carry_out(pending).await;
                    core.under_way.borrow_mut().remove(&id);
                    match over {
                        Ok(true) => drop(core.dispatch()),
                        // The alarm tries it again.
                        Ok(false) => {}
                        Err(_) => log::event("effect_failed", &[]),
                    }
                });
            }
            if last {
                break;
            }
        }
        Ok(())
    }

    /// Returns whether the effect is over, done or given up.
    async fn carry_out(self: &Rc<Self>, Pending { id, tries, effect }: Pending) -> Result<bool> {
        let Some((name, call)) = self.call_for(&effect) else {
            return Ok(false);
        };
        // One that was tried so often may be what ends this process.
        let done = if tries >= MAX_TRIES {
            Err(CallError::Broken)
        } else {
            let harness = calls::object(&self.env, Class::Harness, &name)?;
            done(&harness, &call, &effect).await
        };
        if self.with(|_| ()).is_none() {
            // The session was deleted meanwhile.
            return Ok(false);
        }
        let input = match done {
            Ok(input) => input,
            Err(error) if tries + 1 < MAX_TRIES && may_yet_be_done(&effect, &error) => {
                return Ok(false)
            }
            Err(error) => not_done(effect, &error),
        };
        let storage = self.state.storage();
        match input {
            Some(input) => {
                // What others say is never refused.
                let _ = self.take(vec![input], |storage| store::done(storage, id))?;
            }
            None => store::done(&storage, id)?,
        }
        Ok(true)
    }

    /// The call that carries an effect out, and the name of the harness's object.
    fn call_for(&self, effect: &Effect) -> Option<(String, HarnessCall)> {
        self.with(|session| {
            let name = session.identity.tenant.object_name(&session.public.id);
            let call = match effect.clone() {
                Effect::Run { turn_id, input } => HarnessCall::Run(Box::new(RunTurn {
                    tenant: session.identity.tenant.clone(),
                    session_id: session.public.id.clone(),
                    environment_id: session.identity.environment_id.clone(),
                    preset: session.public.agent.model.clone(),
                    service_tier: session.service_tier(),
                    checkpoint: session.checkpoint().cloned(),
                    exclude: session.identity.exclude.clone(),
                    turn_id,
                    agent: session.agent_settings(),
                    input,
                })),
                Effect::Steer {
                    turn_id,
                    input_id,
                    input,
                } => HarnessCall::Steer {
                    turn_id,
                    input_id,
                    input,
                },
                Effect::ToolResult {
                    turn_id,
                    call_id,
                    success,
                    output,
                } => HarnessCall::ToolResult {
                    turn_id,
                    call_id,
                    success,
                    output,
                },
                Effect::Approval {
                    turn_id,
                    request_id,
                    decision,
                } => HarnessCall::Approval {
                    turn_id,
                    request_id,
                    decision,
                },
                Effect::Interrupt { turn_id } => HarnessCall::Interrupt { turn_id },
                Effect::Destroy { turn_id } => HarnessCall::Destroy {
                    turn_id: Some(turn_id),
                },
            };
            (name, call)
        })
    }
}

/// Carries an effect out. Gives what the session is to know of it.
async fn done(harness: &Stub, call: &HarnessCall, effect: &Effect) -> CallResult<Option<Input>> {
    match effect {
        Effect::Run { turn_id, .. } => {
            let Started { new_sandbox } = calls::call::<_, _, CallError>(harness, call).await?;
            Ok(Some(Input::Started {
                turn_id: turn_id.clone(),
                new_sandbox,
            }))
        }
        Effect::Steer { .. }
        | Effect::ToolResult { .. }
        | Effect::Approval { .. }
        | Effect::Interrupt { .. }
        | Effect::Destroy { .. } => {
            calls::call::<_, (), CallError>(harness, call).await?;
            Ok(None)
        }
    }
}

/// What the session is to know of an effect that is given up.
fn not_done(effect: Effect, error: &CallError) -> Option<Input> {
    match (effect, error) {
        (Effect::Run { turn_id, .. }, error) => Some(Input::NotStarted {
            turn_id,
            fault: error.environment_fault(),
        }),
        (Effect::Steer { input_id, .. }, CallError::Refused(_)) => {
            Some(Input::NotSteered { input_id })
        }
        // A steer whose fate is unknown is settled with its turn. A result that the harness does not take: the turn's deadline
        // ends it. The deadline of a stopping turn ends its containers.
        (Effect::Steer { .. }, CallError::Broken)
        | (
            Effect::ToolResult { .. }
            | Effect::Approval { .. }
            | Effect::Interrupt { .. }
            | Effect::Destroy { .. },
            _,
        ) => None,
    }
}

/// Whether an effect that was not carried out may be later.
fn may_yet_be_done(effect: &Effect, error: &CallError) -> bool {
    match error {
        CallError::Broken => true,
        // A turn that the harness does not have may be on its way to it.
        CallError::Refused(_) => matches!(effect, Effect::Interrupt { .. }),
    }
}
