use super::link::Link;
use super::record::{Owner, Record, AGENT, COMMAND, EXCLUDE, INPUT, PREPARED, STATE};
use crate::checkpoint::key::{Content, Home};
use crate::checkpoint::{Checkpoint, Task, Terms};
use crate::deployment::LIMITS;
use crate::edge::calls::{
    self, CallResult, Class, HarnessCall, Refusal, SandboxCall, PRESET_HEADER, TIER_HEADER,
};
use crate::edge::grants::Desk;
use crate::edge::platform::request::upgrade;
use crate::edge::platform::{egress_fetcher, now, Address, Container, EgressClass, StartOptions};
use crate::edge::{container, record, settings, store};
use crate::props::ContainerProps;
use crate::secret::Label;
use cloister_protocol::backup::{BACKUP_HOST, RESTORE_VARIABLE};
use cloister_protocol::{Command, EPOCH_VARIABLE, EXEC_HOST, MODEL_HOST};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use worker::{durable_object, DurableObject, Env, Method, Request, Response, Result, State, Stub};

/// While a turn runs: between two looks at link and containers. After the Worker's process was replaced, a container is
/// without its intercepts until then, and the harness's own retries of a model call have to last as long.
pub(super) const HEARTBEAT_MS: u64 = 5_000;
/// Turns that are over and still known, in case one is asked for again by a call that was long on its way.
const REMEMBERED: usize = 8;
/// After a turn: how long the link stays for items that complete late.
pub(super) const LINGER_MS: u64 = 5_000;

/// A harness: its container, the link to its supervisor, and the running turn.
///
/// **Stored**: a row with the epoch of the newest container, the number of the newest link, the harness's thread, which
/// turn runs and which checkpoint the container holds; rows with what that turn was asked and told; and its end, once its
/// checkpoint is made. No public state. Which events are stored, and which checkpoint is committed, SessionDO knows.
///
/// **Who may call**: the SessionDO of the same session (run, steer, results, interrupt, destroy) and HarnessEgress (authorize, the
/// exec link, grants), which has verified the container's identity. Requests are `POST /call` with a `HarnessCall`,
/// `GET /authorize?epoch=`, and a WebSocket upgrade of `/exec?epoch=`, which is joined to the sandbox.
///
/// **After a crash** between any two writes:
/// - before the turn is stored: SessionDO was not answered and asks again;
/// - stored but not sent: the alarm, set before, sends it;
/// - sent: the alarm attaches a new link and sends the turn and what it was told again, which the same supervisor ignores;
///   if that supervisor is gone, the outcome is unknown and the turn fails, it is never run again;
/// - events delivered but not acknowledged: they are sent again from where SessionDO says it is;
/// - while a checkpoint is made: the supervisor says again that the turn has ended, and another is made;
/// - the checkpoint made, its commit sent or not: the end is stored, and told again, also if the container is gone. What
///   SessionDO has committed already, it does not commit again.
#[durable_object]
pub struct HarnessDO(Rc<Harness>);

impl std::panic::RefUnwindSafe for HarnessDO {}
impl std::panic::UnwindSafe for HarnessDO {}

pub(super) struct Harness {
    pub(super) state: State,
    pub(super) env: Env,
    /// Only one task starts containers or opens a link at a time.
    pub(super) starting: futures_util::lock::Mutex<()>,
    pub(super) record: RefCell<Record>,
    /// Whether what is stored could be read. Without it nothing is done: an epoch must never be given twice.
    readable: bool,
    pub(super) link: RefCell<Option<Rc<Link>>>,
    pub(super) desk: Desk,
    /// The history that a container fetches while it starts.
    pub(super) restoring: Cell<Option<Task>>,
    /// When the container's requests got their newest identity, Unix milliseconds.
    identified_at: Cell<u64>,
    #[cfg(feature = "test-faults")]
    pub(super) hold: super::hold::Hold,
}

impl DurableObject for HarnessDO {
    fn new(state: State, env: Env) -> Self {
        let stored =
            record::init(&state.storage()).and_then(|()| record::load(&state.storage(), STATE));
        let readable = stored.is_ok();
        let harness = Rc::new(Harness {
            state,
            env,
            starting: Default::default(),
            record: RefCell::new(stored.ok().flatten().unwrap_or_default()),
            readable,
            link: RefCell::default(),
            desk: Desk::default(),
            restoring: Cell::default(),
            identified_at: Cell::default(),
            #[cfg(feature = "test-faults")]
            hold: Default::default(),
        });
        // Intercepts do not outlive the process that registered them; a container does.
        let adopting = harness.clone();
        if Container::of(&harness.state).is_ok_and(|container| container.running()) {
            let _gate = harness.state.block_concurrency_while(async move {
                let _ = adopting.intercept().await;
                Ok(())
            });
        }
        Self(harness)
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        record::require(self.0.readable)?;
        let address = Address::of(&request)?;
        let epoch = address
            .parameter("epoch")
            .and_then(|epoch| epoch.parse().ok());
        match (request.method(), address.path().as_str()) {
            (Method::Get, "/authorize") => self.0.authorize(epoch),
            (Method::Get, "/exec") => self.0.join_exec_link(epoch).await,
            #[cfg(feature = "test-faults")]
            (Method::Post, "/abort") => {
                crate::edge::platform::abort(&self.0.state)?;
                Response::ok("")
            }
            #[cfg(feature = "test-faults")]
            (Method::Post, "/hold") => {
                let point = address.parameter("at").unwrap_or_default();
                self.0.hold.at(point);
                Response::ok("")
            }
            (_, _) => {
                let call = calls::read(&mut request).await?;
                self.0.clone().answer(call).await
            }
        }
    }

