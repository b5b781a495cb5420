//! What the session shows of its sandbox's network. SandboxDO is the authority.
use super::object::Core;
use super::store;
use crate::edge::calls::{CallResult, Refusal};
use crate::edge::platform::{now, transaction_sync};
use crate::turn::Step;
use crate::wire::session::Network;
use std::rc::Rc;
use worker::Result;

impl Core {
    /// Shows the policy of `epoch`, unless that of a later one was shown already: two replacements at once may arrive here in
    /// another order than at the sandbox.
    pub(super) fn set_network(
        self: &Rc<Self>,
        network: Network,
        epoch: u64,
    ) -> Result<CallResult<()>> {
        let storage = self.state.storage();
        let stored = {
            let mut session = self.session.borrow_mut();
            let Some(session) = session.as_mut() else {
                return Ok(Err(Refusal::NotFound.into()));
            };
            if epoch < self.network_epoch.get() {
                return Ok(Ok(()));
            }
            session.set_network(network, now() / 1000);
            transaction_sync(&storage, || {
                store::save(&storage, session, &Step::default())
            })
        };
        if let Err(error) = stored {
            self.load();
            return Err(error);
        }
        self.network_epoch.set(epoch);
        self.follow_up();
        Ok(Ok(()))
    }
}
