//! A turn in the harness: started once, told what it must be told, watched until SessionDO has stored its end.
use super::link::{Link, Reports};
use super::object::{Harness, HEARTBEAT_MS};
use super::record::{ActiveTurn, Owner, AGENT, COMMAND, EXCLUDE, INPUT};
use crate::deployment::LIMITS;
use crate::edge::calls::{
    self, CallError, CallResult, Claim, Class, Refusal, RunTurn, SandboxCall, SandboxState,
    SessionCall, Started,
};
use crate::edge::platform::now;
use crate::edge::platform::request::upgrade;
use crate::edge::{log, record};
use crate::environment::EnvironmentFault;
use cloister_protocol::{AgentSettings, Command, Input};
use std::rc::Rc;
use std::time::Duration;
use worker::{Result, Stub};

/// How long a started container may take until its supervisor answers.
const START_DEADLINE: Duration = Duration::from_secs(60);
/// How long to wait for the supervisor of a container that has run for a while.
const REATTACH_DEADLINE: Duration = Duration::from_secs(15);

impl Harness {
    /// A turn that is known is not begun again: the call waits while it is on its way, and is then answered as the first was, or
    /// breaks if there is no answer yet; the alarm goes on with the turn. One that is over is answered as if it had its sandbox
    /// from before, since nobody needs to know.
    pub(super) async fn run(self: Rc<Self>, run: RunTurn) -> Result<CallResult<Started>> {
        if self.record.borrow().over.contains(&run.turn_id) {
            return Ok(Ok(Started { new_sandbox: false }));
        }
        let turn_id = run.turn_id.clone();
        if self.record.borrow_mut().turn_named(&turn_id).is_some() {
            let _one = self.starting.lock().await;
            let begun = self.begun(&turn_id)?;
            return begun.map(Ok).ok_or("the turn is not begun".into());
        }
        self.note_turn(run).await?;
        let result = self.clone().begin(&turn_id).await;
        let failed = result.is_err() || matches!(result, Ok(Err(_)));
        // Another turn may have come meanwhile, if this one was given up.
        if failed && self.record.borrow_mut().turn_named(&turn_id).is_some() {
            self.forget_turn(false)?;
            self.destroy().await?;
        }
        result
    }

    /// Stores a turn, so that it is begun whatever happens.
    async fn note_turn(&self, run: RunTurn) -> Result<()> {
        // Another turn that is still noted here is over: SessionDO, which decides, has stored its end and not told yet.
        self.wake_in(HEARTBEAT_MS).await?;
        self.forget_turn(true)?;
        record::save(&self.state.storage(), AGENT, &run.agent)?;
        record::save(&self.state.storage(), INPUT, &run.input)?;
        record::save(&self.state.storage(), EXCLUDE, &run.exclude)?;
        self.update(|record| {
            let environment = run.environment_id.as_deref();
            record.owner = Some(Owner {
                session: run.tenant.object_name(&run.session_id),
                session_id: run.session_id.clone(),
                sandbox: environment.map(|environment| run.tenant.object_name(environment)),
            });
            record.turn = Some(ActiveTurn {
                turn_id: run.turn_id.clone(),
                preset: run.preset.clone(),
                service_tier: run.service_tier.clone(),
                checkpoint: run.checkpoint.clone(),
                new_sandbox: false,
                prepared: None,
                sent_to: None,
                interrupt: false,
            });
        })
    }

