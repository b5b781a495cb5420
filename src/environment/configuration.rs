use crate::policy::EgressPolicy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How an environment's sandboxes are made. Set once, before the first of them is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// What they may reach, as the tenant chose.
    pub policy: EgressPolicy,
    /// Variables for everything that runs there.
    pub env: BTreeMap<String, Confidential>,
    /// What is run, in order, before anything of the session is there.
    pub setup: Vec<SetupCommand>,
}

/// A command of the tenant that makes a sandbox ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupCommand {
    /// A line for the shell.
    pub command: Confidential,
    /// Absolute path of the folder it starts in.
    pub cwd: String,
}

/// A tenant's text that is never shown again: not in an answer, an error or a log. It is written in full only where it is
/// stored and where it is used.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Confidential(pub String);

impl fmt::Debug for Confidential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Confidential(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_confidential_is_stored_and_not_printed() {
        let secret = || Confidential("canary".to_owned());
        let configuration = Configuration {
            policy: EgressPolicy::deny_all(),
            env: BTreeMap::from([("TOKEN".to_owned(), secret())]),
            setup: vec![SetupCommand {
                command: secret(),
                cwd: "/workspace".to_owned(),
            }],
        };
        for printed in [format!("{configuration:?}"), format!("{configuration:#?}")] {
            assert!(!printed.contains("canary"), "{printed}");
        }
        let stored = serde_json::to_string(&configuration).unwrap_or_default();
        assert_eq!(stored.matches("\"canary\"").count(), 2, "{stored}");
        assert_eq!(serde_json::from_str(&stored).ok(), Some(configuration));
    }
}
