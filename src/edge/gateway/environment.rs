//! The environment of a new session.
use crate::edge::calls::{self, CallResult, Class, SandboxCall};
use crate::edge::platform::random;
use crate::edge::settings;
use crate::environment::Configuration;
use crate::tenant::TenantHash;
use crate::wire::id::Kind;
use crate::wire::request::EnvironmentSpec;
use crate::wire::session::{Environment, HostedEnvironment, Network, Packages};
use worker::{Env, Result, Stub};

/// An environment that is to be made: what is known of it before its sandboxes.
pub struct NewEnvironment {
    /// `env_…`.
    pub id: String,
    /// Patterns of what of its workspace checkpoints leave out.
    pub exclude: Vec<String>,
    configuration: Configuration,
}

impl NewEnvironment {
    /// What a client asked for, if it is an environment. Without the deployment's settings for the network there is none.
    pub fn of(spec: EnvironmentSpec, env: &Env) -> Result<Option<Self>> {
        let EnvironmentSpec::Hosted {
            network,
            env: variables,
            setup,
            exclude,
        } = spec
        else {
            return Ok(None);
        };
        let default = settings::network_default(env)?;
        settings::own_hosts(env)?;
        Ok(Some(Self {
            id: Kind::Environment.id(random()),
            exclude,
            configuration: Configuration {
                policy: network.unwrap_or(default),
                env: variables,
                setup,
            },
        }))
    }

    /// As the session shows it: without variables, commands, and what is blocked.
    pub fn shown(&self) -> Environment {
        Environment::OpenaiHosted(Box::new(HostedEnvironment {
            id: self.id.clone(),
            capability_directories: Vec::new(),
            files: Vec::new(),
            network: Network::from(&self.configuration.policy),
            packages: Packages::default(),
            plugins: Vec::new(),
            skills: Vec::new(),
        }))
    }

    /// The object of its sandboxes.
    pub fn object(&self, env: &Env, tenant: &TenantHash) -> Result<Stub> {
        calls::object(env, Class::Sandbox, &tenant.object_name(&self.id))
    }

    /// Says how its sandboxes are made.
    pub async fn configure(self, object: &Stub) -> CallResult<()> {
        let configuration = Box::new(self.configuration);
        calls::call(object, &SandboxCall::Configure(configuration)).await
    }
}
