//! The Agents API on the wire: what is accepted, what is answered, and how the two are written.
//!
//! Everything here is pure. The edge hands in raw paths, raw queries and whole (bounded) bodies and gets types or an
//! [`ApiError`](error::ApiError) that already has its status, body and headers:
//!
//! ```
//! use cloister::wire::{json, request::SessionCreate, route::{self, Route}};
//!
//! let route = route::find("POST", "/v1/agents/sessions").unwrap();
//! assert_eq!(route, Route::SessionCreate);
//! let body = json::parse_body(br#"{"agent":{"model":"m"},"environment":{"type":"openai_hosted"},"inptu":"hi"}"#).unwrap();
//! let error = SessionCreate::read(body).unwrap_err();
//! assert_eq!((error.status, error.message.as_str()), (400, "Unknown parameter: 'inptu'."));
//! ```
//!
//! * A field that the API does not know is `Unknown parameter`; one that it knows and this deployment does not build yet is
//!   named in a 400 that says so. Nothing is ignored in a body, everything unknown is ignored in a query.
//! * The route is found in the raw path. No header takes part in it.
//! * Ids that cannot be ours get the same 404 as ids that are nobody's.
//! * Types in [`session`], [`turn`] and [`subagent`] are stored as they are sent, so they read what they wrote. Items and
//!   events are stored as text and never read.

pub mod agent;
pub mod artifact;
pub mod attachment;
pub mod deleted;
pub mod error;
pub mod event;
pub mod fields;
pub mod id;
pub mod item;
pub mod json;
pub mod network;
pub mod page;
pub mod query;
pub mod range;
pub mod request;
pub mod route;
pub mod session;
pub mod sse;
pub mod subagent;
pub mod turn;
pub mod vault;

#[cfg(test)]
mod tests;

/// Largest request body, in bytes. The largest text of a single input part is 1,048,576 characters; four of the widest fit.
/// The Worker holds a body whole to judge it, so the cap also bounds what one request can take of an isolate's memory.
pub const MAX_BODY: usize = 4 << 20;

/// Longest `input_text`, in characters.
pub const MAX_TEXT: usize = 1_048_576;

/// Longest `input`, `content` and `events` array.
pub const MAX_LIST: usize = 16_384;

/// Longest `Idempotency-Key`, in characters.
pub const MAX_IDEMPOTENCY_KEY: usize = 256;