    /// Brings the stored turn to the supervisor: containers, link, command. Each step that is done already is skipped.
    async fn begin(self: Rc<Self>, turn_id: &str) -> Result<CallResult<Started>> {
        let _one = self.starting.lock().await;
        if let Some(started) = self.begun(turn_id)? {
            return Ok(Ok(started));
        }
        let mut tries = 0;
        let link = loop {
            tries += 1;
            let (sandbox, container) =
                futures_util::join!(self.ensure_sandbox(), self.ensure_container());
            // What is wrong with the environment is for good, so it is told before what may pass.
            let new_sandbox = match sandbox? {
                Ok(new_sandbox) => new_sandbox,
                Err(error) => return Ok(Err(error)),
            };
            let Some(started) = container? else {
                return Ok(Err(Refusal::Unavailable.into()));
            };
            if new_sandbox {
                self.update(|record| {
                    if let Some(turn) = &mut record.turn {
                        turn.new_sandbox = true;
                    }
                })?;
            }
            // Its exec link led to the sandbox before: the first command would fail.
            if new_sandbox && !started {
                self.update(|record| {
                    if let Some(turn) = &mut record.turn {
                        turn.prepared = None;
                    }
                })?;
                if self.ensure_container().await?.is_none() {
                    return Ok(Err(Refusal::Unavailable.into()));
                }
            }
            // A supervisor listens when it has its history.
            let deadline = match self.restoring.get() {
                Some(_) => START_DEADLINE + LIMITS.save_deadline,
                None => START_DEADLINE,
            };
            let link = self.clone().ensure_link(deadline).await?;
            self.end_restoring();
            match link {
                Some(link) => break link,
                // Once more, in case the container was replaced while it fetched its history.
                None if tries < 2 && self.record.borrow().turn.is_some() => {
                    self.container()?.destroy().await?;
                }
                None => return Ok(Err(Refusal::Unavailable.into())),
            }
        };
        let turn = self.record.borrow().turn.clone();
        let new_sandbox = turn.is_some_and(|turn| turn.new_sandbox);
        self.send_turn(&link)?;
        Ok(Ok(Started { new_sandbox }))
    }

    /// How the turn was brought to the supervisor, if it was. An error if it was given up.
    fn begun(&self, turn_id: &str) -> Result<Option<Started>> {
        let mut record = self.record.borrow_mut();
        let turn = record.turn_named(turn_id).ok_or("the turn is given up")?;
        let new_sandbox = turn.new_sandbox;
        Ok(turn.sent_to.map(|_| Started { new_sandbox }))
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
        let storage = self.state.storage();
        let agent: Option<AgentSettings> = record::load(&storage, AGENT)?;
        let input: Option<Vec<Input>> = record::load(&storage, INPUT)?;
        let (Some(turn), Some(agent), Some(input)) = (record.turn, agent, input) else {
            return Ok(());
        };
        let turn_id = turn.turn_id;
        link.send(&Command::StartTurn {
            turn_id: turn_id.clone(),
            thread: record.thread,
            agent: Box::new(agent),
            input,
        })?;
        for command in record::load_all::<Command>(&storage, COMMAND)? {
            link.send(&command)?;
        }
        if turn.interrupt {
            link.send(&Command::Interrupt { turn_id })?;
        }
        Ok(())
    }

    /// Tells the running turn something. It is stored until it is answered or the turn is over, and sent again over each new
    /// link: the supervisor knows again what it was told.
    pub(super) fn tell(
        &self,
        turn_id: &str,
        name: &str,
        command: Command,
    ) -> Result<CallResult<()>> {
        let sent = match self.record.borrow_mut().turn_named(turn_id) {
            None => return Ok(Err(Refusal::NotFound.into())),
            Some(turn) => turn.sent_to.is_some(),
        };
        self.update(|record| record.commands += 1)?;
        let number = self.record.borrow().commands;
        let row = format!("{COMMAND}{number:010}:{name}");
        record::save(&self.state.storage(), &row, &command)?;
        if let Some(link) = self.open_link().filter(|_| sent) {
            link.send(&command)?;
        }
        Ok(Ok(()))
    }

