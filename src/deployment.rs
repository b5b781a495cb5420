//! The operator's code: who may call, which presets there are, what sandboxes may reach, and the limits of containers.
//!
//! Everything an operator would change to make this deployment their own is in this file.
use crate::policy::{Access, PolicyConfig};
use crate::preset::Preset;
use std::time::Duration;

/// Presets that clients may name in `agent.model`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "codex",
    base_url: "MODEL_BASE_URL",
    model: "MODEL_NAME",
    credential: "MODEL_API_KEY",
    service_tiers: &["auto", "default", "flex"],
}];

/// Limits of this deployment.
pub const LIMITS: Limits = Limits {
    idle_timeout: if cfg!(feature = "test-faults") {
        Duration::from_secs(12)
    } else {
        Duration::from_secs(15 * 60)
    },
    turn_deadline: Duration::from_secs(60 * 60),
    cancel_deadline: Duration::from_secs(20),
    save_deadline: if cfg!(feature = "test-faults") {
        Duration::from_secs(45)
    } else {
        Duration::from_secs(10 * 60)
    },
    setup_deadline: if cfg!(feature = "test-faults") {
        Duration::from_secs(30)
    } else {
        Duration::from_secs(10 * 60)
    },
    exec_deadline: Duration::from_secs(10 * 60),
    exec_output: 1 << 20,
    file_size: 1 << 30,
    processes: 512,
    disk: 8 << 30,
    files: 1_000_000,
};

/// Where a new sandbox tries to connect past its border, which must fail: an address and a port that would answer a query of
/// the DNS over TCP if there were no border.
pub const SELF_TEST_ADDRESS: &str = "1.1.1.1:53";

/// What a session and its containers may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Both containers end when a session has been idle this long.
    pub idle_timeout: Duration,
    /// A turn that runs longer fails with `request_timeout`.
    pub turn_deadline: Duration,
    /// A cancelled turn whose harness does not stop in this time ends with its containers.
    pub cancel_deadline: Duration,
    /// A checkpoint that takes longer to store or to restore is given up, and its turn fails.
    pub save_deadline: Duration,
    /// Set-up commands that take longer together are stopped, and their environment fails.
    pub setup_deadline: Duration,
    /// Longest run of one command of the sandbox interface.
    pub exec_deadline: Duration,
    /// Largest output of one command of the sandbox interface, bytes.
    pub exec_output: usize,
    /// Largest file in the sandbox, bytes.
    pub file_size: u64,
    /// Most processes in the sandbox.
    pub processes: u32,
    /// Most bytes in the sandbox's workspace and temporary files.
    pub disk: u64,
    /// Most files, folders and links in a workspace that is kept.
    pub files: u64,
}

/// The preset of that name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// Narrows every tenant's policy: a request of a sandbox must be allowed by both. As it is here, it narrows nothing.
pub fn operator_policy() -> PolicyConfig {
    PolicyConfig::new(Access::Enabled)
}

/// What set-up commands may reach, whatever the tenant's policy says: as it is here, public hosts by HTTP and HTTPS. They run
/// before anything of the session is in the sandbox.
pub fn setup_policy() -> PolicyConfig {
    PolicyConfig::new(Access::Enabled)
}

#[cfg(target_arch = "wasm32")]
pub use edge::authenticate;

#[cfg(target_arch = "wasm32")]
mod edge {
    use crate::api_key;
    use crate::edge::{api_keys, AuthError};
    use crate::tenant::Principal;
    use worker::{Env, Headers};

    /// Decides who is calling, by the request's headers alone.
    ///
    /// Here: `Authorization: Bearer <key>`, looked up by the key's SHA-256 in D1. There is no default tenant: what is not
    /// a known key is refused.
    pub async fn authenticate(headers: &Headers, env: &Env) -> Result<Principal, AuthError> {
        let header = headers
            .get("authorization")
            .ok()
            .flatten()
            .ok_or(AuthError::Missing)?;
        let (scheme, key) = header.split_once(' ').ok_or(AuthError::Missing)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(AuthError::Missing);
        }
        let hash = api_key::hash(key).ok_or(AuthError::Unknown)?;
        let tenant = api_keys::tenant_of(&hash, env)
            .await?
            .ok_or(AuthError::Unknown)?;
        Ok(Principal { tenant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::EgressPolicy;

    #[test]
    fn the_operator_s_policies_are_good_ones() {
        for policy in [operator_policy(), setup_policy()] {
            assert!(EgressPolicy::parse(&policy).is_ok(), "{policy:?}");
        }
    }
}
