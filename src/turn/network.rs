//! What a session shows of its sandbox's network.
use super::state::Session;
use crate::wire::session::{Environment, Network};

impl Session {
    /// Its sandbox has another policy, at `now` in Unix seconds: what the API and the catalog show of it follows. No event says
    /// so. A session without an environment shows none.
    pub fn set_network(&mut self, network: Network, now: u64) {
        let Environment::OpenaiHosted(environment) = &mut self.public.environment else {
            return;
        };
        environment.network = network;
        self.core.last_active_at = now;
        self.public.last_active_at = now;
        self.version += 1;
        self.public_changed = true;
    }
}
