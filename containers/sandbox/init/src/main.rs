//! PID 1 of the sandbox: starts the exec server and keeps it within its limits
#![forbid(unsafe_code)]
#![deny(missing_docs)]

fn main() {}
