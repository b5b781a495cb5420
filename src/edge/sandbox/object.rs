use super::record::{Live, Phase, Record, STATE};
use super::self_test::SelfTest;
use super::setup::SetUp;
use super::{audit, files};
use crate::deployment::LIMITS;
use crate::edge::calls::{
    self, CallResult, Capabilities, Claim, ExecRequest, ExecResult, Refusal, SandboxCall,
    SandboxState,
};
use crate::edge::grants::Desk;
use crate::edge::platform::{
    now, random, transaction_sync, Address, Container, Exec, StartOptions,
};
use crate::edge::{container, record};
use crate::environment::EnvironmentFault;
use crate::tenant::hex;
use base64::{engine::general_purpose::STANDARD, Engine};
use cloister_protocol::{EXEC_PORT, WORKSPACE};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use worker::{
    durable_object, DurableObject, Env, Method, Request, Response, Result, State, WebSocket,
    WebSocketIncomingMessage,
};

/// Kills every process but process 1, the exec server and itself; three times, for those that multiply.
const QUIET: &str = "for round in 1 2 3; do for d in /proc/[0-9]*; do p=${d#/proc/}; \
                     [ $p = 1 ] || [ $p = $$ ] || [ \"$(readlink $d/exe)\" = /opt/codex/bin/codex ] || kill -9 $p; \
                     done; done >/dev/null 2>&1; exit 0";
const QUIET_DEADLINE: Duration = Duration::from_secs(5);
/// How long an exec server may take to open its link. One that is stopped is replaced by the container itself.
const JOIN_DEADLINE: Duration = Duration::from_secs(20);
/// How long a started container may take until its exec server answers.
const START_DEADLINE: Duration = Duration::from_secs(60);
/// How long the exec server of a container that has run may take to answer.
const READY_DEADLINE: Duration = Duration::from_secs(10);

/// A sandbox: the container where commands run and files live, and what it may reach.
///
/// **Stored**: a row with the epochs of the newest container and of its network, which policy is in force, when the container
/// expires, which turn has it and what it holds; rows with the tenant's policy, and with its variables and set-up commands,
/// sealed; and a table of what was decided of its requests. Its grants are in memory alone.
///
/// **Who may call**: the HarnessDO of the same session (create, save, renew, stop, the exec link); its SessionDO (forget); the
/// Gateway (configure, network), for a caller whose session it is; BackupGateway and SandboxEgress, which have verified the
/// container's identity (grants; policy and audit); and, for exec and files, the code that will serve a public sandbox
/// interface. Nothing from outside reaches it. Requests are `POST /call` with a `SandboxCall`, `GET` or `PUT /file?path=` whose
/// body is the file, and WebSocket upgrades: `/exec`, which is joined to the exec server, and `/under-way?epoch=`, on which a
/// request that lasts hears of new policies.
///
/// **After a crash** between any two writes: the epochs are stored before the container starts, so an instance is never
/// given one twice. What a container holds is forgotten before it starts, and stored again when its workspace is whole
/// and its marker written: one that was being started, set up or restored is destroyed. That a turn has it is stored before the
/// turn begins, and what it holds when all of it is in the store: without that it is not used for another turn. An expiry that
/// was not stored leaves the earlier one, whose alarm is set before it is stored. A policy and its epoch are one write, made
/// before the policy is in force; requests that were under way have ended with the process, and the constructor gives a
/// container that goes on the newest identity before it hears any.
#[durable_object]
pub struct SandboxDO(Rc<Sandbox>);

impl std::panic::RefUnwindSafe for SandboxDO {}
impl std::panic::UnwindSafe for SandboxDO {}

pub(super) struct Sandbox {
    pub(super) state: State,
    pub(super) env: Env,
    starting: futures_util::lock::Mutex<()>,
    /// Only one task registers intercepts at a time: the newest epoch must be the last.
    pub(super) intercepting: futures_util::lock::Mutex<()>,
    pub(super) record: RefCell<Record>,
    /// Whether what is stored could be read. Without it nothing is done: an epoch must never be given twice.
    readable: bool,
    pub(super) desk: Desk,
    pub(super) testing: RefCell<Option<SelfTest>>,
    /// The epochs that the container's requests are identified by, if that is certain, and since when, Unix milliseconds.
    pub(super) identified: Cell<Option<(u64, u64)>>,
    pub(super) identified_at: Cell<u64>,
}

