//! The edge: what touches the Workers runtime. It translates and calls; the rules are in the pure modules.
pub(crate) mod api_keys;
mod backup;
mod calls;
mod container;
mod gateway;
mod grants;
mod harness;
mod harness_egress;
mod log;
mod platform;
mod record;
mod sandbox;
mod sandbox_egress;
mod session;
mod settings;
mod store;

/// Why a caller was not let in.
#[derive(Debug)]
pub enum AuthError {
    /// The request carries no credential of a kind that is taken here.
    Missing,
    /// The credential is not known, or no longer.
    Unknown,
    /// It could not be checked.
    Broken(worker::Error),
}

impl From<worker::Error> for AuthError {
    fn from(error: worker::Error) -> Self {
        Self::Broken(error)
    }
}