    async fn alarm(&self) -> Result<Response> {
        record::require(self.0.readable)?;
        self.0.clone().heartbeat().await?;
        Response::ok("")
    }
}

impl Harness {
    async fn answer(self: Rc<Self>, call: HarnessCall) -> Result<Response> {
        match call {
            HarnessCall::Run(run) => calls::answer(self.run(*run).await?),
            HarnessCall::Steer {
                turn_id,
                input_id,
                input,
            } => {
                let name = input_id.clone();
                let command = Command::Steer {
                    turn_id: turn_id.clone(),
                    input_id,
                    input,
                };
                calls::answer(self.tell(&turn_id, &name, command)?)
            }
            HarnessCall::ToolResult {
                turn_id,
                call_id,
                success,
                output,
            } => {
                let name = call_id.clone();
                let command = Command::ToolResult {
                    turn_id: turn_id.clone(),
                    call_id,
                    success,
                    output,
                };
                calls::answer(self.tell(&turn_id, &name, command)?)
            }
            HarnessCall::Approval {
                turn_id,
                request_id,
                decision,
            } => {
                let name = request_id.clone();
                let command = Command::Approval {
                    request_id,
                    decision,
                };
                calls::answer(self.tell(&turn_id, &name, command)?)
            }
            HarnessCall::Grant(call) => self.desk.answer(call),
            HarnessCall::Interrupt { turn_id } => calls::answer(self.interrupt(&turn_id)?),
            HarnessCall::Destroy { turn_id } => {
                let other = self.record.borrow().turn.as_ref().is_some_and(|turn| {
                    turn_id.as_ref().is_some_and(|ended| *ended != turn.turn_id)
                });
                if !other {
                    self.destroy().await?;
                }
                calls::answer(Ok(()))
            }
        }
    }

    fn authorize(&self, epoch: Option<u64>) -> Result<Response> {
        let record = self.record.borrow();
        match &record.turn {
            Some(turn) if epoch == Some(record.epoch) => {
                let mut answer = Response::builder().with_header(PRESET_HEADER, &turn.preset)?;
                if let Some(tier) = &turn.service_tier {
                    answer = answer.with_header(TIER_HEADER, tier)?;
                }
                Ok(answer.empty())
            }
            Some(_) | None => Ok(Response::empty()?.with_status(403)),
        }
    }

    /// Ends both containers. A running turn is forgotten: whoever asks for this has ended it.
    pub(super) async fn destroy(&self) -> Result<()> {
        self.close_link();
        self.forget_turn(true)?;
        self.state.storage().delete_alarm().await?;
        self.container()?.destroy().await?;
        if let Some(sandbox) = self.sandbox()? {
            let _: CallResult<()> = calls::call(&sandbox, &SandboxCall::Stop).await;
        }
        Ok(())
    }

    /// The turn is `over`, whichever way, and is not to be run again; or it was given up before it began, and may be.
    pub(super) fn forget_turn(&self, over: bool) -> Result<()> {
        let storage = self.state.storage();
        self.update(|record| {
            if let Some(turn) = record.turn.take().filter(|_| over) {
                record.over.push_back(turn.turn_id);
                if record.over.len() > REMEMBERED {
                    record.over.pop_front();
                }
            }
            record.commands = 0;
            record.idle_since = now();
        })?;
        record::remove(&storage, AGENT)?;
        record::remove(&storage, INPUT)?;
        record::remove(&storage, EXCLUDE)?;
        record::remove(&storage, PREPARED)?;
        record::remove_all(&storage, COMMAND, "")
    }

    /// The sandbox, if the session has one.
    pub(super) fn sandbox(&self) -> Result<Option<Stub>> {
        let owner = self.record.borrow().owner.clone();
        let name = owner.and_then(|owner: Owner| owner.sandbox);
        name.map(|name| calls::object(&self.env, Class::Sandbox, &name))
            .transpose()
    }

    async fn join_exec_link(&self, epoch: Option<u64>) -> Result<Response> {
        let sandbox = self.sandbox()?;
        match sandbox {
            Some(sandbox) if epoch == Some(self.record.borrow().epoch) => {
                sandbox
                    .fetch_with_request(upgrade("http://object/exec")?)
                    .await
            }
            Some(_) | None => Response::error(Refusal::Stale.code(), 403),
        }
    }

