//! A turn in the harness: started once, watched until SessionDO has stored its end.
use super::link::{Incoming, Link};
use super::object::{Harness, HEARTBEAT_MS, LINGER_MS};
use super::record::{ActiveTurn, Owner, RUN};
use crate::deployment::LIMITS;
use crate::edge::calls::{
    self, CallError, CallResult, Class, Refusal, RunTurn, SandboxCall, SandboxState, SessionCall,
};
use crate::edge::platform::now;
use crate::edge::{log, record};
use cloister_protocol::{Command, Event, Input};
use std::rc::Rc;
use std::time::Duration;
use worker::{Delay, Result};

/// How long a started container may take until its supervisor answers.
const START_DEADLINE: Duration = Duration::from_secs(60);
/// How long to wait for the supervisor of a container that has run for a while.
const REATTACH_DEADLINE: Duration = Duration::from_secs(15);
/// Tries to hand a batch of events to SessionDO before the link is given up; the supervisor keeps them.
const DELIVERY_TRIES: u32 = 5;

impl Harness {
    pub(super) async fn run(self: Rc<Self>, run: RunTurn) -> Result<CallResult<()>> {
        if self.record.borrow_mut().turn_named(&run.turn_id).is_some() {
            return Ok(Ok(()));
        }
        // Another turn that is still noted here is over: SessionDO, which decides, has stored its end and not told yet.
        self.wake_in(HEARTBEAT_MS).await?;
        record::save(&self.state.storage(), RUN, &run)?;
        self.update(|record| {
            record.owner = Some(Owner {
                session: run.tenant.object_name(&run.session_id),
                sandbox: run.tenant.object_name(&run.environment_id),
            });
            record.turn = Some(ActiveTurn {
                turn_id: run.turn_id.clone(),
                preset: run.preset.clone(),
                sent_to: None,
                interrupt: false,
            });
        })?;
        let turn_id = run.turn_id;
        let result = self.clone().start().await;
        let failed = result.is_err() || matches!(result, Ok(Err(_)));
        // Another turn may have come meanwhile, if this one was given up.
        if failed && self.record.borrow_mut().turn_named(&turn_id).is_some() {
            self.destroy().await?;
        }
        result
    }

    /// Brings the stored turn to the supervisor: containers, link, command. Each step that is done already is skipped.
    async fn start(self: Rc<Self>) -> Result<CallResult<()>> {
        let _one = self.starting.lock().await;
        let (sandbox, container) =
            futures_util::join!(self.ensure_sandbox(), self.ensure_container());
        container?;
        if let Err(error) = sandbox? {
            return Ok(Err(error));
        }
        let deadline = if self.record.borrow().stored == 0 {
            START_DEADLINE
        } else {
            REATTACH_DEADLINE
        };
        let Some(link) = self.clone().ensure_link(deadline).await? else {
            return Ok(Err(Refusal::Unavailable.into()));
        };
        self.send_turn(&link)?;
        Ok(Ok(()))
    }

    /// Tells the supervisor of the turn. Stored first: from then on its outcome is unknown if this instance is lost.
    fn send_turn(&self, link: &Link) -> Result<()> {
        self.update(|record| {
            let epoch = record.epoch;
            if let Some(turn) = &mut record.turn {
                turn.sent_to = Some(epoch);
            }
        })?;
        let record = self.record.borrow().clone();
        let run: Option<RunTurn> = record::load(&self.state.storage(), RUN)?;
        let (Some(turn), Some(run)) = (record.turn, run) else {
            return Ok(());
        };
        let turn_id = turn.turn_id;
        link.send(&Command::StartTurn {
            turn_id: turn_id.clone(),
            thread: record.thread,
            agent: run.agent,
            input: run.input,
        })?;
        if turn.interrupt {
            link.send(&Command::Interrupt { turn_id })?;
        }
        Ok(())
    }

    pub(super) fn steer(
        &self,
        turn_id: String,
        input_id: String,
        input: Vec<Input>,
    ) -> Result<CallResult<()>> {
        match (
            self.record.borrow_mut().turn_named(&turn_id),
            self.open_link(),
        ) {
            (None, _) => Ok(Err(Refusal::NotFound.into())),
            (Some(_), None) => Ok(Err(Refusal::Unavailable.into())),
            (Some(_), Some(link)) => link
                .send(&Command::Steer {
                    turn_id,
                    input_id,
                    input,
                })
                .map(Ok),
        }
    }

