use serde::{Deserialize, Serialize};

/// Why an environment cannot be made. Its session can never run a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentFault {
    /// A set-up command did not end with code 0.
    SetupFailed {
        /// Which, from 0.
        command: u32,
        /// Its exit code; none if it was killed, or ran too long.
        exit_code: Option<i32>,
    },
    /// The sandbox's border was not as it must be: what was to be seen of its requests was not, or something got through.
    NotIsolated,
}

impl EnvironmentFault {
    /// Stable code for events, errors and logs.
    pub fn code(self) -> &'static str {
        match self {
            Self::SetupFailed { .. } => "environment_setup_failed",
            Self::NotIsolated => "environment_not_isolated",
        }
    }
}
