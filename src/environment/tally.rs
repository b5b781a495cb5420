use serde::{Deserialize, Serialize};

/// How often requests of a sandbox to one host and port met one verdict. There is nothing else in it: no path, query or body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The host that was asked for; empty if none could be read.
    pub host: String,
    /// The port; 0 if none could be read.
    pub port: u16,
    /// What was decided.
    pub verdict: Verdict,
    /// Code of the reason of a refusal; empty for what was allowed.
    pub reason: String,
    /// How often.
    pub count: u64,
    /// When first, Unix milliseconds.
    pub first_at: u64,
    /// When last, Unix milliseconds.
    pub last_at: u64,
}

/// What was decided of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was sent on.
    Allowed,
    /// It was refused.
    Denied,
    /// It was sent on, and ended because its sandbox's policy was replaced by one that refuses it.
    Ended,
}
