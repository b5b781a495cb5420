//! The environment that a session is created with.
use super::MAX_LIST;
use crate::wire::{error::ApiError, fields::Fields, json::Value, session::NetworkAccess};

/// An environment's configuration.
///
/// Not built yet, and refused: `self_hosted`, and of `openai_hosted` all but `network` with access `disabled`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentSpec {
    /// No commands.
    None,
    /// A sandbox of this deployment.
    Hosted {
        /// What it may reach, if the client said so; otherwise the deployment's setting decides.
        network: Option<NetworkAccess>,
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
        "env",
        "files",
        "setup_commands",
        "skills",
        "plugins",
        "capability_directories",
        "desktop",
    ])?;
    let network = fields.object("network")?.map(network).transpose()?;
    Ok(EnvironmentSpec::Hosted { network })
}

fn network(mut fields: Fields) -> Result<NetworkAccess, ApiError> {
    let modes = [
        ("enabled", NetworkAccess::Enabled),
        ("disabled", NetworkAccess::Disabled),
        ("restricted", NetworkAccess::Restricted),
    ];
    let access = fields.required_one_of("access", &modes)?;
    let name = match access {
        NetworkAccess::Disabled => None,
        NetworkAccess::Enabled => Some("enabled"),
        NetworkAccess::Restricted => Some("restricted"),
    };
    if let Some(name) = name {
        return Err(ApiError::unsupported_value(&fields.path_of("access"), name));
    }
    for list in ["allowed_domains", "blocked_domains"] {
        match fields.array(list, MAX_LIST)? {
            Some(hosts) if !hosts.is_empty() => {
                let text = format!(
                    "'{}' must be empty when access is 'disabled'.",
                    fields.path_of(list)
                );
                return Err(ApiError::invalid(text).at(&fields.path_of(list)));
            }
            Some(_) | None => {}
        }
    }
    fields.finish()?;
    Ok(access)
}
