//! Rewrites the body of a model request that comes out of a harness container.
//!
//! The harness may be forged by what it runs, so its request is hostile input that is about to be sent with the
//! operator's credential. [`Filter`] reads it once, as a stream, in memory that grows with nesting only, and writes a
//! request in which every member was judged:
//!
//! ```
//! use cloister::model_request::{Filter, Forced};
//!
//! let mut filter = Filter::new(&Forced { model: "big-model", prompt_cache_key: "k1", service_tier: None });
//! let mut out = Vec::new();
//! filter.push(br#"{"model":"mine","input":[],"service_"#, &mut out).unwrap();
//! filter.push(br#"tier":"fast"}"#, &mut out).unwrap();
//! filter.finish().unwrap();
//! assert_eq!(
//!     String::from_utf8(out).unwrap(),
//!     r#"{"model":"big-model","store":false,"prompt_cache_key":"k1","stream":true,"input":[]}"#
//! );
//! ```
//!
//! **The output is a request only after [`Filter::finish`] returned `Ok`.** When `push` or `finish` refuses, what was
//! written so far is a truncated document: the caller must abort the upstream body, so that it never becomes valid.
//!
//! What is judged is what is forwarded. Bytes are checked against RFC 8259 (and UTF-8, and paired surrogates) one by one;
//! member names and compared values are decoded first, so `"\u0074ype"` is `"type"`; where rules apply, a member may
//! occur once and must be in the table. Forwarded values are then copied verbatim.
//!
//! # Top-level members
//!
//! | member | treatment | reason |
//! |---|---|---|
//! | `input` | required, checked, forwarded | the conversation; see below |
//! | `instructions`, `parallel_tool_calls`, `reasoning`, `text` | checked, forwarded | change only the answer |
//! | `tools`, `tool_choice` | checked, forwarded | only tools the harness itself runs: `function`, `custom`, `namespace` groups of those, and `tool_search` among them |
//! | `include` | checked, forwarded | only `reasoning.encrypted_content`; the rest asks for results of provider-side tools |
//! | `model`, `store`, `prompt_cache_key`, `stream` | shape checked, replaced | the gateway's to decide |
//! | `service_tier` | dropped; replaced by the session's, if it has one | changes the price |
//! | `client_metadata` | dropped | sent by Codex on each request; names threads and an installation to the provider |
//! | `stream_options` | dropped | the gateway reads the stream and needs its plain form |
//! | `previous_response_id`, `conversation`, `prompt` | refused | reach state stored at the provider, perhaps another tenant's |
//! | `background`, `background_options` | refused | the answer would outlive the request that pays for it |
//! | `metadata`, `user`, `safety_identifier`, `moderation`, `access_programs` | refused | speak to the provider in the operator's name |
//! | `max_output_tokens`, `max_tool_calls`, `temperature`, `top_p`, `top_logprobs`, `truncation`, `context_management`, `prompt_cache_options`, `prompt_cache_retention`, `image` | refused | no harness here sends them; some change the price |
//! | any other | refused | a new member may mean anything |
//!
//! # Inside `input`
//!
//! Only an array of items, each with an explicit `type`: `message`, `reasoning`, `function_call`, `function_call_output`,
//! `custom_tool_call`, `custom_tool_call_output`, `tool_search_call`, `tool_search_output`.
//!
//! * An item without a `type` could be read as an `item_reference`, which pulls a stored item of the same account.
//! * `mcp_*`, `additional_tools`, `configuration_update` items and those of hosted tools would make the provider act, or
//!   change the judged tool list. What a search for deferred tools has found is judged like that list; without
//!   `execution: client` the provider searches, among the tools of the same request.
//! * `image_url` must be an inline `data:` URL of a raster image: the provider fetches any other URL, which is both a
//!   request in the operator's name and a way out of the container. `file_url`, `file_id` and `input_file` are refused.
//! * Item `id`s pass. They could name an item stored at the provider, but every request forces `store: false`, so an
//!   account used by this gateway alone stores none.

mod filter;
mod lexer;
mod refusal;
mod rules;
#[cfg(test)]
mod tests;

pub use self::{
    filter::{Filter, Forced, MAX_BYTES, MAX_DEPTH},
    refusal::{Code, Refusal},
};
