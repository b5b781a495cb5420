use super::CallError;
use crate::checkpoint::{Ask, GrantError};
use cloister_protocol::backup::Announcement;
use serde::{Deserialize, Serialize};

/// What BackupGateway asks of the object whose container spends a grant.
#[derive(Serialize, Deserialize)]
pub enum GrantCall {
    /// Spends it: [`Allowed`](crate::checkpoint::Allowed).
    Take(Ask),
    /// The part is in the store: `Option<String>`, the grant for the next.
    Stored {
        /// The grant that was spent for it.
        grant: String,
    },
    /// Spends it for an announcement: [`Wanted`](cloister_protocol::backup::Wanted).
    Announce {
        /// The grant and who spends it.
        ask: Ask,
        /// What is announced.
        announcement: Announcement,
    },
}

/// Why a grant was not honoured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrantRefusal {
    /// The object could not be asked.
    Call(CallError),
    /// The grant does not allow it.
    Grant(GrantError),
    /// The announcement breaks its rules.
    Announcement,
}

impl From<CallError> for GrantRefusal {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<GrantError> for GrantRefusal {
    fn from(error: GrantError) -> Self {
        Self::Grant(error)
    }
}
