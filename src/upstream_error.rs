//! What a provider's error becomes before a harness sees it.
//!
//! A provider's text may quote the key, the account or the request; only a code of a closed set and a status go on.

/// A provider's error, safe to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sanitised {
    /// The status to answer with.
    pub status: u16,
    /// A code of [`CODES`], or one of ours.
    pub code: &'static str,
}

/// Codes that mean something to a harness and nothing more.
pub const CODES: [&str; 10] = [
    "context_length_exceeded",
    "insufficient_quota",
    "invalid_prompt",
    "model_not_found",
    "rate_limit_exceeded",
    "server_error",
    "server_is_overloaded",
    "slow_down",
    "unsupported_parameter",
    "unsupported_value",
];

/// Reads `{"error": {"code": …}}` of at most what the caller kept. A redirect is refused: it could lead the next request,
/// with its credential, to another host.
pub fn sanitise(status: u16, body: &[u8]) -> Sanitised {
    let named = serde_json::from_slice::<serde_json::Value>(body).ok();
    let named = named
        .as_ref()
        .and_then(|body| body.get("error")?.get("code")?.as_str());
    let known = named.and_then(|named| CODES.into_iter().find(|code| *code == named));
    match status {
        // Nor would another try of these: a harness repeats what has a status of 500 or more.
        300..=399 => Sanitised {
            status: 400,
            code: "provider_redirect",
        },
        // The credential is the gateway's: a harness can do nothing about it and must not retry.
        401 | 403 => Sanitised {
            status: 403,
            code: "provider_refused_credential",
        },
        400..=499 => Sanitised {
            status,
            code: known.unwrap_or("provider_refused_request"),
        },
        500..=599 => Sanitised {
            status,
            code: known.unwrap_or("server_error"),
        },
        _ => Sanitised {
            status: 502,
            code: "provider_unexpected_status",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_codes_pass() {
        let cases: [(u16, &str, u16, &str); 9] = [
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"sk-secret"}}"#,
                400,
                "context_length_exceeded",
            ),
            (
                429,
                r#"{"error":{"code":"sk-secret"}}"#,
                429,
                "provider_refused_request",
            ),
            (
                429,
                r#"{"error":{"code":"rate_limit_exceeded"}}"#,
                429,
                "rate_limit_exceeded",
            ),
            (
                401,
                r#"{"error":{"code":"invalid_api_key","message":"Incorrect API key: sk-se…ret"}}"#,
                403,
                "provider_refused_credential",
            ),
            (302, "", 400, "provider_redirect"),
            (500, "<html>", 500, "server_error"),
            (
                503,
                r#"{"error":{"code":"server_is_overloaded"}}"#,
                503,
                "server_is_overloaded",
            ),
            (204, "", 502, "provider_unexpected_status"),
            (400, r#"{"error":"#, 400, "provider_refused_request"),
        ];
        for (status, body, expected, code) in cases {
            assert_eq!(
                sanitise(status, body.as_bytes()),
                Sanitised {
                    status: expected,
                    code
                },
                "{status} {body}"
            );
        }
    }
}
