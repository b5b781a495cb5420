#![allow(clippy::unwrap_used, clippy::panic)]
mod cases;
mod properties;
mod requests;

use super::*;
use crate::secret::Secret;
use crate::vault::{Auth, ClientAuth, OauthRotation, RefreshRotation, Rotation, SecureUrl};

/// When these tests begin.
const NOW: u64 = 1_800_000_000;

/// A credential whose token expires in so many seconds.
fn oauth(life: Option<u64>) -> Oauth {
    Oauth {
        server: SecureUrl::parse("https://mcp.example.com/").unwrap(),
        access_token: Secret::new("access-1"),
        expires_at: life.map(|life| NOW + life),
        version: 1,
        refreshed_at: None,
        refresh: Some(Refresh {
            client_id: "client".to_owned(),
            refresh_token: Secret::new("refresh-1"),
            token_endpoint: SecureUrl::parse("https://id.example.com/token").unwrap(),
            client: ClientAuth::None,
            resource: None,
            scope: None,
            phase: Phase::Ready { not_before: 0 },
            attempts: 0,
        }),
    }
}

fn without_refresh(life: Option<u64>) -> Oauth {
    Oauth {
        refresh: None,
        ..oauth(life)
    }
}

fn decide(oauth: &mut Oauth, need: Need, now: u64) -> Decision {
    oauth.decide(need, now).decision
}

/// Begins a refresh that must be due.
fn begin(oauth: &mut Oauth, now: u64) -> (TokenRequest, Ticket) {
    match decide(oauth, Need::Call, now) {
        Decision::Refresh(reserved) => reserved.when_stored(),
        other => panic!("{other:?}"),
    }
}

fn answered(status: u16, body: &str) -> Outcome<'_> {
    Outcome::Answered {
        status,
        body: body.as_bytes(),
        retry_after: None,
    }
}

fn phase(oauth: &Oauth) -> Phase {
    oauth.refresh.as_ref().unwrap().phase
}

fn refresh_token(oauth: &Oauth) -> &str {
    oauth.refresh.as_ref().unwrap().refresh_token.expose()
}

/// Rotates as a client does.
fn rotate(oauth: &mut Oauth, rotation: OauthRotation) {
    let mut auth = Auth::McpOauth(oauth.clone());
    auth.rotate(Rotation::McpOauth(rotation)).unwrap();
    match auth {
        Auth::McpOauth(rotated) => *oauth = rotated,
        Auth::StaticBearer(_) | Auth::EnvironmentVariable(_) => panic!("another kind"),
    }
}

fn new_refresh_token(text: &str) -> OauthRotation {
    OauthRotation {
        refresh: Some(RefreshRotation {
            refresh_token: Some(Secret::new(text)),
            ..RefreshRotation::default()
        }),
        ..OauthRotation::default()
    }
}
