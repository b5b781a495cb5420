use super::artifacts;
use super::feed;
use super::lists::{self, List};
use super::steps::RETRY_MS;
use crate::edge::calls::{
    self, CallError, CallResult, Class, HarnessCall, InputError, Refusal, SandboxCall, SessionCall,
};
use crate::edge::platform::{now, transaction_sync, Address};
use crate::edge::record;
use crate::turn::{place_of, Input, Session};
use crate::wire::query::ListQuery;
use serde_json::value::RawValue;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;
use worker::{
    durable_object, Delay, DurableObject, Env, Method, Request, Response, Result, State, WebSocket,
    WebSocketIncomingMessage,
};

/// A session: its state machine, items, turns, event log, and the effects that are still to be carried out.
///
/// **Stored**: the state in cells, of which each step writes what it changed; the event log in chunks; items, turns and
/// subagents; artifacts, and what was published last under each path; the outbox; used idempotency keys; which version the
/// catalog has; and which stored objects are garbage. Nothing before the session is created; after it is deleted, its garbage
/// until that is gone.
///
/// **Who may call**: the Gateway, for a caller whose tenant the catalog says the session belongs to, and the HarnessDO of
/// this session. Requests are `POST /call` with a `SessionCall`, `GET /log?after=` for a page of the log, and WebSocket
/// upgrades: `/events` for a listener, with `after=` to begin at a place in the log, and `/reports?epoch=` for the frames of
/// a supervisor, one a line, below a line for what HarnessDO itself has to say (a `Notice`, or nothing). Each message is
/// answered with a `Reported` when it is stored.
///
/// **After a crash** between any two writes: there are no two. Each call is one step or several, and one transaction, with
/// the idempotency key that came with it, and the alarm is set in the same turn of the event loop, which the platform
/// stores as one. An effect that was under way is carried out again; the catalog's copy is written again; garbage is deleted
/// again. What an attempt at a checkpoint stores is known before it is stored, and becomes garbage in the transaction that
/// ends its turn, unless that commits it.
#[durable_object]
pub struct SessionDO(Rc<Core>);

impl std::panic::RefUnwindSafe for SessionDO {}
impl std::panic::UnwindSafe for SessionDO {}

pub(super) struct Core {
    pub(super) state: State,
    pub(super) env: Env,
    pub(super) session: RefCell<Option<Session>>,
    /// Whether what is stored could be read. Without it nothing is done: it would be lost.
    pub(super) readable: Cell<bool>,
    /// Version that the catalog has.
    pub(super) published: Cell<u64>,
    pub(super) publishing: Cell<bool>,
    /// When the alarm is due, Unix milliseconds, as far as this instance knows.
    pub(super) armed: Cell<Option<u64>>,
    /// Whether the outbox may have rows.
    pub(super) pending: Cell<bool>,
    /// Epoch of the network that this instance was told of last.
    pub(super) network_epoch: Cell<u64>,
    /// Rows of the outbox that are being carried out.
    pub(super) under_way: RefCell<HashSet<i64>>,
    /// When garbage is to be deleted, Unix milliseconds.
    pub(super) sweep_at: Cell<Option<u64>>,
    pub(super) sweeping: Cell<bool>,
    deleting: Cell<bool>,
}

impl DurableObject for SessionDO {
    fn new(state: State, env: Env) -> Self {
        let core = Core {
            state,
            env,
            session: RefCell::default(),
            readable: Cell::default(),
            published: Cell::default(),
            publishing: Cell::default(),
            armed: Cell::default(),
            pending: Cell::default(),
            network_epoch: Cell::default(),
            under_way: RefCell::default(),
            sweep_at: Cell::default(),
            sweeping: Cell::default(),
            deleting: Cell::default(),
        };
        core.load();
        Self(Rc::new(core))
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        record::require(self.0.readable.get())?;
        let address = Address::of(&request)?;
        let number = |name| {
            let value: Option<String> = address.parameter(name);
            value.and_then(|value| value.parse::<u64>().ok())
        };
        match (request.method(), address.path().as_str()) {
            (Method::Get, path @ ("/events" | "/log")) => {
                let after = number("after");
                let answer = self.0.with(|session| {
                    if path == "/log" {
                        let after = after.unwrap_or(session.last_event());
                        feed::page(&self.0.state, after)
                    } else {
                        feed::subscribe(&self.0.state, session, after)
                    }
                });
                answer.unwrap_or_else(|| Response::error("no session", 404))
            }
            (Method::Get, "/reports") => {
                let epoch = number("epoch").ok_or("no epoch")?;
                let accepted = self
                    .0
                    .with(|session| feed::accept_reports(&self.0.state, epoch, session));
                accepted.unwrap_or_else(|| Response::error("no session", 404))
            }
            #[cfg(feature = "test-faults")]
            (Method::Post, "/abort") => {
                crate::edge::platform::abort(&self.0.state)?;
                Response::ok("")
            }
            (_, _) => {
                let call = calls::read(&mut request).await?;
                self.0.answer(call).await
            }
        }
    }

