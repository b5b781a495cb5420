//! Effects on their way to the harness. Each stays stored until it is done; doing one again is harmless.
use super::object::Core;
use super::store::{self, Pending};
use crate::edge::calls::{self, CallError, CallResult, Class, HarnessCall, RunTurn};
use crate::edge::log;
use crate::turn::{Effect, Input};
use std::rc::Rc;
use worker::Result;

/// Tries of an effect whose outcome stays unknown.
const MAX_TRIES: u32 = 5;

impl Core {
    /// Begins every stored effect that is not under way. What follows the end of the containers waits for it.
    pub(super) fn dispatch(self: &Rc<Self>) -> Result<()> {
        for pending in store::outbox(&self.state.storage())? {
            let last = pending.effect == Effect::Destroy;
            if self.under_way.borrow_mut().insert(pending.id) {
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
        let Some(session) = self.session() else {
            return Ok(false);
        };
        let name = session.identity.tenant.object_name(&session.public.id);
        let call = match effect.clone() {
            Effect::Run { turn_id, input } => HarnessCall::Run(Box::new(RunTurn {
                tenant: session.identity.tenant,
                session_id: session.public.id,
                environment_id: session.identity.environment_id,
                preset: session.identity.preset,
                turn_id,
                agent: session.identity.settings,
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
            Effect::Interrupt { turn_id } => HarnessCall::Interrupt { turn_id },
            Effect::Destroy => HarnessCall::Destroy,
        };
        let harness = calls::object(&self.env, Class::Harness, &name)?;
        let result: CallResult<()> = calls::call(&harness, &call).await;
        let storage = self.state.storage();
        match result {
            Ok(()) => store::done(&storage, id)?,
            Err(CallError::Broken) if tries + 1 < MAX_TRIES => {
                store::tried(&storage, id)?;
                return Ok(false);
            }
            Err(CallError::Refused(_) | CallError::Broken) => {
                store::done(&storage, id)?;
                match effect {
                    Effect::Run { turn_id, .. } => {
                        self.take(vec![Input::NotStarted { turn_id }], |_| Ok(()))?;
                    }
                    Effect::Steer { input_id, .. } => {
                        self.take(vec![Input::NotSteered { input_id }], |_| Ok(()))?;
                    }
                    // The deadline of the stopping turn ends its containers.
                    Effect::Interrupt { .. } | Effect::Destroy => {}
                }
            }
        }
        Ok(true)
    }
}
