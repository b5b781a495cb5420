//! What a token endpoint answered. It is another party's text: bounded, read strictly, and never repeated.
use super::{Outcome, Rejection};
use crate::secret::Secret;
use crate::vault::{is_member, is_token};
use serde::Deserialize;

/// Longest answer that is read, bytes. One that is longer was not understood.
const MAX_BODY: usize = 64 << 10;
/// Longest life of a token that is believed, seconds.
const MAX_LIFE: u64 = 10 * 365 * 86_400;
/// When to try again if nothing is said, and at most, seconds.
const PAUSE: u64 = 30;
const MAX_PAUSE: u64 = 3_600;

pub(super) enum Answer {
    Token(Token),
    /// The refresh token was not looked at: try again in so many seconds.
    Later(u64),
    Rejected(Rejection),
    Unknown,
}

pub(super) struct Token {
    pub(super) access_token: Secret,
    pub(super) expires_in: Option<u64>,
    pub(super) refresh_token: Option<Secret>,
}

/// Members that are not here are ignored, as RFC 6749 has it; a member twice is none of its answers.
#[derive(Deserialize)]
struct Granted {
    access_token: String,
    token_type: String,
    #[serde(default)]
    expires_in: Option<u64>,
    #[serde(default)]
    refresh_token: Option<String>,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
}

impl Answer {
    pub(super) fn read(outcome: Outcome) -> Self {
        let (status, body, retry_after) = match outcome {
            Outcome::NotSent => return Self::Later(PAUSE),
            Outcome::Lost => return Self::Unknown,
            Outcome::Answered {
                status,
                body,
                retry_after,
            } => (status, body, retry_after),
        };
        match status {
            200..=299 => token(body).map_or(Self::Unknown, Self::Token),
            300..=399 => Self::Rejected(Rejection::Redirected),
            429 => Self::Later(retry_after.unwrap_or(PAUSE).clamp(1, MAX_PAUSE)),
            // A proxy gave up waiting.
            408 => Self::Unknown,
            400..=499 => Self::Rejected(rejection(body)),
            // It may have used up the token before it failed.
            _ => Self::Unknown,
        }
    }
}

fn token(body: &[u8]) -> Option<Token> {
    let granted: Granted = bounded(body)?;
    let readable = granted.token_type.eq_ignore_ascii_case("bearer")
        && is_token(&granted.access_token)
        && granted.refresh_token.as_deref().is_none_or(is_member);
    readable.then(|| Token {
        access_token: Secret::new(granted.access_token),
        expires_in: granted.expires_in.map(|life| life.min(MAX_LIFE)),
        refresh_token: granted.refresh_token.map(Secret::new),
    })
}

fn rejection(body: &[u8]) -> Rejection {
    let refused: Option<Refused> = bounded(body);
    match refused.as_ref().map(|refused| refused.error.as_str()) {
        Some("invalid_grant") => Rejection::InvalidGrant,
        Some("invalid_client" | "unauthorized_client") => Rejection::InvalidClient,
        Some("invalid_scope") => Rejection::InvalidScope,
        Some("invalid_target") => Rejection::InvalidTarget,
        Some(_) | None => Rejection::Other,
    }
}

fn bounded<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Option<T> {
    let body = Some(body).filter(|body| body.len() <= MAX_BODY)?;
    serde_json::from_slice(body).ok()
}