    async fn alarm(&self) -> Result<Response> {
        record::require(self.0.readable.get())?;
        self.0.armed.set(Some(now() + RETRY_MS));
        self.0.arm(RETRY_MS).await?;
        let _ = self.0.take(vec![Input::Tick], |_| Ok(()))?;
        if self.0.is_sweep_due() {
            self.0.sweep();
        }
        Response::ok("")
    }

    async fn websocket_message(
        &self,
        socket: WebSocket,
        message: WebSocketIncomingMessage,
    ) -> Result<()> {
        record::require(self.0.readable.get())?;
        match (feed::epoch_of(&self.0.state, &socket), message) {
            (Some(epoch), WebSocketIncomingMessage::String(message)) => {
                let reported = serde_json::to_string(&self.0.report(epoch, &message)?)?;
                // Listeners come first: they wait for the words, HarnessDO only for the next batch.
                self.0.state.wait_until(async move {
                    Delay::from(Duration::ZERO).await;
                    let _ = socket.send_with_str(reported);
                });
                Ok(())
            }
            // Listeners have nothing to say.
            (Some(_), WebSocketIncomingMessage::Binary(_)) | (None, _) => {
                socket.close(Some(1008), Some("not expected"))
            }
        }
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

impl Core {
    async fn answer(self: &Rc<Self>, call: SessionCall) -> Result<Response> {
        match call {
            SessionCall::Create(creation) => calls::answer(self.create(*creation)?),
            SessionCall::Retrieve => calls::answer(self.retrieve()?),
            // Its containers end, and its environment is forgotten: no turn may begin any more.
            SessionCall::Input { .. } if self.deleting.get() => {
                let gone: InputError = CallError::from(Refusal::NotFound).into();
                calls::answer_with(Err::<(), _>(gone))
            }
            SessionCall::Input {
                inputs,
                idempotency,
            } => calls::answer_with(self.input(inputs, idempotency)?),
            SessionCall::Update(update) => {
                let updated = self.take(vec![Input::Update(update)], |_| Ok(()))?;
                calls::answer(match updated {
                    Ok(()) => self.retrieve()?,
                    Err(_) => Err(Refusal::Conflict.into()),
                })
            }
            SessionCall::Network { network, epoch } => {
                calls::answer(self.set_network(network, epoch)?)
            }
            SessionCall::Items { subagent, query } => {
                let subagent = subagent.as_deref();
                calls::answer(self.page_of(subagent, &query, |subagent| List::Items { subagent })?)
            }
            SessionCall::Turns { subagent, query } => {
                let subagent = subagent.as_deref();
                calls::answer(self.page_of(subagent, &query, |subagent| List::Turns { subagent })?)
            }
            SessionCall::Turn { turn_id, subagent } => {
                let subagent = subagent.unwrap_or_default();
                let turn = lists::turn(&self.state.storage(), &turn_id, &subagent);
                calls::answer(self.found(turn)?)
            }
            SessionCall::TurnItems {
                turn_id,
                subagent,
                query,
            } => {
                let subagent = subagent.unwrap_or_default();
                let turn = lists::turn(&self.state.storage(), &turn_id, &subagent);
                let list = List::ItemsOf { turn: &turn_id };
                calls::answer(match self.found(turn)? {
                    Ok(_) => self.page(list, &query)?,
                    Err(error) => Err(error),
                })
            }
            SessionCall::Subagents { query } => calls::answer(self.page(List::Subagents, &query)?),
            SessionCall::Subagent { subagent } => {
                let found = lists::subagent(&self.state.storage(), &subagent);
                calls::answer(self.found(found)?)
            }
            SessionCall::Artifacts { environment, query } => {
                let own = |session: &Session| {
                    let id = session.identity.environment_id.as_deref();
                    environment.is_none() || environment.as_deref() == id
                };
                calls::answer(match self.with(own) {
                    Some(false) => Ok(lists::empty(&query)?),
                    Some(true) | None => self.page(List::Artifacts, &query)?,
                })
            }
            SessionCall::Artifact { id } => {
                let found = artifacts::retrieve(&self.state.storage(), &id);
                calls::answer(self.found(found)?)
            }
            SessionCall::ArtifactContent { id } => {
                let found = artifacts::content(&self.state.storage(), &id);
                calls::answer(self.found(found)?)
            }
            SessionCall::DeleteArtifact { id } => calls::answer(self.delete_artifact(&id)?),
            SessionCall::Published => {
                let published = artifacts::published(&self.state.storage());
                calls::answer(self.found(published.map(Some))?)
            }
            SessionCall::Place { event_id } => calls::answer(Ok(self.place(&event_id))),
            SessionCall::Delete => {
                self.deleting.set(true);
                let deleted = self.delete().await;
                self.deleting.set(false);
                calls::answer(deleted?)
            }
            SessionCall::HarnessLost { turn_id, fault } => {
                let known = self.with(|_| ());
                calls::answer(match known {
                    Some(()) => {
                        let input = match fault {
                            Some(_) => Input::NotStarted { turn_id, fault },
                            None => Input::Lost { turn_id },
                        };
                        let _ = self.take(vec![input], |_| Ok(()))?;
                        Ok(())
                    }
                    None => Err(Refusal::NotFound.into()),
                })
            }
        }
    }

    /// Looks at the session, if there is one.
    pub(super) fn with<T>(&self, look: impl FnOnce(&Session) -> T) -> Option<T> {
        self.session.borrow().as_ref().map(look)
    }

    pub(super) fn retrieve(&self) -> Result<CallResult<Box<RawValue>>> {
        let public = self.with(|session| serde_json::value::to_raw_value(&session.public));
        match public {
            Some(public) => Ok(Ok(public?)),
            None => Ok(Err(Refusal::NotFound.into())),
        }
    }

    fn page_of<'a>(
        &self,
        subagent: Option<&'a str>,
        query: &ListQuery,
        list: impl FnOnce(&'a str) -> List<'a>,
    ) -> Result<CallResult<Box<RawValue>>> {
        if let Some(subagent) = subagent {
            let found = lists::subagent(&self.state.storage(), subagent);
            if let Err(error) = self.found(found)? {
                return Ok(Err(error));
            }
        }
        self.page(list(subagent.unwrap_or_default()), query)
    }

    fn page(&self, list: List<'_>, query: &ListQuery) -> Result<CallResult<Box<RawValue>>> {
        if self.with(|_| ()).is_none() {
            return Ok(Err(Refusal::NotFound.into()));
        }
        let page = lists::page(&self.state.storage(), list, query)?;
        Ok(page.ok_or(Refusal::Invalid.into()))
    }

    fn found<T>(&self, found: Result<Option<T>>) -> Result<CallResult<T>> {
        if self.with(|_| ()).is_none() {
            return Ok(Err(Refusal::NotFound.into()));
        }
        Ok(found?.ok_or(Refusal::NotFound.into()))
    }

    fn delete_artifact(self: &Rc<Self>, id: &str) -> Result<CallResult<()>> {
        if self.with(|_| ()).is_none() {
            return Ok(Err(Refusal::NotFound.into()));
        }
        let storage = self.state.storage();
        let known = transaction_sync(&storage, || artifacts::delete(&storage, id, now()))?;
        if !known {
            return Ok(Err(Refusal::NotFound.into()));
        }
        self.note_garbage();
        self.follow_up();
        self.sweep();
        Ok(Ok(()))
    }

    /// Place in the log of the event with this id, if what follows it is still there.
    fn place(&self, event_id: &str) -> Option<u64> {
        self.with(|session| {
            let place = place_of(&session.identity.stream, event_id)?;
            (place >= session.log_begins() && place <= session.last_event()).then_some(place)
        })?
    }

    async fn delete(self: &Rc<Self>) -> Result<CallResult<()>> {
        let settled = |session: &Session| {
            let identity = &session.identity;
            let name = |id| identity.tenant.object_name(id);
            let sandbox = identity.environment_id.as_deref().map(name);
            session
                .is_settled()
                .then(|| (name(&session.public.id), sandbox))
        };
        let (harness, sandbox) = match self.with(settled) {
            None => return Ok(Err(Refusal::NotFound.into())),
            Some(None) => return Ok(Err(Refusal::Conflict.into())),
            Some(Some(names)) => names,
        };
        let harness = calls::object(&self.env, Class::Harness, &harness)?;
        let mut ended: CallResult<()> =
            calls::call(&harness, &HarnessCall::Destroy { turn_id: None }).await;
        if let Some(sandbox) = sandbox.filter(|_| ended.is_ok()) {
            let sandbox = calls::object(&self.env, Class::Sandbox, &sandbox)?;
            ended = calls::call(&sandbox, &SandboxCall::Forget).await;
        }
        if ended.is_err() {
            return Ok(ended);
        }
        // What came meanwhile is lost with the session only if nothing of it had begun.
        if matches!(self.with(settled), Some(None)) {
            return Ok(Err(Refusal::Conflict.into()));
        }
        // The alarm first: it goes on if this process ends.
        self.arm(RETRY_MS).await?;
        self.forget()?;
        feed::close(&self.state);
        self.sweep();
        Ok(Ok(()))
    }
}
