//! One harness: its container, the link to the supervisor in it, and the checkpoints of its turns.
mod checkpoint;
#[cfg(feature = "test-faults")]
mod hold;
mod link;
mod object;
mod pump;
mod record;
mod turn;
