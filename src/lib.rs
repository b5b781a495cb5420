//! Cloister: an agent gateway that operators deploy to their own Cloudflare account.
//!
//! Everything but [`edge`] is pure: it compiles and is tested natively, and holds the rules. [`edge`] touches the
//! Workers runtime, exists for `wasm32` only, and exports what the runtime calls: the default entrypoint's `fetch`, the
//! Durable Objects `SessionDO`, `HarnessDO` and `SandboxDO`, and the functions behind the named entrypoints
//! `HarnessEgress` and `SandboxEgress` (see `entry.js`).
#![deny(unsafe_code, missing_docs)]

pub mod api_key;
pub mod checkpoint;
pub mod deployment;
pub mod environment;
pub mod model_request;
pub mod policy;
pub mod preset;
pub mod props;
pub mod seal;
pub mod secret;
pub mod tenant;
pub mod turn;
pub mod upstream_error;
pub mod vault;
pub mod wire;
pub mod workspace_path;

#[cfg(target_arch = "wasm32")]
pub mod edge;
