//! What a sandbox reaches and what it does not, on the wire: real programs in a real sandbox, through the built Worker, to
//! upstreams of the test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]
#[path = "egress/border.rs"]
mod border;
#[path = "egress/bounds.rs"]
mod bounds;
#[path = "egress/cases.rs"]
mod cases;
#[path = "egress/clients.rs"]
mod clients;
#[path = "egress/hosts.rs"]
mod hosts;
#[path = "egress/inside.rs"]
mod inside;
#[path = "egress/kit.rs"]
mod kit;
#[path = "egress/live.rs"]
mod live;
#[path = "egress/raw.rs"]
mod raw;
#[path = "egress/requests.rs"]
mod requests;
#[path = "egress/self_test.rs"]
mod self_test;
#[path = "egress/setup.rs"]
mod setup;
#[path = "egress/streams.rs"]
mod streams;
mod support;
#[path = "egress/table.rs"]
mod table;
