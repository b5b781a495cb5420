//! Refreshing an access token.
//!
//! Whoever needs a token calls [`Oauth::decide`]. If a refresh is due, the credential says from then on that its refresh
//! token is reserved; it has to be stored so before the request is sent, and [`Reserved::when_stored`] is there to be read
//! twice. The outcome goes to [`Oauth::settle`], and what that makes of the credential is stored in one step: the new access
//! token, the new refresh token if there is one, and that the reservation is over.
//!
//! ```text
//!                 decide                       2xx with a token
//!   Ready ───────────────────────▶ Reserved ───────────────────▶ Ready
//!     ▲  not sent, or 429: later      │  │ no, or a redirect
//!     └───────────────────────────────┘  ├─────────────────────▶ Rejected ── rotation by the client ──▶ Ready
//!                                        │ no answer, 5xx, an answer that cannot be read, lease over
//!                                        └─────────────────────▶ Unknown ─── a new refresh token ─────▶ Ready
//! ```
//!
//! An access token is used as long as it lasts, whatever became of its refresh.
mod answer;
mod event;
mod request;

pub use self::event::{Event, Rejection};
pub use self::request::TokenRequest;

use self::answer::Answer;
use super::{Oauth, Phase, Refresh};
use std::fmt;

/// How long before its expiry a token is refreshed, in seconds; at most a quarter of the token's life.
pub const MARGIN: u64 = 60;

/// How long a refresh may take, in seconds. The request has to be given up before.
pub const LEASE: u64 = 30;

/// For how long after a refresh a server's 401 is not answered by another, in seconds.
pub const REST: u64 = 60;

/// Why a token is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// For a call.
    Call,
    /// The server answered 401 to this version.
    Refused {
        /// The version of the access token that it was shown.
        version: u64,
    },
}

/// What is to be done, and what a client is told.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// What is to be done.
    pub decision: Decision,
    /// What happened before. The credential has changed then, and is to be stored.
    pub event: Option<Event>,
}

/// What is to be done about an access token.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    /// Use the credential's access token.
    Use,
    /// Store the credential, then send this.
    Refresh(Reserved),
    /// Another refresh is under way, or it is too early for one: ask again then, in seconds.
    Wait {
        /// When.
        until: u64,
    },
    /// There is no token.
    Unusable(Unusable),
}

/// Why there is no access token. Only the client can change that, by a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It has expired and cannot be refreshed.
    Expired,
    /// The server does not take it, and cannot be shown another.
    Refused,
    /// The token endpoint gives no other.
    Rejected(Rejection),
    /// Nobody knows whether the token endpoint gave another.
    Unknown,
}

/// A refresh that may begin once it is stored that it did.
#[derive(Debug, PartialEq, Eq)]
pub struct Reserved {
    request: TokenRequest,
    ticket: Ticket,
}

/// The right to settle one attempt. There is one of each.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket(u64);

/// What came of a request. How it is judged is in the module's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// An answer, which was not followed if it was a redirect.
    Answered {
        /// Its status.
        status: u16,
        /// Its body, or as much of it as is read: 64 KiB.
        body: &'a [u8],
        /// Seconds of its `retry-after`.
        retry_after: Option<u64>,
    },
    /// Certainly nothing was sent: the name was not found, the connection was refused.
    NotSent,
    /// Nobody knows.
    Lost,
}

/// The attempt was settled already, or the client has given another refresh token meanwhile. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale;

impl Reserved {
    /// The request, and the right to say what came of it. Only for who has stored the credential as it is now: a request
    /// that is sent before that could be sent again after a crash.
    pub fn when_stored(self) -> (TokenRequest, Ticket) {
        (self.request, self.ticket)
    }
}

impl Oauth {
    /// Decides what to do about the access token. `now` is in seconds.
    pub fn decide(&mut self, need: Need, now: u64) -> Step {
        let event = self.refresh.as_mut().and_then(|refresh| refresh.lose(now));
        Step {
            decision: self.decision(need, now),
            event,
        }
    }