    /// Also before the turn has reached the supervisor: then right after.
    pub(super) fn interrupt(&self, turn_id: &str) -> Result<()> {
        self.update(|record| {
            if let Some(turn) = record.turn_named(turn_id) {
                turn.interrupt = true;
            }
        })?;
        let sent = self
            .record
            .borrow_mut()
            .turn_named(turn_id)
            .is_some_and(|turn| turn.sent_to.is_some());
        match self.open_link() {
            Some(link) if sent => link.send(&Command::Interrupt {
                turn_id: turn_id.to_owned(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    async fn ensure_sandbox(&self) -> Result<CallResult<SandboxState>> {
        let expires_at = now() + LIMITS.idle_timeout.as_millis() as u64 + 2 * HEARTBEAT_MS;
        let owner = self.record.borrow().owner.clone();
        let Some(owner) = owner else {
            return Ok(Err(Refusal::NotFound.into()));
        };
        let sandbox = calls::object(&self.env, Class::Sandbox, &owner.sandbox)?;
        Ok(calls::call(&sandbox, &SandboxCall::Create { expires_at }).await)
    }

    async fn ensure_link(self: Rc<Self>, deadline: Duration) -> Result<Option<Rc<Link>>> {
        if let Some(link) = self.open_link() {
            return Ok(Some(link));
        }
        self.update(|record| record.link += 1)?;
        let (number, stored) = {
            let record = self.record.borrow();
            (record.link, record.stored)
        };
        let Some(link) = Link::open(&self.container()?, number, stored, deadline).await? else {
            return Ok(None);
        };
        let link = Rc::new(link);
        self.link.replace(Some(link.clone()));
        self.state.wait_until(self.clone().pump(link.clone()));
        Ok(Some(link))
    }

    /// Hands events to SessionDO and acknowledges them, until the link ends.
    async fn pump(self: Rc<Self>, link: Rc<Link>) {
        loop {
            let stored = self.record.borrow().stored;
            match link.next(stored).await {
                Incoming::Events(events) => match self.deliver(events).await {
                    Ok(seq) => drop(link.send(&Command::Acknowledge { seq })),
                    Err(_) => break,
                },
                Incoming::Pong => {}
                Incoming::Closed => break,
            }
        }
        link.close();
        if self.record.borrow().turn.is_some() {
            log::event("harness_link_lost", &[]);
            let _ = self.wake_in(0).await;
        }
    }

    /// Returns the highest event stored.
    async fn deliver(&self, events: Vec<(u64, Event)>) -> Result<u64> {
        let last = events.last().map_or(0, |(seq, _)| *seq);
        let epoch = self.record.borrow().epoch;
        let owner = self.record.borrow().owner.clone().ok_or("no owner")?;
        let session = calls::object(&self.env, Class::Session, &owner.session)?;
        // A container without its harness ends first: a next turn may come with the answer.
        if events
            .iter()
            .any(|(_, event)| matches!(event, Event::HarnessLost { .. }))
        {
            self.container()?.destroy().await?;
        }
        let call = SessionCall::Harness { epoch, events };
        let mut tries = 0;
        loop {
            match calls::call::<_, ()>(&session, &call).await {
                Ok(()) => break,
                // The session is deleted, or has given this instance up: nobody waits for it.
                Err(CallError::Refused(_)) => {
                    self.destroy().await?;
                    return Err("the session refused the events".into());
                }
                Err(CallError::Broken) if tries < DELIVERY_TRIES => {
                    tries += 1;
                    Delay::from(Duration::from_millis(50 << tries)).await;
                }
                Err(CallError::Broken) => return Err("the session does not answer".into()),
            }
        }
        let SessionCall::Harness { events, .. } = call else {
            return Ok(last);
        };
        if self.remember(epoch, &events, last)? {
            self.wake_in(LINGER_MS).await?;
        }
        Ok(last)
    }

    /// Stores what delivered events of the instance `epoch` mean here. Returns whether nothing runs any more. With the
    /// answer to them the next turn may have come, and even another instance: what is theirs is left alone.
    fn remember(&self, epoch: u64, events: &[(u64, Event)], last: u64) -> Result<bool> {
        if self.record.borrow().epoch != epoch {
            return Ok(false);
        }
        let mut over = false;
        self.update(|record| {
            record.stored = last;
            for (_, event) in events {
                match event {
                    Event::TurnStarted { thread, .. } => record.thread = Some(thread.clone()),
                    Event::TurnEnded { turn_id, .. } => {
                        if record.turn_named(turn_id).is_some() {
                            record.turn = None;
                            record.idle_since = now();
                            over = true;
                        }
                    }
                    Event::HarnessLost { .. } => {
                        if record
                            .turn
                            .as_ref()
                            .is_some_and(|turn| turn.sent_to == Some(epoch))
                        {
                            record.turn = None;
                            record.idle_since = now();
                            over = true;
                        }
                    }
                    Event::Ready { .. }
                    | Event::ItemStarted { .. }
                    | Event::TextDelta { .. }
                    | Event::ReasoningDelta { .. }
                    | Event::OutputDelta { .. }
                    | Event::ItemCompleted { .. }
                    | Event::Usage { .. }
                    | Event::Steered { .. }
                    | Event::SteerRefused { .. } => {}
                }
            }
        })?;
        if over {
            record::remove(&self.state.storage(), RUN)?;
        }
        Ok(over)
    }

    /// The alarm. While a turn runs it is armed again before anything else; an idle harness has one alarm left, that of
    /// its end, and after that none.
    pub(super) async fn heartbeat(self: Rc<Self>) -> Result<()> {
        let running = self.record.borrow().turn.clone();
        let Some(turn) = running else {
            return self.rest().await;
        };
        self.wake_in(HEARTBEAT_MS).await?;
        let epoch = self.record.borrow().epoch;
        let alive = self.container()?.running();
        match turn.sent_to {
            Some(sent_to) if sent_to != epoch || !alive => self.lose(&turn.turn_id).await,
            Some(_) | None => {
                let attached = self.open_link();
                match attached {
                    Some(link) if link.is_silent() => {
                        // The next heartbeat opens another, or gives the harness up.
                        log::event("harness_link_silent", &[]);
                        self.close_link();
                        Ok(())
                    }
                    Some(link) => {
                        link.ping()?;
                        self.container()?
                            .keep_alive(LIMITS.idle_timeout.as_millis() as u64 + HEARTBEAT_MS)
                            .await?;
                        let owner = self.record.borrow().owner.clone().ok_or("no owner")?;
                        let sandbox = calls::object(&self.env, Class::Sandbox, &owner.sandbox)?;
                        let expires_at =
                            now() + LIMITS.idle_timeout.as_millis() as u64 + 2 * HEARTBEAT_MS;
                        // A sandbox that is gone stays gone in this turn: its commands fail, and the model is told so.
                        let _: CallResult<SandboxState> =
                            calls::call(&sandbox, &SandboxCall::Renew { expires_at }).await;
                        Ok(())
                    }
                    None => self.reattach(&turn).await,
                }
            }
        }
    }

    /// Opens a new link to the supervisor that has the turn; one that does not answer is lost.
    async fn reattach(self: Rc<Self>, turn: &ActiveTurn) -> Result<()> {
        let started = match turn.sent_to {
            None => self.clone().start().await?.is_ok(),
            Some(_) => {
                let _one = self.starting.lock().await;
                match self.clone().ensure_link(REATTACH_DEADLINE).await? {
                    Some(link) => {
                        self.send_turn(&link)?;
                        true
                    }
                    None => false,
                }
            }
        };
        if started {
            return Ok(());
        }
        self.lose(&turn.turn_id).await
    }

    /// Reports a turn as lost with its harness. The container ends first: a next turn may come with the answer.
    async fn lose(&self, turn_id: &str) -> Result<()> {
        log::event("harness_lost", &[("turn", turn_id)]);
        self.close_link();
        self.container()?.destroy().await?;
        let owner = self.record.borrow().owner.clone().ok_or("no owner")?;
        let session = calls::object(&self.env, Class::Session, &owner.session)?;
        let call = SessionCall::HarnessLost {
            turn_id: turn_id.to_owned(),
        };
        match calls::call::<_, ()>(&session, &call).await {
            Ok(()) | Err(CallError::Refused(_)) => self.update(|record| {
                if record.turn_named(turn_id).is_some() {
                    record.turn = None;
                    record.idle_since = now();
                }
            }),
            // The next heartbeat tries again.
            Err(CallError::Broken) => Ok(()),
        }
    }

    /// The alarm of an idle harness. Both containers stay until the idle timeout, also a sandbox whose harness was lost.
    async fn rest(&self) -> Result<()> {
        // A turn that comes now waits, and then starts containers anew.
        let _one = self.starting.lock().await;
        if self.record.borrow().turn.is_some() {
            return self.wake_in(HEARTBEAT_MS).await;
        }
        self.close_link();
        let end = self.record.borrow().idle_since + LIMITS.idle_timeout.as_millis() as u64;
        match end.checked_sub(now()) {
            Some(ms) if ms > 0 => self.wake_in(ms).await,
            Some(_) | None => self.destroy().await,
        }
    }
}
