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
    // Names of later versions.
    known(name, status).unwrap_or(FailureCode::InternalError)
}

fn known(name: &str, status: Option<u64>) -> Option<FailureCode> {
    Some(match name {
        "contextWindowExceeded" => FailureCode::ContextLengthExceeded,
        "sessionBudgetExceeded" | "usageLimitExceeded" => FailureCode::UsageLimitExceeded,
        "rateLimitExceeded" => FailureCode::RateLimitExceeded,
        "policyCapacityUnavailable" | "serverOverloaded" => FailureCode::ServerOverloaded,
        "flexUnavailable" => FailureCode::FlexUnavailable,
        "cyberPolicy" => FailureCode::CyberPolicy,
        "misalignmentPolicyViolation" => FailureCode::MisalignmentPolicyViolation,
        "modelNotFound" => FailureCode::ResourceNotFound,
        "badRequest" | "bioPolicy" | "inferenceHookDenied" | "tooManyDenials" => {
            FailureCode::InvalidRequest
        }
        "internalServerError" => FailureCode::ServerError,
        "unauthorized" => FailureCode::AuthenticationError,
        "sandboxError" => FailureCode::SandboxError,
        "activeTurnNotSteerable" => FailureCode::ActiveTurnNotSteerable,
        "httpConnectionFailed"
        | "responseStreamConnectionFailed"
        | "responseStreamDisconnected"
        | "responseTooManyFailedAttempts" => http(status),
        "threadRollbackFailed" | "other" => FailureCode::InternalError,
        _ => return None,
    })
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
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    /// Every name that Codex's schema has is in the table.
    #[test]
    fn no_name_is_missing() {
        let schema = include_str!("../../../tests/schema/codex.txt");
        let line = schema
            .lines()
            .find_map(|l| l.strip_prefix("CodexErrorInfo "));
        let schema: Value = serde_json::from_str(line.unwrap()).unwrap();
        let mut names = Vec::new();
        for variant in schema["oneOf"]
            .as_array()
            .or(schema["anyOf"].as_array())
            .unwrap()
        {
            let plain = variant["enum"].as_array().into_iter().flatten();
            names.extend(plain.filter_map(Value::as_str));
            let objects = variant["properties"].as_object().into_iter().flatten();
            names.extend(objects.map(|(name, _)| name.as_str()));
        }
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            assert!(known(name, None).is_some(), "{name}");
        }
    }

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
            (json!("flexUnavailable"), FailureCode::FlexUnavailable),
            (
                json!("misalignmentPolicyViolation"),
                FailureCode::MisalignmentPolicyViolation,
            ),
            (json!("modelNotFound"), FailureCode::ResourceNotFound),
            (
                json!("sessionBudgetExceeded"),
                FailureCode::UsageLimitExceeded,
            ),
            (
                json!("policyCapacityUnavailable"),
                FailureCode::ServerOverloaded,
            ),
            (json!("inferenceHookDenied"), FailureCode::InvalidRequest),
            (json!("bioPolicy"), FailureCode::InvalidRequest),
            (json!("tooManyDenials"), FailureCode::InvalidRequest),
            (json!("threadRollbackFailed"), FailureCode::InternalError),
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