impl DurableObject for SandboxDO {
    fn new(state: State, env: Env) -> Self {
        let stored = record::init(&state.storage())
            .and_then(|()| audit::init(&state.storage()))
            .and_then(|()| record::load(&state.storage(), STATE));
        let readable = stored.is_ok();
        let sandbox = Rc::new(Sandbox {
            state,
            env,
            starting: Default::default(),
            record: RefCell::new(stored.ok().flatten().unwrap_or_default()),
            readable,
            desk: Desk::default(),
            testing: RefCell::default(),
            identified: Cell::default(),
            identified_at: Cell::default(),
            intercepting: Default::default(),
        });
        // Intercepts do not outlive the process that registered them; a container does.
        let adopting = sandbox.clone();
        if Container::of(&sandbox.state).is_ok_and(|container| container.running()) {
            let _gate = sandbox.state.block_concurrency_while(async move {
                let _ = adopting.intercept().await;
                Ok(())
            });
        }
        Self(sandbox)
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        record::require(self.0.readable)?;
        let address = Address::of(&request)?;
        let file = || address.parameter("path").unwrap_or_default();
        match (request.method(), address.path().as_str()) {
            (Method::Get, "/exec") => self.0.join_exec_link().await,
            (Method::Get, "/under-way") => {
                let epoch = address.parameter("epoch");
                self.0.watch(epoch.and_then(|epoch| epoch.parse().ok()))
            }
            (Method::Get, "/file") => files::read(&self.0.container()?, &file()).await,
            (Method::Put, "/file") => calls::answer(
                files::write(&self.0.container()?, &file(), request.inner().body()).await?,
            ),
            (_, _) => {
                let call = calls::read(&mut request).await?;
                self.0.clone().answer(call).await
            }
        }
    }

    async fn alarm(&self) -> Result<Response> {
        record::require(self.0.readable)?;
        // A start that is under way has moved the expiry.
        let _one = self.0.starting.lock().await;
        // A failure is repeated by the runtime; an expired sandbox must not stay.
        if self.0.record.borrow().expires_at <= now() {
            self.0.stop().await?;
        } else {
            self.0.arm().await?;
        }
        Response::ok("")
    }

    /// Requests that are under way have nothing to say.
    async fn websocket_message(
        &self,
        socket: WebSocket,
        _message: WebSocketIncomingMessage,
    ) -> Result<()> {
        socket.close(Some(1008), Some("not expected"))
    }

    async fn websocket_close(
        &self,
        _socket: WebSocket,
        _code: usize,
        _reason: String,
        _was_clean: bool,
    ) -> Result<()> {
        Ok(())
    }

    async fn websocket_error(&self, _socket: WebSocket, _error: worker::Error) -> Result<()> {
        Ok(())
    }
}

impl Sandbox {
    async fn answer(self: Rc<Self>, call: SandboxCall) -> Result<Response> {
        match call {
            SandboxCall::Configure(configuration) => calls::answer(self.configure(*configuration)?),
            SandboxCall::Forget => calls::answer(self.forget().await.map(Ok)?),
            SandboxCall::Network(call) => self.network(call).await,
            SandboxCall::Egress(call) => self.egress(call),
            SandboxCall::Create(claim) => calls::answer(self.create(claim).await?),
            SandboxCall::Save(save) => calls::answer_with(self.save(*save).await?),
            SandboxCall::Grant(call) => self.desk.answer(call),
            SandboxCall::Renew { expires_at } => calls::answer(self.renew(expires_at).await?),
            SandboxCall::Exec(request) => calls::answer(self.exec(request).await?),
            SandboxCall::List { path } => {
                calls::answer(files::list(&self.container()?, &path).await?)
            }
            SandboxCall::Quiet => calls::answer(self.quiet().await.map(Ok)?),
            SandboxCall::Stop => calls::answer(self.stop().await.map(Ok)?),
            SandboxCall::Capabilities => calls::answer(Ok(capabilities())),
        }
    }

    pub(super) fn container(&self) -> Result<Container> {
        Container::of(&self.state)
    }

