use crate::environment::Tally;
use crate::policy::EgressPolicy;
use serde::{Deserialize, Serialize};

/// What the Gateway asks of a sandbox's network.
#[derive(Serialize, Deserialize)]
pub enum NetworkCall {
    /// The policy: [`NetworkState`].
    Retrieve,
    /// Replaces the policy: [`NetworkState`]. What is under way and the new one refuses is ended.
    Replace(Box<EgressPolicy>),
    /// What was decided so far, newest first: `Vec<Tally>`.
    Audit,
}

/// The policy that a tenant chose, and since when.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NetworkState {
    /// The policy, without what the operator's narrows.
    pub policy: EgressPolicy,
    /// Rises whenever the policy is replaced, or a sandbox begins or ends its set-up.
    pub epoch: u64,
    /// When it was set, Unix milliseconds.
    pub updated_at: u64,
}

/// What a sandbox may reach.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PolicyInForce {
    /// The newest epoch of its network.
    pub epoch: u64,
    /// The oldest epoch whose requests are judged by it; what comes under an older one is of another container or of set-up.
    pub floor: u64,
    /// The policy, the operator's included.
    pub policy: EgressPolicy,
}

/// What SandboxEgress asks of the object of the sandbox that is speaking.
#[derive(Serialize, Deserialize)]
pub enum EgressCall {
    /// What the sandbox may reach now: [`PolicyInForce`].
    Policy,
    /// Notes what was decided: `()`.
    Note(Vec<Tally>),
    /// The sandbox spoke the nonce of its self-test: `()`.
    Nonce {
        /// The epoch.
        epoch: u64,
        /// What it said.
        nonce: String,
    },
}
