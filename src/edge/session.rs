//! One session: queue, turns, items and event log.
mod catalog;
mod feed;
mod lists;
mod object;
mod outbox;
mod steps;
mod store;

pub use feed::Entry;
