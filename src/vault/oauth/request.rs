use crate::secret::Secret;
use crate::vault::{ClientAuth, Refresh};
use base64::{engine::general_purpose::STANDARD, Engine};

/// A `POST` to a token endpoint. No redirect is followed, and no cache takes part.
#[derive(Debug, PartialEq, Eq)]
pub struct TokenRequest {
    /// Where to.
    pub url: String,
    /// The Authorization header, if there is one.
    pub authorization: Option<Secret>,
    /// The body.
    pub form: Secret,
}

impl TokenRequest {
    /// The body's `content-type`.
    pub const CONTENT_TYPE: &'static str = "application/x-www-form-urlencoded";
    /// The header `accept`.
    pub const ACCEPT: &'static str = "application/json";

    pub(super) fn new(refresh: &Refresh) -> Self {
        let mut authorization = None;
        let mut form = Form::default();
        form.add("grant_type", "refresh_token");
        form.add("refresh_token", refresh.refresh_token.expose());
        match &refresh.client {
            ClientAuth::None => form.add("client_id", &refresh.client_id),
            ClientAuth::Post { secret } => {
                form.add("client_id", &refresh.client_id);
                form.add("client_secret", secret.expose());
            }
            // RFC 6749, 2.3.1: both are encoded as in a form first.
            ClientAuth::Basic { secret } => {
                let mut pair = String::new();
                encode(&mut pair, &refresh.client_id);
                pair.push(':');
                encode(&mut pair, secret.expose());
                authorization = Some(Secret::new(format!("Basic {}", STANDARD.encode(pair))));
            }
        }
        let optional = [("resource", &refresh.resource), ("scope", &refresh.scope)];
        for (name, value) in optional {
            if let Some(value) = value {
                form.add(name, value);
            }
        }
        Self {
            url: refresh.token_endpoint.canonical().to_owned(),
            authorization,
            form: Secret::new(form.0),
        }
    }
}

#[derive(Default)]
struct Form(String);

impl Form {
    fn add(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.push_str(name);
        self.0.push('=');
        encode(&mut self.0, value);
    }
}

/// `application/x-www-form-urlencoded`.
fn encode(into: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => {
                into.push(char::from(byte));
            }
            b' ' => into.push('+'),
            _ => {
                into.push('%');
                into.push(char::from(DIGITS[usize::from(byte >> 4)]));
                into.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
}
