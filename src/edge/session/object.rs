use super::store::List;
use super::{catalog, feed, store};
use crate::deployment::LIMITS;
use crate::edge::calls::{
    self, CallResult, Class, ClientInput, HarnessCall, Refusal, SessionCall, SessionCreation,
};
use crate::edge::platform::{now, random, transaction_sync, Address};
use crate::edge::record;
use crate::turn::{Input, Seeds, Session, Step, MAX_INPUT_BYTES};
use crate::wire::page::{rows_to_read, Page};
use crate::wire::query::ListQuery;
use serde_json::value::RawValue;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;
use worker::{
    durable_object, DurableObject, Env, Method, Request, Response, Result, State, Storage,
    WebSocket, WebSocketIncomingMessage,
};

/// When effects or a copy for the catalog are left, the alarm tries again after this time.
const RETRY_MS: u64 = 5_000;

/// A session: its state machine, items, turns, event log, and the effects that are still to be carried out.
///
/// **Stored**: the state (one row), events, items, turns, the outbox, and used idempotency keys.
///
/// **Who may call**: the Gateway, for a caller whose tenant the catalog says the session belongs to, and the HarnessDO of
/// this session. Requests are `POST /call` with a `SessionCall` and a WebSocket upgrade of `/events`, with `after=` to
/// begin at a place in the log.
///
/// **After a crash** between any two writes: there are no two. Each input is one step and each step one transaction, with
/// the idempotency key that came with it, and the alarm is set in the same turn of the event loop, which the platform
/// stores as one. An effect that was under way is carried out again; the catalog's copy is written again.
#[durable_object]
pub struct SessionDO(Rc<Core>);

impl std::panic::RefUnwindSafe for SessionDO {}
impl std::panic::UnwindSafe for SessionDO {}

pub(super) struct Core {
    pub(super) state: State,
    pub(super) env: Env,
    session: RefCell<Option<Session>>,
    /// Whether what is stored could be read. Without it nothing is done: it would be lost.
    readable: bool,
    /// Version that the catalog has.
    published: Cell<u64>,
    publishing: Cell<bool>,
    /// When the alarm is due, Unix milliseconds, as far as this instance knows.
    armed: Cell<Option<u64>>,
    /// Rows of the outbox that are being carried out.
    pub(super) under_way: RefCell<HashSet<i64>>,
}

impl DurableObject for SessionDO {
    fn new(state: State, env: Env) -> Self {
        let stored = store::init(&state.storage()).and_then(|()| store::load(&state.storage()));
        let readable = stored.is_ok();
        let (session, published) = match stored.ok().flatten() {
            Some((session, published)) => (Some(session), published),
            None => (None, 0),
        };
        Self(Rc::new(Core {
            state,
            env,
            session: RefCell::new(session),
            readable,
            published: Cell::new(published),
            publishing: Cell::default(),
            armed: Cell::default(),
            under_way: RefCell::default(),
        }))
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        record::require(self.0.readable)?;
        let address = Address::of(&request)?;
        match (request.method(), address.path().as_str()) {
            (Method::Get, "/events") => {
                let after = address
                    .parameter("after")
                    .and_then(|after| after.parse().ok());
                match self.0.session() {
                    Some(_) => feed::subscribe(&self.0.state, after),
                    None => Response::error("no session", 404),
                }
            }
            (_, _) => {
                let call = calls::read(&mut request).await?;
                self.0.answer(call).await
            }
        }
    }

    async fn alarm(&self) -> Result<Response> {
        record::require(self.0.readable)?;
        self.0.armed.set(Some(now() + RETRY_MS));
        self.0.arm(RETRY_MS).await?;
        self.0.take(vec![Input::Tick], |_| Ok(()))?;
        Response::ok("")
    }

