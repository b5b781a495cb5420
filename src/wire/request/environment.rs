//! The environment that a session is created with.
mod env;
mod exclude;
mod network;
mod setup;

pub use network::network_policy;

use crate::environment::{Confidential, SetupCommand};
use crate::policy::EgressPolicy;
use crate::wire::error::ApiError;
use crate::wire::fields::Fields;
use crate::wire::json::Value;
use std::collections::BTreeMap;

/// An environment's configuration.
///
/// Not built yet, and refused: `self_hosted`, and of `openai_hosted` all but `network`, `env`, `setup_commands` and our
/// extension `checkpoint`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentSpec {
    /// No commands.
    None,
    /// A sandbox of this deployment.
    Hosted {
        /// What it may reach, if the client said so; otherwise the deployment's setting decides.
        network: Option<EgressPolicy>,
        /// Variables for everything that runs there.
        env: BTreeMap<String, Confidential>,
        /// What makes it ready, in order.
        setup: Vec<SetupCommand>,
        /// Our extension: patterns of what below `/workspace` checkpoints leave out.
        exclude: Vec<String>,
    },
}

impl EnvironmentSpec {
    pub(super) fn read(value: Value, path: String) -> Result<EnvironmentSpec, ApiError> {
        let mut fields = Fields::of(value, path)?;
        let read: fn(&mut Fields) -> Result<EnvironmentSpec, ApiError> = fields.required_one_of(
            "type",
            &[
                (
                    "none",
                    none as fn(&mut Fields) -> Result<EnvironmentSpec, ApiError>,
                ),
                ("openai_hosted", hosted),
                ("self_hosted", self_hosted),
            ],
        )?;
        let spec = read(&mut fields)?;
        fields.finish()?;
        Ok(spec)
    }
}

fn none(_: &mut Fields) -> Result<EnvironmentSpec, ApiError> {
    Ok(EnvironmentSpec::None)
}

fn self_hosted(fields: &mut Fields) -> Result<EnvironmentSpec, ApiError> {
    Err(ApiError::unsupported_value(
        &fields.path_of("type"),
        "self_hosted",
    ))
}

fn hosted(fields: &mut Fields) -> Result<EnvironmentSpec, ApiError> {
    fields.unsupported(&[
        "environment_id",
        "environment_template_id",
        "container_size",
        "packages",
        "files",
        "skills",
        "plugins",
        "capability_directories",
        "desktop",
    ])?;
    let network = fields.object("network")?.map(network::read).transpose()?;
    let env = env::take(fields)?;
    let setup = setup::take(fields)?;
    let exclude = match fields.object("checkpoint")? {
        Some(checkpoint) => exclude::read(checkpoint)?,
        None => Vec::new(),
    };
    Ok(EnvironmentSpec::Hosted {
        network,
        env,
        setup,
        exclude,
    })
}
