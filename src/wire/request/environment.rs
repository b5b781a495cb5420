//! The environment that a session is created with.
use super::MAX_LIST;
use crate::wire::error::ApiError;
use crate::wire::fields::{self, Fields};
use crate::wire::json::Value;
use crate::wire::session::NetworkAccess;

/// An environment's configuration.
///
/// Not built yet, and refused: `self_hosted`, and of `openai_hosted` all but `network` with access `disabled`, and our
/// extension `checkpoint`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentSpec {
    /// No commands.
    None,
    /// A sandbox of this deployment.
    Hosted {
        /// What it may reach, if the client said so; otherwise the deployment's setting decides.
        network: Option<NetworkAccess>,
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
        "env",
        "files",
        "setup_commands",
        "skills",
        "plugins",
        "capability_directories",
        "desktop",
    ])?;
    let network = fields.object("network")?.map(network).transpose()?;
    let exclude = match fields.object("checkpoint")? {
        Some(checkpoint) => excluded(checkpoint)?,
        None => Vec::new(),
    };
    Ok(EnvironmentSpec::Hosted { network, exclude })
}

/// Most patterns of what a checkpoint leaves out.
const MAX_PATTERNS: usize = 64;
/// Longest such pattern, bytes.
const MAX_PATTERN: usize = 256;

fn excluded(mut checkpoint: Fields) -> Result<Vec<String>, ApiError> {
    checkpoint.not_null("exclude", "an array")?;
    let patterns = checkpoint.array("exclude", MAX_PATTERNS)?;
    checkpoint.finish()?;
    let pattern = |(value, path): (Value, String)| {
        let text = fields::string(value, &path, 1, MAX_PATTERN)?;
        if text.len() > MAX_PATTERN {
            return Err(ApiError::too_many_bytes(&path, MAX_PATTERN, text.len()));
        }
        match flaw(&text) {
            Some(flaw) => Err(ApiError::invalid(format!("Invalid '{path}': {flaw}.")).at(&path)),
            None => Ok(text),
        }
    };
    patterns
        .unwrap_or_default()
        .into_iter()
        .map(pattern)
        .collect()
}

/// What is wrong with a pattern: a path below `/workspace`, in whose segments `*` and `?` stand for characters and which as
/// segments `**` may stand for any number of.
fn flaw(pattern: &str) -> Option<&'static str> {
    if pattern.starts_with('/') {
        return Some("a pattern is relative to /workspace");
    }
    if pattern
        .chars()
        .any(|c| c.is_control() || r"\[]{}!".contains(c))
    {
        return Some("a pattern has no control character and none of \\ [ ] { } !");
    }
    for segment in pattern.split('/') {
        match segment {
            "" | "." | ".." => return Some("no segment of a pattern is empty, '.' or '..'"),
            "**" => {}
            segment if segment.contains("**") => {
                return Some("'**' is a segment of its own");
            }
            _ => {}
        }
    }
    None
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