    pub(super) fn container(&self) -> Result<Container> {
        Container::of(&self.state)
    }

    /// Makes the container ready for the running turn. One that certainly holds what the turn begins with is used again; any
    /// other is destroyed, and a new instance, with a new epoch and no events, fetches its history before it starts.
    /// Gives whether it is a new one; nothing if what it must hold cannot be had any more.
    pub(super) async fn ensure_container(&self) -> Result<Option<bool>> {
        let container = self.container()?;
        let (turn, holds, epoch) = {
            let record = self.record.borrow();
            let turn = record.turn.clone().ok_or("no turn")?;
            (turn, record.holds.clone(), record.epoch)
        };
        let wanted = turn.checkpoint.as_ref().map(|checkpoint| &checkpoint.id);
        let same = holds.is_some() && holds.as_ref() == wanted;
        let started = !container.running() || !(same || turn.prepared == Some(epoch));
        if started {
            self.close_link();
            container.destroy().await?;
            if !self.start(&container, turn.checkpoint.as_ref()).await? {
                return Ok(None);
            }
        } else if container::is_stale(self.identified_at.get()) {
            self.intercept().await?;
        }
        self.update(|record| {
            let epoch = record.epoch;
            record.holds = None;
            if let Some(turn) = &mut record.turn {
                turn.prepared = Some(epoch);
            }
        })?;
        container
            .keep_alive(LIMITS.idle_timeout.as_millis() as u64 + HEARTBEAT_MS)
            .await?;
        Ok(Some(started))
    }

    async fn start(&self, container: &Container, checkpoint: Option<&Checkpoint>) -> Result<bool> {
        let owner = self.record.borrow().owner.clone().ok_or("no owner")?;
        let home = Home::of_object(&owner.session);
        let manifest = match checkpoint {
            Some(checkpoint) => {
                let id = &owner.session_id;
                let manifest = store::manifest(&self.env, &home, id, checkpoint).await?;
                if manifest.is_none() {
                    return Ok(false);
                }
                manifest
            }
            None => None,
        };
        self.update(|record| {
            record.epoch += 1;
            record.holds = None;
            record.thread = manifest
                .as_ref()
                .and_then(|manifest| manifest.thread.clone());
        })?;
        let epoch = self.record.borrow().epoch;
        let mut env = BTreeMap::from([(EPOCH_VARIABLE.to_owned(), epoch.to_string())]);
        self.end_restoring();
        if let Some(manifest) = manifest {
            let terms = Terms {
                epoch,
                expires_at: now() + LIMITS.save_deadline.as_millis() as u64,
            };
            let key = home.stream(&manifest.history.checkpoint, Content::History);
            let (grant, task) = self.desk.fetch(terms, key, &manifest.history);
            self.restoring.set(Some(task));
            env.insert(RESTORE_VARIABLE.to_owned(), grant);
        }
        self.intercept().await?;
        container.start(&StartOptions::new(container.image("harness")?, env))?;
        container::watch(&self.state, container, "harness");
        Ok(true)
    }

    /// The container has its history, or will not get it any more.
    pub(super) fn end_restoring(&self) {
        if let Some(task) = self.restoring.take() {
            self.desk.end(task);
        }
    }

    /// The reserved hosts, and only those, lead to HarnessEgress; nothing else has a rule, so nothing else answers.
    async fn intercept(&self) -> Result<()> {
        let key = settings::root_key(&self.env)?;
        let name = container::object_name(&self.state)?;
        let props = ContainerProps::issue(
            &key,
            Label::HarnessEgress,
            &name,
            self.record.borrow().epoch,
            now() + container::PROPS_LIFETIME_MS,
        );
        let to = egress_fetcher(self.state.as_raw(), EgressClass::Harness, &props)?;
        let container = self.container()?;
        container.intercept_http(MODEL_HOST, &to).await?;
        container.intercept_http(EXEC_HOST, &to).await?;
        container.intercept_http(BACKUP_HOST, &to).await?;
        self.identified_at.set(now());
        Ok(())
    }

    pub(super) fn close_link(&self) {
        if let Some(link) = self.link.take() {
            link.close();
        }
    }

    pub(super) fn open_link(&self) -> Option<Rc<Link>> {
        self.link.borrow().clone().filter(|link| link.is_open())
    }

    pub(super) async fn wake_in(&self, ms: u64) -> Result<()> {
        self.state
            .storage()
            .set_alarm(std::time::Duration::from_millis(ms))
            .await
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Record)) -> Result<()> {
        let mut changed = self.record.borrow().clone();
        change(&mut changed);
        record::save(&self.state.storage(), STATE, &changed)?;
        self.record.replace(changed);
        Ok(())
    }
}
