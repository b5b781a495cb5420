//! One sandbox: its container, exec link, processes, files, workspace and network.
mod audit;
mod files;
mod network;
mod object;
mod record;
mod self_test;
mod setup;
mod workspace;

pub use network::TOO_MANY;
