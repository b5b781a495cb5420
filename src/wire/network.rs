//! A session's egress policy and what was decided by it: extensions to the API.
use crate::environment::{Tally, Verdict};
use crate::policy::{Access, EgressPolicy, PolicyConfig, RuleConfig};
use crate::wire::page::Page;
use serde::Serialize;

/// The policy of a session's environment, in its canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionNetwork {
    /// Always `agent.session.network`.
    pub object: &'static str,
    /// The session.
    pub session_id: String,
    /// Its environment.
    pub environment_id: String,
    /// Rises whenever the policy is replaced, or a sandbox begins or ends its set-up.
    pub epoch: u64,
    /// How much is reachable.
    pub access: Access,
    /// Only these, if there are any.
    pub allowed_domains: Vec<String>,
    /// All but these and what is below them, if there are any.
    pub blocked_domains: Vec<String>,
    /// How hosts of `allowed_domains` may be used.
    pub rules: Vec<RuleConfig>,
    /// All of this in a sentence.
    pub description: String,
    /// When it was set, Unix seconds.
    pub updated_at: u64,
}

impl SessionNetwork {
    /// Of a policy. `updated_at` is in Unix milliseconds.
    pub fn new(
        session_id: String,
        environment_id: String,
        policy: &EgressPolicy,
        epoch: u64,
        updated_at: u64,
    ) -> SessionNetwork {
        let PolicyConfig {
            access,
            allowed_domains,
            blocked_domains,
            rules,
        } = policy.to_config();
        SessionNetwork {
            object: "agent.session.network",
            session_id,
            environment_id,
            epoch,
            access,
            allowed_domains,
            blocked_domains,
            rules,
            description: policy.describe(),
            updated_at: updated_at / 1000,
        }
    }
}

/// How often requests to one host and port met one verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NetworkDecision {
    /// Always `agent.session.network.decision`.
    pub object: &'static str,
    /// The host that was asked for; empty if none could be read.
    pub host: String,
    /// The port; 0 if none could be read.
    pub port: u16,
    /// What was decided.
    pub verdict: Verdict,
    /// Code of the reason of a refusal.
    pub reason: Option<String>,
    /// How often.
    pub count: u64,
    /// When first, Unix seconds.
    pub first_at: u64,
    /// When last, Unix seconds.
    pub last_at: u64,
}

impl From<Tally> for NetworkDecision {
    fn from(tally: Tally) -> NetworkDecision {
        NetworkDecision {
            object: "agent.session.network.decision",
            host: tally.host,
            port: tally.port,
            verdict: tally.verdict,
            reason: Some(tally.reason).filter(|reason| !reason.is_empty()),
            count: tally.count,
            first_at: tally.first_at / 1000,
            last_at: tally.last_at / 1000,
        }
    }
}

/// The list of what was decided. Decisions have no ids, and all of them are on one page.
pub fn audit(tallies: Vec<Tally>) -> Page<NetworkDecision> {
    Page::whole(tallies.into_iter().map(NetworkDecision::from).collect())
}

#[cfg(test)]
mod tests;
