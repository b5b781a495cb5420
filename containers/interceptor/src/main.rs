//! Local stand-in for Cloudflare's outbound interception
#![forbid(unsafe_code)]
#![deny(missing_docs)]

fn main() {}
