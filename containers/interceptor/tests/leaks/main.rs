//! Proves against a real container engine that root behind the interceptor reaches nothing but workerd, and that what
//! should work does.
//!
//! Needs `docker`, and the names of two local images in `CLOISTER_INTERCEPTOR_IMAGE` and `CLOISTER_BASE_IMAGE`. All traffic
//! stays on the machine's bridge; a plain container that makes the same attacks shows that each would be seen.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attacks;
mod control;
mod docker;
mod early;
mod egress;
mod service;
mod world;
