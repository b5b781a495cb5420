//! One session: queue, turns, items and event log.
mod artifacts;
mod catalog;
mod feed;
mod garbage;
mod lists;
mod network;
mod object;
mod outbox;
mod steps;
mod store;

pub use feed::Entry;
