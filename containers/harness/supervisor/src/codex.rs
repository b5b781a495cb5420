//! The one harness so far: Codex, spoken to through `codex app-server`.
//!
//! * [`home`] writes its configuration, [`process`] runs it,
//! * [`wire`] has the messages, [`calls`] makes the requests,
//! * [`map`] turns what Codex tells into events of the protocol,
//! * [`driver`] decides what is sent to either side.
//!
//! All but `home` and `process` are pure: values in, values out.

pub mod calls;
pub mod driver;
pub mod home;
pub mod map;
pub mod process;
pub mod wire;
