//! Which credential an MCP server of service origin gets.
use super::SecureUrl;
use crate::wire::error::echo;
use std::fmt;

/// A credential for MCP servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its id.
    pub credential: String,
    /// The server that it is for.
    pub server: SecureUrl,
}

/// The vaults of a session, as far as MCP goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    vaults: usize,
    candidates: Vec<Candidate>,
}

/// Why no credential is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceError {
    /// 404: a vault that is not the tenant's. It holds the vault's id.
    NoVault(String),
    /// 400: a credential is named, and no vault.
    NoVaults,
    /// 400: the credential is in none of the vaults, or is none for MCP servers. It holds the credential's id.
    NotAttached(String),
    /// 400: the credential is for another server.
    OtherServer {
        /// The credential's id.
        credential: String,
        /// The server that it was to be for.
        server: String,
    },
    /// 409: several fit. It holds the server.
    Several(String),
}

impl Attached {
    /// Looks each vault up: what it has for MCP servers, or `None` if the tenant has no such vault. One that is named twice
    /// is attached once.
    pub fn new(
        vaults: &[String],
        mut look_up: impl FnMut(&str) -> Option<Vec<Candidate>>,
    ) -> Result<Self, ChoiceError> {
        let mut attached = Self {
            vaults: vaults.len(),
            candidates: Vec::new(),
        };
        for (at, vault) in vaults.iter().enumerate() {
            if vaults[..at].contains(vault) {
                continue;
            }
            let found = look_up(vault).ok_or_else(|| ChoiceError::NoVault(vault.clone()))?;
            attached.candidates.extend(found);
        }
        Ok(attached)
    }
}

/// Chooses: the credential that is named, or else the only one for that server, or else none.
pub fn choose<'a>(
    attached: &'a Attached,
    server: &SecureUrl,
    named: Option<&str>,
) -> Result<Option<&'a str>, ChoiceError> {
    let Some(named) = named else {
        let mut fitting = attached
            .candidates
            .iter()
            .filter(|candidate| candidate.server.is_same(server));
        return match (fitting.next(), fitting.next()) {
            (Some(_), Some(_)) => Err(ChoiceError::Several(server.as_str().to_owned())),
            (one, _) => Ok(one.map(|candidate| candidate.credential.as_str())),
        };
    };
    if attached.vaults == 0 {
        return Err(ChoiceError::NoVaults);
    }
    let candidate = attached
        .candidates
        .iter()
        .find(|candidate| candidate.credential == named)
        .ok_or_else(|| ChoiceError::NotAttached(named.to_owned()))?;
    if !candidate.server.is_same(server) {
        return Err(ChoiceError::OtherServer {
            credential: named.to_owned(),
            server: server.as_str().to_owned(),
        });
    }
    Ok(Some(&candidate.credential))
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVault(id) => write!(f, "No managed agent resource found: {}", echo(id)),
            Self::NoVaults => f.write_str("MCP credential_id requires an attached vault"),
            Self::NotAttached(id) => write!(
                f,
                "MCP credential_id `{}` was not found in an attached vault",
                echo(id)
            ),
            Self::OtherServer { credential, server } => write!(
                f,
                "MCP credential_id `{}` does not match server_url `{server}`",
                echo(credential)
            ),
            Self::Several(server) => write!(
                f,
                "multiple attached vault credentials match MCP server_url `{server}`; specify credential_id"
            ),
        }
    }
}

impl std::error::Error for ChoiceError {}

#[cfg(test)]
mod tests;
