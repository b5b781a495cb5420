//! The one harness so far: Codex, spoken to through `codex app-server`.
//!
//! * [`home`] writes its configuration, [`process`] runs it,
//! * [`wire`] has the messages, [`calls`] makes the requests, [`functions`] the client's tools,
//! * [`rollout`] reads a thread's history,
//! * [`map`] turns what Codex tells into events of the protocol,
//! * [`driver`] decides what is sent to either side.
//!
//! All but `home` and `process` are pure but for the clock of the driver: values in, values out.

pub mod calls;
pub mod driver;
pub mod functions;
pub mod home;
pub mod map;
pub mod process;
pub mod rollout;
pub mod wire;
