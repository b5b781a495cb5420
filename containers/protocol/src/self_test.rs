//! The test of a sandbox's border, before anything of a tenant is behind it.
//!
//! The packer sends a nonce to [`ALLOWED_HOST`], which SandboxEgress answers with 204 and [`SELF_TEST_VERDICT`], and asks
//! [`DENIED_HOST`], which it refuses like any name that is reserved. Both are plain HTTP, `GET /<nonce>`.

/// The name that is answered.
pub const ALLOWED_HOST: &str = "allowed.selftest.internal";

/// The name that is refused.
pub const DENIED_HOST: &str = "denied.selftest.internal";

/// Header of every answer that SandboxEgress makes itself: the code of a refusal, or [`SELF_TEST_VERDICT`].
pub const EGRESS_HEADER: &str = "x-cloister-egress";

/// What it says to [`ALLOWED_HOST`].
pub const SELF_TEST_VERDICT: &str = "self_test";

/// Exit code of the packer: [`ALLOWED_HOST`] is not answered as it must be, or not at all.
pub const EXIT_MUTE: u8 = 20;

/// Exit code of the packer: [`DENIED_HOST`] is not refused as it must be.
pub const EXIT_LENIENT: u8 = 21;

/// Exit code of the packer: something came back from past the border. It goes before the other two.
pub const EXIT_OPEN: u8 = 22;