    async fn websocket_message(
        &self,
        socket: WebSocket,
        _message: WebSocketIncomingMessage,
    ) -> Result<()> {
        // Listeners have nothing to say.
        socket.close(Some(1008), Some("listeners only listen"))
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
            SessionCall::Input {
                inputs,
                idempotency,
            } => calls::answer(self.input(inputs, idempotency)?),
            SessionCall::Items { turn_id, query } => calls::answer(self.items(turn_id, &query)?),
            SessionCall::Turns { query } => calls::answer(self.page(List::Turns, &query)?),
            SessionCall::Turn { turn_id } => calls::answer(self.turn(&turn_id)?),
            SessionCall::Delete => calls::answer(self.delete().await?),
            SessionCall::Harness { epoch, events } => {
                let inputs =
                    events
                        .into_iter()
                        .map(|(seq, event)| Input::Harness { epoch, seq, event });
                calls::answer(self.take_known(inputs.collect())?)
            }
            SessionCall::HarnessLost { turn_id } => {
                calls::answer(self.take_known(vec![Input::Lost { turn_id }])?)
            }
        }
    }

    pub(super) fn session(&self) -> Option<Session> {
        self.session.borrow().clone()
    }

    fn create(self: &Rc<Self>, creation: SessionCreation) -> Result<CallResult<Box<RawValue>>> {
        if self.session.borrow().is_some() {
            return Ok(Err(Refusal::Conflict.into()));
        }
        let session = Session::new(creation.identity, creation.session);
        transaction_sync(&self.state.storage(), || {
            store::create(&self.state.storage(), &session)
        })?;
        // The catalog was given this version.
        self.published.set(session.version);
        self.session.replace(Some(session));
        if !creation.input.is_empty() {
            self.take(vec![Input::Messages(creation.input)], |_| Ok(()))?;
        }
        self.retrieve()
    }

    fn retrieve(&self) -> Result<CallResult<Box<RawValue>>> {
        let session = self.session.borrow();
        let Some(session) = session.as_ref() else {
            return Ok(Err(Refusal::NotFound.into()));
        };
        Ok(Ok(serde_json::value::to_raw_value(&session.public)?))
    }

    fn input(
        self: &Rc<Self>,
        inputs: Vec<ClientInput>,
        idempotency: Option<(String, String)>,
    ) -> Result<CallResult<()>> {
        if let Some((key, body)) = &idempotency {
            match store::input_with_key(&self.state.storage(), key)? {
                Some(earlier) if earlier == *body => return Ok(Ok(())),
                Some(_) => return Ok(Err(Refusal::KeyReused.into())),
                None => {}
            }
        }
        let Some(waiting) = self.session.borrow().as_ref().map(Session::waiting_bytes) else {
            return Ok(Err(Refusal::NotFound.into()));
        };
        let new = serde_json::to_vec(&inputs)?.len();
        if waiting + new > MAX_INPUT_BYTES {
            return Ok(Err(Refusal::Full.into()));
        }
        let inputs = inputs.into_iter().map(|input| match input {
            ClientInput::Messages(messages) => Input::Messages(messages),
            ClientInput::Cancel => Input::Cancel,
        });
        self.take(inputs.collect(), |storage| match &idempotency {
            Some((key, body)) => store::remember_key(storage, key, body),
            None => Ok(()),
        })
        .map(Ok)
    }

    fn take_known(self: &Rc<Self>, inputs: Vec<Input>) -> Result<CallResult<()>> {
        match self.session.borrow().is_some() {
            true => {}
            false => return Ok(Err(Refusal::NotFound.into())),
        }
        self.take(inputs, |_| Ok(())).map(Ok)
    }

    /// Steps through inputs in one transaction, with what else is to be stored; then tells and does what follows.
    pub(super) fn take(
        self: &Rc<Self>,
        inputs: Vec<Input>,
        also: impl FnOnce(&Storage) -> Result<()>,
    ) -> Result<()> {
        let Some(mut session) = self.session() else {
            return Ok(());
        };
        let storage = self.state.storage();
        let mut seeds = Seeds {
            now: now(),
            random: &mut random,
            turn_deadline: LIMITS.turn_deadline.as_millis() as u64,
            cancel_deadline: LIMITS.cancel_deadline.as_millis() as u64,
        };
        let mut whole = Step::default();
        for input in inputs {
            whole.extend(session.step(input, &mut seeds));
        }
        let stored = transaction_sync(&storage, || {
            also(&storage)?;
            store::save(&storage, &session, &whole)
        })?;
        self.session.replace(Some(session));
        feed::broadcast(&self.state, &stored);
        self.follow_up()
    }

    /// Carries effects out, copies the session to the catalog, and sets the alarm: all from what is stored.
    fn follow_up(self: &Rc<Self>) -> Result<()> {
        self.dispatch()?;
        let (wake_at, version) = {
            let session = self.session.borrow();
            let Some(session) = session.as_ref() else {
                return Ok(());
            };
            (session.wake_at(), session.version)
        };
        if version > self.published.get() && !self.publishing.replace(true) {
            let core = self.clone();
            self.state.wait_until(async move {
                let _ = core.publish().await;
                core.publishing.set(false);
            });
        }
        let retry = !self.under_way.borrow().is_empty() || version > self.published.get();
        let wanted = wake_at
            .into_iter()
            .chain(retry.then(|| now() + RETRY_MS))
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
        Ok(())
    }

    async fn publish(&self) -> Result<()> {
        while let Some(session) = self
            .session()
            .filter(|session| session.version > self.published.get())
        {
            catalog::publish(&self.env, &session).await?;
            if self.session.borrow().is_some() {
                store::published(&self.state.storage(), session.version)?;
            }
            self.published.set(session.version);
        }
        Ok(())
    }

    async fn arm(&self, ms: u64) -> Result<()> {
        self.state
            .storage()
            .set_alarm(Duration::from_millis(ms))
            .await
    }

    fn items(
        &self,
        turn_id: Option<String>,
        query: &ListQuery,
    ) -> Result<CallResult<Box<RawValue>>> {
        match turn_id {
            None => self.page(List::Items, query),
            Some(turn) if store::turn(&self.state.storage(), &turn)?.is_none() => {
                Ok(Err(Refusal::NotFound.into()))
            }
            Some(turn) => self.page(List::ItemsOf(&turn), query),
        }
    }

    fn page(&self, list: List<'_>, query: &ListQuery) -> Result<CallResult<Box<RawValue>>> {
        if self.session.borrow().is_none() {
            return Ok(Err(Refusal::NotFound.into()));
        }
        let Some(rows) = store::list(
            &self.state.storage(),
            list,
            query,
            rows_to_read(query.limit),
        )?
        else {
            return Ok(Err(Refusal::Invalid.into()));
        };
        let page = Page::new(rows, query.limit, |row| &row.id);
        let data = page
            .data
            .into_iter()
            .map(|row| RawValue::from_string(row.json))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let page = Page {
            object: page.object,
            data,
            first_id: page.first_id,
            last_id: page.last_id,
            has_more: page.has_more,
        };
        Ok(Ok(serde_json::value::to_raw_value(&page)?))
    }

    fn turn(&self, id: &str) -> Result<CallResult<Box<RawValue>>> {
        match store::turn(&self.state.storage(), id)? {
            Some(row) => Ok(Ok(RawValue::from_string(row.json)?)),
            None => Ok(Err(Refusal::NotFound.into())),
        }
    }

    async fn delete(&self) -> Result<CallResult<()>> {
        let Some(session) = self.session() else {
            return Ok(Err(Refusal::NotFound.into()));
        };
        if !session.is_settled() {
            return Ok(Err(Refusal::Conflict.into()));
        }
        let name = session.identity.tenant.object_name(&session.public.id);
        let harness = calls::object(&self.env, Class::Harness, &name)?;
        let ended: CallResult<()> = calls::call(&harness, &HarnessCall::Destroy).await;
        if ended.is_err() {
            return Ok(ended);
        }
        // What came meanwhile is lost with the session only if nothing of it had begun.
        if self.session().is_some_and(|session| !session.is_settled()) {
            return Ok(Err(Refusal::Conflict.into()));
        }
        self.session.replace(None);
        feed::close(&self.state);
        self.state.storage().delete_alarm().await?;
        self.state.storage().delete_all().await?;
        Ok(Ok(()))
    }
}