    /// Makes the sandbox ready for a turn. Concurrent calls wait for one another.
    async fn create(self: Rc<Self>, claim: Claim) -> Result<CallResult<SandboxState>> {
        let _one = self.starting.lock().await;
        let container = self.container()?;
        let asked_at = now();
        self.set_expiry(claim.expires_at).await?;
        if !self.holds(&container, &claim).await? {
            let mut begun = self.start(&container, &claim).await?;
            if begun.is_err_and(may_yet_start) {
                begun = self.start(&container, &claim).await?;
            }
            if let Err(refusal) = begun {
                return Ok(Err(refusal.into()));
            }
            // What that took is not idle time.
            self.set_expiry(claim.expires_at + (now() - asked_at))
                .await?;
        } else if container::is_stale(self.identified_at.get()) {
            self.intercept().await?;
        }
        self.keep_alive(&container).await?;
        let Record {
            epoch,
            expires_at,
            live,
            ..
        } = self.record.borrow().clone();
        Ok(Ok(SandboxState {
            epoch,
            started: live.is_some_and(|live| live.made_for == claim.turn_id),
            expires_at,
        }))
    }

    /// Whether the container that runs may be used for this turn, and if so, claims it. Any doubt means no.
    async fn holds(&self, container: &Container, claim: &Claim) -> Result<bool> {
        let Some(live) = self.record.borrow().live.clone() else {
            return Ok(false);
        };
        let again = live.turn_id == claim.turn_id && live.holds.is_none();
        let wanted = claim.checkpoint.as_ref().map(|checkpoint| &checkpoint.id);
        let same = live.holds.is_some() && live.holds.as_ref() == wanted;
        if !container.running() || !(again || same) {
            return Ok(false);
        }
        let answers = container::answers(container, EXEC_PORT, "/readyz", READY_DEADLINE);
        if !answers.await || (same && !self.marker_is(container, &live).await?) {
            return Ok(false);
        }
        let live = Live {
            turn_id: claim.turn_id.clone(),
            holds: None,
            ..live
        };
        self.update(|record| record.live = Some(live))?;
        Ok(true)
    }

    /// Starts a new container, tests its border, sets it up, and gives it what it must hold. Its marker is the last that is
    /// written there.
    async fn start(
        &self,
        container: &Container,
        claim: &Claim,
    ) -> Result<std::result::Result<(), Refusal>> {
        container.destroy().await?;
        self.update(|record| {
            record.epoch += 1;
            record.live = None;
        })?;
        self.enter(Phase::Closed, true).await?;
        let env = limits().into_iter().chain(self.variables()?).collect();
        let options = StartOptions::new(container.image("sandbox")?, env);
        self.intercept().await?;
        container.start(&options)?;
        container::watch(&self.state, container, "sandbox");
        let longest = START_DEADLINE + LIMITS.setup_deadline + LIMITS.save_deadline;
        container.keep_alive(longest.as_millis() as u64).await?;
        let made = self.make(container, claim).await;
        if !matches!(made, Ok(Ok(()))) {
            container.destroy().await?;
        }
        made
    }

    async fn make(
        &self,
        container: &Container,
        claim: &Claim,
    ) -> Result<std::result::Result<(), Refusal>> {
        if !container::answers(container, EXEC_PORT, "/readyz", START_DEADLINE).await {
            return Ok(Err(Refusal::Unavailable));
        }
        if !self.is_isolated(container).await? {
            return Ok(Err(match container.running() {
                true => Refusal::Environment(EnvironmentFault::NotIsolated),
                false => Refusal::Unavailable,
            }));
        }
        match self.set_up(container).await? {
            SetUp::Done => {}
            SetUp::Lost => return Ok(Err(Refusal::Unavailable)),
            SetUp::Failed(fault) => return Ok(Err(Refusal::Environment(fault))),
        }
        let live = Live {
            instance: hex(&random::<8>()),
            made_for: claim.turn_id.clone(),
            turn_id: claim.turn_id.clone(),
            holds: None,
        };
        if !self.fill(container, claim, &live).await? {
            return Ok(Err(Refusal::Unavailable));
        }
        self.update(|record| record.live = Some(live))?;
        Ok(Ok(()))
    }

    async fn renew(&self, expires_at: u64) -> Result<CallResult<SandboxState>> {
        // A sandbox that is being destroyed or started is neither there nor gone.
        let _one = self.starting.lock().await;
        let container = self.container()?;
        if !container.running() {
            return Ok(Err(Refusal::NotFound.into()));
        }
        self.set_expiry(expires_at).await?;
        self.keep_alive(&container).await?;
        let Record {
            epoch, expires_at, ..
        } = self.record.borrow().clone();
        Ok(Ok(SandboxState {
            epoch,
            started: false,
            expires_at,
        }))
    }

