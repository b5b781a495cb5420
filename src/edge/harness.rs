//! One harness: its container and the link to the supervisor in it.
mod link;
mod object;
mod record;
mod turn;
