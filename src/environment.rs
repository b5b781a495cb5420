//! Environments: how a sandbox is made ready for its session, and why that may fail.
mod configuration;
mod fault;
pub mod setting;
mod tally;
pub mod variable;

pub use configuration::{Confidential, Configuration, SetupCommand};
pub use fault::EnvironmentFault;
pub use tally::{Tally, Verdict};
