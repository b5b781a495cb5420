//! Blows to a gateway at work, what is asked of it meanwhile, and what must be true afterwards.
#![allow(dead_code)]
pub mod blow;
pub mod campaign;
pub mod check;
pub mod random;
pub mod subject;
pub mod watcher;
