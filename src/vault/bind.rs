//! Which variables of its vaults a session's sandbox gets.
use super::{Networking, Placeholder, Variable};
use crate::policy::{EgressPolicy, Mode};
use crate::wire::error::echo;
use std::collections::BTreeSet;
use std::fmt;

/// A variable of one session: its credential with the placeholder that the sandbox sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The credential's id.
    pub credential: String,
    /// The variable. Its value is as it was when the session was created.
    pub variable: Variable,
    /// What the sandbox sees.
    pub placeholder: Placeholder,
}

/// Why a session cannot have the variables of its vaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// Two credentials are for the same variable.
    Twice(String),
    /// `env` has the variable already.
    InEnv(String),
    /// The network is disabled, and the secret could never be used.
    NoNetwork(String),
    /// The credential's networking is `unrestricted`, and the network lists no hosts.
    NothingListed(String),
}

/// Gives each variable its placeholder, or tells why that is a mistake. `env` has the names of the session's own variables.
pub fn bind<'a>(
    variables: impl IntoIterator<Item = (&'a str, &'a Variable)>,
    env: &BTreeSet<&str>,
    policy: &EgressPolicy,
    mut random: impl FnMut() -> [u8; 16],
) -> Result<Vec<Bound>, BindError> {
    let mut bound: Vec<Bound> = Vec::new();
    for (credential, variable) in variables {
        let name = variable.name.as_str();
        if bound.iter().any(|other| other.variable.name == name) {
            return Err(BindError::Twice(name.to_owned()));
        }
        if env.contains(name) {
            return Err(BindError::InEnv(name.to_owned()));
        }
        check_network(variable, policy)?;
        bound.push(Bound {
            credential: credential.to_owned(),
            variable: variable.clone(),
            placeholder: Placeholder::new(random()),
        });
    }
    Ok(bound)
}

fn check_network(variable: &Variable, policy: &EgressPolicy) -> Result<(), BindError> {
    let (mut denied, mut listed) = (false, false);
    for layer in policy.layers() {
        match layer.as_ref() {
            Mode::DenyAll => denied = true,
            Mode::AllowOnly(_) => listed = true,
            Mode::AllExcept(_) | Mode::Public => {}
        }
    }
    let name = || variable.name.clone();
    if denied {
        return Err(BindError::NoNetwork(name()));
    }
    match variable.networking {
        Networking::Unrestricted if !listed => Err(BindError::NothingListed(name())),
        Networking::Unrestricted | Networking::Limited { .. } => Ok(()),
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(name) => write!(
                f,
                "multiple attached vault credentials have secret_name '{}'",
                echo(name)
            ),
            Self::InEnv(name) => write!(
                f,
                "'{}' is in 'env' and is the secret_name of an attached vault credential",
                echo(name)
            ),
            Self::NoNetwork(name) => write!(
                f,
                "the vault credential with secret_name '{}' requires a network that is not disabled",
                echo(name)
            ),
            Self::NothingListed(name) => write!(
                f,
                "the vault credential with secret_name '{}' has unrestricted networking, which requires a restricted \
                 network with allowed_domains",
                echo(name)
            ),
        }
    }
}

impl std::error::Error for BindError {}