    fn decision(&mut self, need: Need, now: u64) -> Decision {
        let refused = need
            == Need::Refused {
                version: self.version,
            };
        if !refused && !self.is_due(now) {
            return Decision::Use;
        }
        let expired = self.expires_at.is_some_and(|at| at <= now);
        let usable = !refused && !expired;
        let or = |otherwise| {
            if usable {
                Decision::Use
            } else {
                otherwise
            }
        };
        let just_refreshed = self.refreshed_at.is_some_and(|at| now < at + REST);
        if refused && !expired && just_refreshed {
            return Decision::Unusable(Unusable::Refused);
        }
        let Some(refresh) = &mut self.refresh else {
            return or(Decision::Unusable(if expired {
                Unusable::Expired
            } else {
                Unusable::Refused
            }));
        };
        match refresh.phase {
            Phase::Ready { not_before } if now < not_before => {
                or(Decision::Wait { until: not_before })
            }
            Phase::Ready { .. } => Decision::Refresh(refresh.reserve(now)),
            Phase::Reserved { until, .. } => or(Decision::Wait { until }),
            Phase::Unknown { .. } => or(Decision::Unusable(Unusable::Unknown)),
            Phase::Rejected { rejection } => or(Decision::Unusable(Unusable::Rejected(rejection))),
        }
    }

    /// Whether the token is about to expire.
    fn is_due(&self, now: u64) -> bool {
        let Some(expires_at) = self.expires_at else {
            return false;
        };
        let life = self
            .refreshed_at
            .map_or(u64::MAX, |at| expires_at.saturating_sub(at));
        expires_at <= now.saturating_add(MARGIN.min(life / 4))
    }

    /// Takes what came of a refresh, and says what a client is told. What it makes of the credential is stored in one step.
    ///
    /// An answer that comes after the lease is better than none, and still taken.
    pub fn settle(&mut self, ticket: Ticket, outcome: Outcome, now: u64) -> Result<Event, Stale> {
        let refresh = self.refresh.as_mut().ok_or(Stale)?;
        match refresh.phase {
            Phase::Reserved { attempt, .. } | Phase::Unknown { attempt } if attempt == ticket.0 => {
            }
            Phase::Ready { .. }
            | Phase::Rejected { .. }
            | Phase::Reserved { .. }
            | Phase::Unknown { .. } => return Err(Stale),
        }
        let (phase, event) = match Answer::read(outcome) {
            Answer::Token(token) => {
                if let Some(next) = token.refresh_token {
                    refresh.refresh_token = next;
                }
                self.access_token = token.access_token;
                self.expires_at = token.expires_in.map(|life| now.saturating_add(life));
                self.version += 1;
                self.refreshed_at = Some(now);
                (Phase::Ready { not_before: 0 }, Event::Refreshed)
            }
            Answer::Later(seconds) => {
                let until = now.saturating_add(seconds);
                (
                    Phase::Ready { not_before: until },
                    Event::Postponed { until },
                )
            }
            Answer::Rejected(rejection) => {
                (Phase::Rejected { rejection }, Event::Rejected(rejection))
            }
            Answer::Unknown => (Phase::Unknown { attempt: ticket.0 }, Event::Unknown),
        };
        refresh.phase = phase;
        Ok(event)
    }
}

impl Refresh {
    /// Gives up an attempt whose lease is over.
    fn lose(&mut self, now: u64) -> Option<Event> {
        match self.phase {
            Phase::Reserved { attempt, until } if until <= now => {
                self.phase = Phase::Unknown { attempt };
                Some(Event::Unknown)
            }
            Phase::Reserved { .. }
            | Phase::Ready { .. }
            | Phase::Unknown { .. }
            | Phase::Rejected { .. } => None,
        }
    }

    fn reserve(&mut self, now: u64) -> Reserved {
        self.attempts += 1;
        self.phase = Phase::Reserved {
            attempt: self.attempts,
            until: now.saturating_add(LEASE),
        };
        Reserved {
            request: TokenRequest::new(self),
            ticket: Ticket(self.attempts),
        }
    }
}

impl Unusable {
    /// Its stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Expired => "credential_expired",
            Self::Refused => "credential_refused",
            Self::Rejected(_) => "credential_refresh_rejected",
            Self::Unknown => "credential_refresh_unknown",
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired => f.write_str("the access token has expired; rotate the credential"),
            Self::Refused => {
                f.write_str("the server does not take the access token; rotate the credential")
            }
            Self::Rejected(rejection) => Event::Rejected(*rejection).fmt(f),
            Self::Unknown => Event::Unknown.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests;
