use super::*;

#[test]
fn the_envelope_has_all_four_members() {
    let error = ApiError::missing("agent.model");
    assert_eq!(
        error.body().to_string(),
        r#"{"error":{"code":"invalid_request_error","message":"Missing required parameter: 'agent.model'.","param":"agent.model","type":"invalid_request_error"}}"#
    );
    let body = ApiError::internal().body();
    assert_eq!(
        (&body["error"]["param"], &body["error"]["code"]),
        (&Value::Null, &json!("internal_error"))
    );
}

/// Clients' libraries compare these texts.
#[test]
fn known_texts() {
    let long = "c".repeat(256);
    for (error, text, retry) in [
        (
            ApiError::unknown_call("call_1"),
            "Unknown pending tool call: call_1",
            None,
        ),
        (
            ApiError::unknown_call(&long),
            &format!("Unknown pending tool call: {long}"),
            None,
        ),
        (
            ApiError::call_of_other_turn("call_1"),
            "function call call_1 belongs to a different managed agent turn",
            None,
        ),
        (
            ApiError::no_artifact("artifact_1"),
            "Session artifact artifact_1 was not found",
            None,
        ),
        (
            ApiError::not_deletable(),
            "session must be durably idle or failed without required actions before deletion",
            Some("false"),
        ),
        (
            ApiError::session_has_failed(),
            "the session has failed and takes no more input; its 'error' says why",
            Some("false"),
        ),
        (
            ApiError::call_is_over("call_1"),
            "function call call_1 does not wait for a result any more",
            Some("false"),
        ),
    ] {
        assert_eq!(error.message, text);
        let header = error.headers.first().map(|(_, value)| value.as_str());
        assert_eq!(header, retry, "{text}");
    }
}

#[test]
fn documented_rows() {
    for (error, status, kind, code) in [
        (
            ApiError::invalid_beta(),
            400,
            "invalid_beta",
            Some("invalid_beta"),
        ),
        (
            ApiError::invalid_api_key(),
            401,
            "invalid_request_error",
            Some("invalid_api_key"),
        ),
        (
            ApiError::missing_scope("api.agents.read"),
            403,
            "invalid_request_error",
            None,
        ),
        (
            ApiError::not_found("sess_1"),
            404,
            "not_found_error",
            Some("not_found_error"),
        ),
        (
            ApiError::conflict("no"),
            409,
            "conflict_error",
            Some("conflict_error"),
        ),
        (
            ApiError::unknown_call("call_1"),
            400,
            "invalid_request_error",
            Some("invalid_request_error"),
        ),
        (
            ApiError::call_is_over("call_1"),
            409,
            "conflict_error",
            Some("conflict_error"),
        ),
        (
            ApiError::too_large(1),
            413,
            "invalid_request_error",
            Some("payload_too_large"),
        ),
        (
            ApiError::rate_limited("slow", Some(2)),
            429,
            "rate_limit_error",
            Some("rate_limit_exceeded"),
        ),
        (
            ApiError::internal(),
            500,
            "server_error",
            Some("internal_error"),
        ),
        (
            ApiError::unavailable("later"),
            503,
            "server_error",
            Some("service_unavailable"),
        ),
    ] {
        assert_eq!(
            (error.status, error.kind, error.code, error.param.as_deref()),
            (status, kind, code, None)
        );
    }
    assert_eq!(
        ApiError::not_found("sess_1").message,
        "No managed agent resource found: sess_1"
    );
    assert_eq!(
        ApiError::conflict("no").headers,
        vec![("x-should-retry", "false".to_owned())]
    );
    assert_eq!(
        ApiError::method_not_allowed("GET, HEAD").headers,
        vec![("allow", "GET, HEAD".to_owned())]
    );
}

#[test]
fn what_the_caller_sent_is_repeated_in_bounds() {
    let error = ApiError::unknown(&"\n".repeat(1 << 20));
    assert!(error.message.len() < 300 && !error.message.contains('\n'));
    assert!(error
        .param
        .is_some_and(|param| param.chars().count() <= 256));
}
