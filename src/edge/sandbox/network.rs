//! What the sandbox may reach: the policy in force, its epoch, and what is under way when it changes.
use super::audit;
use super::object::Sandbox;
use super::record::{Phase, ENV, POLICY, SETUP};
use crate::deployment;
use crate::edge::calls::{
    self, CallResult, EgressCall, NetworkCall, NetworkState, PolicyInForce, Refusal,
};
use crate::edge::platform::{egress_fetcher, now, random, transaction_sync, EgressClass};
use crate::edge::{container, log, record, settings};
use crate::environment::Configuration;
use crate::policy::EgressPolicy;
use crate::props::ContainerProps;
use crate::seal::{Sealed, Sealer};
use crate::secret::{Label, Secret};
use cloister_protocol::backup::BACKUP_HOST;
use serde::de::DeserializeOwned;
use worker::{Response, Result, WebSocketPair};

/// Tag of the sockets of requests that are under way.
const UNDER_WAY: &str = "under-way";
/// Most of them. The oldest gives way: it may have ended long ago, which nobody can tell of a WebSocket.
const MAX_UNDER_WAY: usize = 256;
/// What it is told then.
pub const TOO_MANY: &str = "too many";

impl Sandbox {
    pub(super) fn configure(&self, configuration: Configuration) -> Result<CallResult<()>> {
        let storage = self.state.storage();
        if record::load::<EgressPolicy>(&storage, POLICY)?.is_some() {
            return Ok(Err(Refusal::Conflict.into()));
        }
        let Configuration { policy, env, setup } = configuration;
        let env = self.seal(ENV, &serde_json::to_string(&env)?)?;
        let setup = self.seal(SETUP, &serde_json::to_string(&setup)?)?;
        transaction_sync(&storage, || {
            record::save(&storage, ENV, &env)?;
            record::save(&storage, SETUP, &setup)?;
            record::save(&storage, POLICY, &policy)
        })?;
        self.update(|record| record.network.updated_at = now())?;
        Ok(Ok(()))
    }

    fn sealer(&self) -> Result<Sealer> {
        let owner = container::object_name(&self.state)?;
        Ok(Sealer::new(&settings::root_key(&self.env)?, &owner))
    }

    fn seal(&self, place: &str, text: &str) -> Result<Sealed> {
        Ok(self.sealer()?.seal(place, &Secret::new(text), random()))
    }

    /// What was sealed in a row; the default if there is no such row.
    pub(super) fn unseal<T: DeserializeOwned + Default>(&self, place: &str) -> Result<T> {
        let Some(sealed) = record::load::<Sealed>(&self.state.storage(), place)? else {
            return Ok(T::default());
        };
        let text = self
            .sealer()?
            .open(place, &sealed)
            .map_err(|_| "what is sealed does not open with this CLOISTER_SECRET")?;
        Ok(serde_json::from_str(text.expose())?)
    }

    /// The tenant's policy. One that cannot be read denies all.
    fn chosen(&self) -> EgressPolicy {
        match record::load(&self.state.storage(), POLICY) {
            Ok(policy) => policy.unwrap_or_else(EgressPolicy::deny_all),
            Err(_) => {
                log::event("policy_unreadable", &[]);
                EgressPolicy::deny_all()
            }
        }
    }

    fn in_force(&self) -> EgressPolicy {
        let parse = |config| EgressPolicy::parse(&config).unwrap_or(EgressPolicy::deny_all());
        let operator = || parse(deployment::operator_policy());
        match self.record.borrow().network.phase {
            Phase::Closed => EgressPolicy::deny_all(),
            Phase::SetUp => parse(deployment::setup_policy()).narrow(&operator()),
            Phase::Open => self.chosen().narrow(&operator()),
        }
    }

    pub(super) async fn network(&self, call: NetworkCall) -> Result<Response> {
        match call {
            NetworkCall::Retrieve => calls::answer(Ok(self.network_state())),
            NetworkCall::Replace(policy) => calls::answer(self.replace(*policy).await?),
            NetworkCall::Audit => calls::answer(Ok(audit::list(&self.state.storage())?)),
        }
    }

    fn network_state(&self) -> NetworkState {
        let network = self.record.borrow().network;
        NetworkState {
            policy: self.chosen(),
            epoch: network.epoch,
            updated_at: network.updated_at,
        }
    }

    /// Stored with its epoch before it is put in force: whatever happens then, the older one is not in force again.
    async fn replace(&self, policy: EgressPolicy) -> Result<CallResult<NetworkState>> {
        let mut changed = self.record.borrow().clone();
        changed.network.epoch += 1;
        changed.network.updated_at = now();
        let storage = self.state.storage();
        transaction_sync(&storage, || {
            record::save(&storage, POLICY, &policy)?;
            record::save(&storage, super::record::STATE, &changed)
        })?;
        self.record.replace(changed);
        self.put_in_force().await?;
        Ok(Ok(self.network_state()))
    }

