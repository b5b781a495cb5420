//! Codex's error names as failure codes.

use cloister_protocol::FailureCode;
use serde_json::Value;

/// The code for `codexErrorInfo`: a name, or an object whose only key is the name and may hold an HTTP status.
pub fn code(info: Option<&Value>) -> FailureCode {
    match info {
        Some(Value::String(name)) => named(name, None),
        Some(Value::Object(object)) => match object.iter().next() {
            Some((name, details)) => {
                named(name, details.get("httpStatusCode").and_then(Value::as_u64))
            }
            None => FailureCode::InternalError,
        },
        _ => FailureCode::InternalError,
    }
}

fn named(name: &str, status: Option<u64>) -> FailureCode {
    match name {
        "contextWindowExceeded" => FailureCode::ContextLengthExceeded,
        "sessionBudgetExceeded" | "usageLimitExceeded" => FailureCode::UsageLimitExceeded,
        "rateLimitExceeded" => FailureCode::RateLimitExceeded,
        "flexUnavailable" | "policyCapacityUnavailable" | "serverOverloaded" => {
            FailureCode::ServerOverloaded
        }
        "cyberPolicy" => FailureCode::CyberPolicy,
        "badRequest"
        | "bioPolicy"
        | "inferenceHookDenied"
        | "misalignmentPolicyViolation"
        | "modelNotFound"
        | "tooManyDenials" => FailureCode::InvalidRequest,
        "internalServerError" => FailureCode::ServerError,
        "unauthorized" => FailureCode::AuthenticationError,
        "sandboxError" => FailureCode::SandboxError,
        "activeTurnNotSteerable" => FailureCode::ActiveTurnNotSteerable,
        "httpConnectionFailed"
        | "responseStreamConnectionFailed"
        | "responseStreamDisconnected"
        | "responseTooManyFailedAttempts" => http(status),
        // "threadRollbackFailed", "other", and names of later versions.
        _ => FailureCode::InternalError,
    }
}

fn http(status: Option<u64>) -> FailureCode {
    match status {
        Some(401 | 403) => FailureCode::AuthenticationError,
        Some(408 | 504) => FailureCode::RequestTimeout,
        Some(429) => FailureCode::RateLimitExceeded,
        Some(503 | 529) => FailureCode::ServerOverloaded,
        Some(400..=499) => FailureCode::InvalidRequest,
        Some(500..=599) => FailureCode::ServerError,
        _ => FailureCode::ConnectionFailed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn table() {
        for (info, expected) in [
            (
                json!("contextWindowExceeded"),
                FailureCode::ContextLengthExceeded,
            ),
            (json!("usageLimitExceeded"), FailureCode::UsageLimitExceeded),
            (json!("rateLimitExceeded"), FailureCode::RateLimitExceeded),
            (json!("serverOverloaded"), FailureCode::ServerOverloaded),
            (json!("cyberPolicy"), FailureCode::CyberPolicy),
            (json!("internalServerError"), FailureCode::ServerError),
            (json!("unauthorized"), FailureCode::AuthenticationError),
            (json!("badRequest"), FailureCode::InvalidRequest),
            (json!("sandboxError"), FailureCode::SandboxError),
            (json!("other"), FailureCode::InternalError),
            (json!("ofALaterVersion"), FailureCode::InternalError),
            (
                json!({ "httpConnectionFailed": { "httpStatusCode": 401 } }),
                FailureCode::AuthenticationError,
            ),
            (
                json!({ "httpConnectionFailed": { "httpStatusCode": null } }),
                FailureCode::ConnectionFailed,
            ),
            (
                json!({ "responseTooManyFailedAttempts": { "httpStatusCode": 429 } }),
                FailureCode::RateLimitExceeded,
            ),
            (
                json!({ "responseTooManyFailedAttempts": { "httpStatusCode": 502 } }),
                FailureCode::ServerError,
            ),
            (
                json!({ "responseStreamDisconnected": { "httpStatusCode": -1 } }),
                FailureCode::ConnectionFailed,
            ),
            (
                json!({ "responseStreamConnectionFailed": "x" }),
                FailureCode::ConnectionFailed,
            ),
            (
                json!({ "activeTurnNotSteerable": { "turnKind": "compact" } }),
                FailureCode::ActiveTurnNotSteerable,
            ),
            (json!({}), FailureCode::InternalError),
            (json!([1]), FailureCode::InternalError),
        ] {
            assert_eq!(code(Some(&info)), expected, "{info}");
        }
        assert_eq!(code(None), FailureCode::InternalError);
    }
}
