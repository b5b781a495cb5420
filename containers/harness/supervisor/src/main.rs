//! Runs the harness and speaks the harness protocol
#![forbid(unsafe_code)]
#![deny(missing_docs)]

fn main() {}
