//! Vaults: a tenant's credentials, how one is chosen, kept fresh, and put into a request.
//!
//! ```
//! use cloister::vault::{choose, Attached, Candidate, SecureUrl};
//!
//! let url = SecureUrl::parse("https://mcp.example.com/sse").unwrap();
//! let one = Candidate { credential: "cred_1".into(), server: url.clone() };
//! let attached = Attached::new(&["vault_1".into()], |_| Some(vec![one.clone()])).unwrap();
//! assert_eq!(choose(&attached, &url, None), Ok(Some("cred_1")));
//! ```
//!
//! | type | says |
//! |---|---|
//! | [`Auth`] | a credential's secrets and what belongs to them; stored sealed, as a whole ([`seal`], [`open`]) |
//! | [`Rotation`] | what a client changes of it |
//! | [`choose`] | which credential an MCP server gets |
//! | [`Oauth::decide`], [`Oauth::settle`] | when an access token is refreshed, and what came of it |
//! | [`Placeholder`] | what a sandbox sees instead of a secret |
//! | [`bind`] | which variables a session's sandbox gets |
//! | [`Substitution`] | the secret for its placeholder, in one request |
//! | [`Scrubber`] | no secret in the answer |
//!
//! * **Nothing here acts.** There is no clock, no randomness and no network: the time, random bytes and answers are arguments.
//! * **Secrets are [`Secret`](crate::secret::Secret)s.** They cannot be printed, and an [`Auth`] of them cannot be
//!   serialized: only [`seal`] writes it.
//! * **A refresh token is sent once.** Before it is sent it is stored as reserved; an answer that nobody saw leaves it
//!   reserved for ever, and the client has to give a new one.
//! * **A secret goes to a host only if its credential and the policy in force both allow that host**, over https, in a
//!   header. It is never in a URL or a body.
mod auth;
mod bind;
mod choice;
mod oauth;
mod placeholder;
mod rotation;
mod scrub;
mod secure_url;
mod stored;
mod substitution;
pub mod timestamp;

#[cfg(test)]
mod tests;

pub(crate) use self::auth::{is_member, is_token};

pub use self::{
    auth::{
        Auth, ClientAuth, ClientMethod, Networking, Oauth, Phase, Refresh, StaticBearer, Variable,
        MAX_HOSTS, MAX_TOKEN, MAX_VALUE,
    },
    bind::{bind, BindError, Bound},
    choice::{choose, Attached, Candidate, ChoiceError},
    oauth::{
        Decision, Event, Need, Outcome, Rejection, Reserved, Stale, Step, Ticket, TokenRequest,
        Unusable, LEASE, MARGIN, REST,
    },
    placeholder::Placeholder,
    rotation::{ClientRotation, OauthRotation, RefreshRotation, Rotation, RotationError},
    scrub::Scrubber,
    secure_url::{NotSecure, SecureUrl},
    stored::{open, seal},
    substitution::{Count, HeaderNameError, HeaderNames, Injector, Substitution},
};
