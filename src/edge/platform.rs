//! What workers-rs does not wrap, and the two things pure code must be given: time and randomness.
#[cfg(feature = "test-faults")]
mod abort;
mod address;
mod body;
mod clock;
mod container;
mod exec;
mod exports;
mod inbox;
mod outgoing;
mod pipe;
mod random;
mod recent;
pub mod request;
mod transaction;

#[cfg(feature = "test-faults")]
pub use abort::abort;
pub use address::Address;
pub use body::read_at_most;
pub use clock::now;
pub use container::{Container, StartOptions};
pub use exec::{Exec, Executed, Killed};
pub use exports::{egress_fetcher, EgressClass};
pub use inbox::{Frame, Inbox};
pub use outgoing::{fetch, End, Outgoing};
pub use pipe::Pipe;
pub use random::random;
pub use recent::Recent;
pub use transaction::transaction_sync;

use wasm_bindgen::{JsCast, JsValue};
use worker::Error;

/// A JavaScript exception as an error, by its message alone.
pub fn js_error(value: JsValue) -> Error {
    let text = value
        .dyn_ref::<js_sys::Error>()
        .map(|e| String::from(e.message()));
    Error::RustError(text.unwrap_or_else(|| format!("{value:?}")))
}

/// A plain JavaScript object. The default serialiser would make a `Map` of a map, which the runtime reads as empty.
pub fn to_js<T: serde::Serialize>(value: &T) -> worker::Result<JsValue> {
    value
        .serialize(&serde_wasm_bindgen::Serializer::json_compatible())
        .map_err(|e| Error::RustError(e.to_string()))
}
