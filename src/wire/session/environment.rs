//! Where a session's commands run.
pub use crate::policy::Access as NetworkAccess;
use crate::policy::{EgressPolicy, PolicyConfig};
use serde::{Deserialize, Serialize};

/// Where commands run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    try_from = "StoredEnvironment"
)]
pub enum Environment {
    /// Nowhere.
    None,
    /// In a sandbox of this deployment. The name is the wire's.
    OpenaiHosted(Box<HostedEnvironment>),
}

/// A sandbox's configuration, without what is secret in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostedEnvironment {
    /// `env_…`.
    pub id: String,
    /// Directories the agent finds capabilities in.
    pub capability_directories: Vec<String>,
    /// Files put there.
    pub files: Vec<HostedPart>,
    /// What it may reach.
    pub network: Network,
    /// Packages installed.
    pub packages: Packages,
    /// Plugins installed.
    pub plugins: Vec<HostedPart>,
    /// Skills installed.
    pub skills: Vec<HostedPart>,
}

/// A file, plugin or skill. None is built yet, so there is no value of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostedPart {}

/// What a sandbox may reach, as far as a session shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The mode.
    pub access: NetworkAccess,
    /// The hosts, when it is restricted to some. Restricted without any is restricted to all but some, which are not shown.
    pub allowed_domains: Vec<String>,
}

impl From<&EgressPolicy> for Network {
    /// What is shown of a policy, in its canonical form: `restricted` to nothing is `disabled`.
    fn from(policy: &EgressPolicy) -> Network {
        let PolicyConfig {
            access,
            allowed_domains,
            blocked_domains: _,
            rules: _,
        } = policy.to_config();
        Network {
            access,
            allowed_domains,
        }
    }
}

/// Packages installed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packages {
    /// From npm.
    pub npm: Vec<String>,
    /// From PyPI.
    pub python: Vec<String>,
    /// From the distribution.
    pub system: Vec<String>,
}

/// [`Environment`] as it is read back.
#[derive(Deserialize)]
struct StoredEnvironment {
    id: Option<String>,
    #[serde(default)]
    capability_directories: Vec<String>,
    #[serde(default)]
    files: Vec<HostedPart>,
    network: Option<Network>,
    #[serde(default)]
    packages: Packages,
    #[serde(default)]
    plugins: Vec<HostedPart>,
    #[serde(default)]
    skills: Vec<HostedPart>,
}

impl TryFrom<StoredEnvironment> for Environment {
    type Error = &'static str;

    fn try_from(stored: StoredEnvironment) -> Result<Environment, &'static str> {
        let Some(id) = stored.id else {
            return Ok(Environment::None);
        };
        Ok(Environment::OpenaiHosted(Box::new(HostedEnvironment {
            id,
            capability_directories: stored.capability_directories,
            files: stored.files,
            network: stored.network.ok_or("network")?,
            packages: stored.packages,
            plugins: stored.plugins,
            skills: stored.skills,
        })))
    }
}
