//! One session: queue, turns, items and event log.
mod catalog;
mod feed;
mod object;
mod outbox;
mod store;

pub use feed::Entry;