    /// Also before the turn has reached the supervisor: then right after.
    pub(super) fn interrupt(&self, turn_id: &str) -> Result<CallResult<()>> {
        if self.record.borrow_mut().turn_named(turn_id).is_none() {
            return Ok(Err(Refusal::NotFound.into()));
        }
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
            })?,
            Some(_) | None => {}
        }
        Ok(Ok(()))
    }

    /// Gives whether it is a new one; false without one.
    async fn ensure_sandbox(&self) -> Result<CallResult<bool>> {
        let Some(sandbox) = self.sandbox()? else {
            return Ok(Ok(false));
        };
        let claim = {
            let record = self.record.borrow();
            let owner = record.owner.clone().ok_or("no owner")?;
            let turn = record.turn.clone().ok_or("no turn")?;
            Claim {
                expires_at: now() + LIMITS.idle_timeout.as_millis() as u64 + 2 * HEARTBEAT_MS,
                turn_id: turn.turn_id,
                session: owner.session,
                session_id: owner.session_id,
                checkpoint: turn.checkpoint,
            }
        };
        let state: CallResult<SandboxState> =
            calls::call(&sandbox, &SandboxCall::Create(claim)).await;
        Ok(state.map(|state| state.started))
    }

    async fn ensure_link(self: Rc<Self>, deadline: Duration) -> Result<Option<Rc<Link>>> {
        if let Some(link) = self.open_link() {
            return Ok(Some(link));
        }
        self.update(|record| record.link += 1)?;
        let (number, epoch) = {
            let record = self.record.borrow();
            (record.link, record.epoch)
        };
        let Some(reports) = self.open_reports(epoch).await? else {
            return Ok(None);
        };
        // Its end may have been stored, and not heard of here.
        let turn = self.record.borrow().turn.clone();
        if turn.is_some_and(|turn| turn.turn_id != reports.running) {
            self.forget_turn(true)?;
        }
        let Some(link) = Link::open(&self.container()?, number, reports, deadline).await? else {
            return Ok(None);
        };
        let link = Rc::new(link);
        self.link.replace(Some(link.clone()));
        self.state.wait_until(self.clone().pump(link.clone()));
        Ok(Some(link))
    }

    /// Opens the way to SessionDO. `None` if the session is deleted: nobody waits for its turn.
    pub(super) async fn open_reports(&self, epoch: u64) -> Result<Option<Reports>> {
        let to = upgrade(&format!("http://object/reports?epoch={epoch}"))?;
        let answer = self.session()?.fetch_with_request(to).await?;
        if answer.status_code() == 404 {
            return Ok(None);
        }
        // One that does not answer now is asked again by the next heartbeat; the harness need not suffer for it.
        let socket = answer.websocket().ok_or("the session does not answer")?;
        let reports = Reports::open(socket).await?;
        reports
            .ok_or("the session does not answer".into())
            .map(Some)
    }

    pub(super) fn session(&self) -> Result<Stub> {
        let owner = self.record.borrow().owner.clone().ok_or("no owner")?;
        calls::object(&self.env, Class::Session, &owner.session)
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
            Some(sent_to) if sent_to != epoch || !alive => self.lose(&turn.turn_id, None).await,
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
                        let expires_at =
                            now() + LIMITS.idle_timeout.as_millis() as u64 + 2 * HEARTBEAT_MS;
                        if let Some(sandbox) = self.sandbox()? {
                            // A sandbox that is gone stays gone in this turn: its commands fail, and the model is told so.
                            let _: CallResult<SandboxState> =
                                calls::call(&sandbox, &SandboxCall::Renew { expires_at }).await;
                        }
                        Ok(())
                    }
                    None => self.reattach(&turn).await,
                }
            }
        }
    }

    /// Opens a new link to the supervisor that has the turn; one that does not answer is lost.
    async fn reattach(self: Rc<Self>, turn: &ActiveTurn) -> Result<()> {
        let fault = match turn.sent_to {
            None => match self.clone().begin(&turn.turn_id).await? {
                Ok(Started { .. }) => return Ok(()),
                Err(error) => error.environment_fault(),
            },
            Some(_) => {
                let _one = self.starting.lock().await;
                if let Some(link) = self.clone().ensure_link(REATTACH_DEADLINE).await? {
                    return self.send_turn(&link);
                }
                None
            }
        };
        self.lose(&turn.turn_id, fault).await
    }

    /// Reports a turn as lost with its harness, or as one that can never be begun. The container ends first: a next turn may come
    /// with the answer.
    async fn lose(&self, turn_id: &str, fault: Option<EnvironmentFault>) -> Result<()> {
        log::event("harness_lost", &[("turn", turn_id)]);
        self.close_link();
        self.container()?.destroy().await?;
        if self.deliver(turn_id).await? {
            return Ok(());
        }
        let call = SessionCall::HarnessLost {
            turn_id: turn_id.to_owned(),
            fault,
        };
        let told: CallResult<()> = calls::call(&self.session()?, &call).await;
        match told {
            Ok(()) | Err(CallError::Refused(_)) => {
                if self.record.borrow_mut().turn_named(turn_id).is_some() {
                    self.forget_turn(true)?;
                }
                Ok(())
            }
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