    async fn exec(&self, request: ExecRequest) -> Result<CallResult<ExecResult>> {
        let container = self.container()?;
        let cwd = request.cwd.unwrap_or_else(|| WORKSPACE.to_owned());
        if request.argv.is_empty() || !cwd.starts_with('/') {
            return Ok(Err(Refusal::Invalid.into()));
        }
        if !container.running() {
            return Ok(Err(Refusal::NotFound.into()));
        }
        let exec = Exec {
            argv: request.argv,
            cwd,
            env: request.env,
            stdin: None,
            timeout: Duration::from_millis(request.timeout_ms).min(LIMITS.exec_deadline),
            max_output: request.max_output_bytes.min(LIMITS.exec_output),
        };
        let ended = exec.run(&container).await?;
        let output = STANDARD.encode(ended.output);
        Ok(Ok(ExecResult {
            output,
            exit_code: ended.exit_code,
            killed: ended.killed,
        }))
    }

    async fn stop(&self) -> Result<()> {
        self.container()?.destroy().await?;
        self.state.storage().delete_alarm().await?;
        self.enter(Phase::Closed, true).await
    }

    /// Ids are never used again, so it does no harm to forget which epochs there were.
    async fn forget(&self) -> Result<()> {
        self.stop().await?;
        let storage = self.state.storage();
        transaction_sync(&storage, || {
            audit::clear(&storage)?;
            record::remove_all(&storage, "", "")
        })?;
        self.record.replace(Record::default());
        Ok(())
    }

    /// Ends what commands have left running, also what has detached itself from them.
    async fn quiet(&self) -> Result<()> {
        let container = self.container()?;
        if !container.running() {
            return Ok(());
        }
        let exec = Exec {
            argv: ["/bin/sh", "-c", QUIET].map(str::to_owned).to_vec(),
            cwd: "/".to_owned(),
            env: Default::default(),
            stdin: None,
            timeout: QUIET_DEADLINE,
            max_output: 0,
        };
        exec.run(&container).await.map(drop)
    }

    async fn join_exec_link(&self) -> Result<Response> {
        let container = self.container()?;
        if !container.running() {
            return Response::error("no sandbox", 503);
        }
        let joined = container.upgrade(EXEC_PORT, "/");
        match container::within(JOIN_DEADLINE, joined).await {
            Some(joined) => joined,
            None => Response::error("the exec server does not answer", 504),
        }
    }

    async fn set_expiry(&self, expires_at: u64) -> Result<()> {
        self.state
            .storage()
            .set_alarm(Duration::from_millis(expires_at.saturating_sub(now())))
            .await?;
        self.update(|record| record.expires_at = expires_at)
    }

    async fn arm(&self) -> Result<()> {
        let expires_at = self.record.borrow().expires_at;
        self.set_expiry(expires_at).await
    }

    async fn keep_alive(&self, container: &Container) -> Result<()> {
        let ms = self.record.borrow().expires_at.saturating_sub(now());
        container.keep_alive(ms.max(1000)).await
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Record)) -> Result<()> {
        let mut changed = self.record.borrow().clone();
        change(&mut changed);
        record::save(&self.state.storage(), STATE, &changed)?;
        self.record.replace(changed);
        Ok(())
    }
}

/// A container that was lost may have been replaced by the platform, and a mute border may speak the next time. What the
/// tenant's own commands did, they would do again.
fn may_yet_start(refusal: Refusal) -> bool {
    match refusal {
        Refusal::Environment(EnvironmentFault::SetupFailed { .. }) => false,
        Refusal::Environment(EnvironmentFault::NotIsolated)
        | Refusal::NotFound
        | Refusal::Conflict
        | Refusal::Stale
        | Refusal::Unavailable
        | Refusal::Invalid
        | Refusal::KeyReused
        | Refusal::Full => true,
    }
}

/// Limits that the image's init keeps, by the variables it reads.
fn limits() -> BTreeMap<String, String> {
    [
        ("CLOISTER_MAX_PROCESSES", LIMITS.processes.to_string()),
        ("CLOISTER_MAX_FILE_BYTES", LIMITS.file_size.to_string()),
        ("CLOISTER_MAX_DISK_BYTES", LIMITS.disk.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn capabilities() -> Capabilities {
    Capabilities {
        workspace: WORKSPACE.to_owned(),
        max_exec_ms: LIMITS.exec_deadline.as_millis() as u64,
        max_output_bytes: LIMITS.exec_output,
        max_file_bytes: LIMITS.file_size,
        max_processes: LIMITS.processes,
        max_disk_bytes: LIMITS.disk,
    }
}