    /// Another policy is in force from now on. With `end`, everything that is under way ends; otherwise what the new one
    /// refuses does.
    pub(super) async fn enter(&self, phase: Phase, end: bool) -> Result<()> {
        self.update(|record| {
            record.network.epoch += 1;
            record.network.phase = phase;
            if end {
                record.network.floor = record.network.epoch;
            }
        })?;
        self.put_in_force().await
    }

    /// Gives the container's requests the newest identity, and tells those that are under way. A container that keeps an
    /// older identity would keep an older policy: it is destroyed.
    async fn put_in_force(&self) -> Result<()> {
        let container = self.container()?;
        if container.running() {
            if let Err(error) = self.identify_anew().await {
                container.destroy().await?;
                return Err(error);
            }
        }
        let network = self.record.borrow().network;
        let ended = network.floor == network.epoch;
        for socket in self.state.get_websockets_with_tag(UNDER_WAY) {
            let _ = match ended {
                true => socket.close(Some(1000), Some("ended")),
                false => socket.send_with_str(network.epoch.to_string()),
            };
        }
        Ok(())
    }

    /// As [`intercept`](Self::intercept), unless another task has just given them the newest identity: many that wait must not
    /// keep one another from going on.
    async fn identify_anew(&self) -> Result<()> {
        let _one = self.intercepting.lock().await;
        match self.identified.get() == Some(self.epochs()) {
            true => Ok(()),
            false => self.register().await,
        }
    }

    /// Requests to the store go to BackupGateway, all others to SandboxEgress, under this instance's identity and the newest
    /// epoch of its network. The first rule that fits decides: no policy of a tenant sees what goes to the store.
    pub(super) async fn intercept(&self) -> Result<()> {
        let _one = self.intercepting.lock().await;
        self.register().await
    }

    /// Epochs of the container and of its network.
    fn epochs(&self) -> (u64, u64) {
        let record = self.record.borrow();
        (record.epoch, record.network.epoch)
    }

    async fn register(&self) -> Result<()> {
        let container = self.container()?;
        let epochs = self.epochs();
        let (epoch, network) = epochs;
        // Half of it may be done if it fails.
        self.identified.set(None);
        let backup = self.identity(Label::Backup, EgressClass::Backup, epoch)?;
        container.intercept_http(BACKUP_HOST, &backup).await?;
        let egress = self.identity(Label::SandboxEgress, EgressClass::Sandbox, network)?;
        container.intercept_everything(&egress).await?;
        self.identified.set(Some(epochs));
        self.identified_at.set(now());
        Ok(())
    }

    fn identity(
        &self,
        label: Label,
        class: EgressClass,
        epoch: u64,
    ) -> Result<worker_sys::Fetcher> {
        let key = settings::root_key(&self.env)?;
        let name = container::object_name(&self.state)?;
        let expires_at = now() + container::PROPS_LIFETIME_MS;
        let props = ContainerProps::issue(&key, label, &name, epoch, expires_at);
        egress_fetcher(self.state.as_raw(), class, &props)
    }

    pub(super) fn egress(&self, call: EgressCall) -> Result<Response> {
        match call {
            EgressCall::Policy => {
                let network = self.record.borrow().network;
                calls::answer(Ok(PolicyInForce {
                    epoch: network.epoch,
                    floor: network.floor,
                    policy: self.in_force(),
                }))
            }
            EgressCall::Note(tallies) => {
                let tallies = tallies.into_iter().filter(|tally| !self.tests(tally));
                let storage = self.state.storage();
                let noted = transaction_sync(&storage, || {
                    tallies
                        .into_iter()
                        .try_for_each(|tally| audit::note(&storage, &tally))
                });
                calls::answer(noted.map(Ok)?)
            }
            EgressCall::Nonce { epoch, nonce } => {
                let newest = self.record.borrow().network.epoch;
                calls::answer(match epoch == newest && self.is_nonce(&nonce) {
                    true => Ok(()),
                    false => Err(Refusal::Stale.into()),
                })
            }
        }
    }

    /// A request that has been under way for a while wants to know of changes: it is told the newest epoch whenever that
    /// rises, at once if it has risen already, and nothing more when it must end.
    pub(super) fn watch(&self, epoch: Option<u64>) -> Result<Response> {
        let network = self.record.borrow().network;
        let Some(epoch) = epoch.filter(|epoch| *epoch >= network.floor) else {
            return Response::error(Refusal::Stale.code(), 409);
        };
        let pair = WebSocketPair::new()?;
        let others = self.state.get_websockets_with_tag(UNDER_WAY);
        // They come in the order in which they were accepted.
        let too_many = (others.len() + 1).saturating_sub(MAX_UNDER_WAY);
        for oldest in others.iter().take(too_many) {
            let _ = oldest.send_with_str(TOO_MANY);
            let _ = oldest.close(Some(1000), Some("too many"));
        }
        self.state
            .accept_websocket_with_tags(&pair.server, &[UNDER_WAY]);
        if epoch != network.epoch {
            pair.server.send_with_str(network.epoch.to_string())?;
        }
        Response::from_websocket(pair.client)
    }
}
