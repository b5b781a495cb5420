//! What end-to-end tests share: the runner, the scripted model, and a client that speaks plain HTTP.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
mod client;
mod docker;
mod forward;
mod process;
mod store;
mod upstream;

pub use client::{Client, Stream};
pub use docker::{cut_connections, docker, processes, shell, sidecar, Docker, Process};
pub use forward::Forward;
pub use process::{key, Gateway, Model};
pub use store::{flip, Object};
pub use upstream::Upstream;

use std::time::{Duration, Instant};

/// Polls until `probe` gives something.
pub fn wait_for<T>(what: &str, limit: Duration, mut probe: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + limit;
    loop {
        if let Some(value) = probe() {
            return value;
        }
        assert!(Instant::now() < end, "waited {limit:?} in vain for {what}");
        std::thread::sleep(Duration::from_millis(25));
    }
}

/// A script for the model: each value is one answer.
pub fn script(words: &str, steps: &[serde_json::Value]) -> String {
    let lines = steps.iter().map(|step| format!("\n@@{step}"));
    std::iter::once(words.to_owned()).chain(lines).collect()
}
