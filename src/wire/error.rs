//! Errors as clients see them: a status, and an envelope `{"error":{message,type,code,param}}`.
//!
//! Messages follow the wording of the official service where it is known, because clients match on it. Values that a client
//! sent are repeated in bounded form only.
use serde_json::{json, Value};

/// An error to answer with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// `error.type`.
    pub kind: &'static str,
    /// `error.code`.
    pub code: Option<&'static str>,
    /// `error.message`, for people.
    pub message: String,
    /// `error.param`: the path of the field at fault.
    pub param: Option<String>,
    /// Headers to send besides the usual ones.
    pub headers: Vec<(&'static str, String)>,
}

/// The type and code of most mistakes of the caller.
const INVALID: &str = "invalid_request_error";

/// Longest piece of the caller's own text in a message, in characters.
const MAX_ECHO: usize = 64;

/// `text`, or its beginning.
pub(crate) fn echo(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(MAX_ECHO)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(MAX_ECHO).is_some() {
        short.push('…');
    }
    short
}

impl ApiError {
    fn new(
        status: u16,
        kind: &'static str,
        code: Option<&'static str>,
        message: impl Into<String>,
    ) -> ApiError {
        ApiError {
            status,
            kind,
            code,
            message: message.into(),
            param: None,
            headers: Vec::new(),
        }
    }

    /// Sets `param`. It too is repeated in bounded form.
    pub fn at(mut self, param: &str) -> ApiError {
        self.param = Some(param.chars().take(4 * MAX_ECHO).collect());
        self
    }

    /// Whether the clients' libraries shall try again; sent as `x-should-retry`.
    pub fn should_retry(mut self, retry: bool) -> ApiError {
        self.headers.push(("x-should-retry", retry.to_string()));
        self
    }

    /// The body.
    pub fn body(&self) -> Value {
        json!({"error": {"message": self.message, "type": self.kind, "code": self.code, "param": self.param}})
    }

    // === 400 ===

    /// A mistake of the caller that no other constructor has words for.
    pub fn invalid(message: impl Into<String>) -> ApiError {
        ApiError::new(400, INVALID, Some(INVALID), message)
    }

    /// A field that must be there.
    pub fn missing(param: &str) -> ApiError {
        ApiError::invalid(format!("Missing required parameter: '{param}'.")).at(param)
    }

    /// A field that the API does not have.
    pub fn unknown(param: &str) -> ApiError {
        ApiError::invalid(format!("Unknown parameter: '{}'.", echo(param))).at(param)
    }

    /// A field that the API has and this deployment does not build yet.
    pub fn unsupported(param: &str) -> ApiError {
        ApiError::invalid(format!(
            "'{param}' is not supported by this deployment yet."
        ))
        .at(param)
    }

    /// A value that the API has and this deployment does not build yet.
    pub fn unsupported_value(param: &str, value: &str) -> ApiError {
        ApiError::invalid(format!(
            "'{param}': '{}' is not supported by this deployment yet.",
            echo(value)
        ))
        .at(param)
    }

    /// A value of the wrong JSON type. `expected` and `got` have their article ("a string").
    pub fn wrong_type(param: &str, expected: &str, got: &str) -> ApiError {
        ApiError::invalid(format!(
            "Invalid type for '{param}': expected {expected}, but got {got} instead."
        ))
        .at(param)
    }

    /// A value outside a closed set.
    pub fn not_one_of(param: &str, value: &str, supported: &[&str]) -> ApiError {
        let quoted: Vec<String> = supported.iter().map(|one| format!("'{one}'")).collect();
        let list = match quoted.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => String::new(),
        };
        ApiError::invalid(format!(
            "Invalid value: '{}'. Supported values are: {list}.",
            echo(value)
        ))
        .at(param)
    }

    /// A number that is too small.
    pub fn below(param: &str, least: i64, got: i64) -> ApiError {
        ApiError::invalid(format!(
            "Invalid '{param}': integer below minimum value. Expected a value >= {least}, but got {got} instead."
        ))
        .at(param)
    }

    /// A number that is too large.
    pub fn above(param: &str, most: i64, got: i64) -> ApiError {
        ApiError::invalid(format!(
            "Invalid '{param}': integer above maximum value. Expected a value <= {most}, but got {got} instead."
        ))
        .at(param)
    }

    /// A string, key, array or map of the wrong size. `what` is one of these words.
    pub fn wrong_length(
        param: &str,
        what: &str,
        least: usize,
        most: usize,
        got: usize,
    ) -> ApiError {
        let (word, side, limit) = if got < least {
            ("short", "minimum", least)
        } else {
            ("long", "maximum", most)
        };
        let article = if what == "array" { "an" } else { "a" };
        ApiError::invalid(format!(
            "Invalid '{param}': {what} too {word}. Expected {article} {what} with {side} length {limit}, \
             but got {article} {what} with length {got} instead."
        ))
        .at(param)
    }

    /// A value that is more than `most` bytes, though no part of it is too large.
    pub fn too_many_bytes(param: &str, most: usize, got: usize) -> ApiError {
        ApiError::invalid(format!(
            "Invalid '{param}': too large. Expected at most {most} bytes, but got {got} instead."
        ))
        .at(param)
    }

    /// A string with a character that no field takes.
    pub fn bad_character(param: &str) -> ApiError {
        ApiError::invalid(format!(
            "Invalid '{param}': the NUL character is not allowed."
        ))
        .at(param)
    }

    /// A result for a function call that no turn waits for. Clients' libraries know this text, and try again: a result may
    /// come before the call is stored.
    pub fn unknown_call(call_id: &str) -> ApiError {
        ApiError::invalid(format!("Unknown pending tool call: {call_id}"))
    }

    /// A result for a function call that waits, but in another turn.
    pub fn call_of_other_turn(call_id: &str) -> ApiError {
        ApiError::invalid(format!(
            "function call {} belongs to a different managed agent turn",
            echo(call_id)
        ))
    }

    /// An answer to a request for approval that no turn waits for.
    pub fn unknown_approval(request_id: &str) -> ApiError {
        ApiError::invalid(format!(
            "Unknown pending approval request: {}",
            echo(request_id)
        ))
    }

    /// `after` names nothing in the list, or in the log.
    pub fn unknown_cursor() -> ApiError {
        ApiError::invalid("'after' names nothing in this list.").at("after")
    }

    /// A body that is not JSON as we read it. `why` holds nothing of the body.
    pub fn bad_json(why: &str) -> ApiError {
        ApiError::invalid(format!(
            "We could not parse the JSON body of your request: {why}."
        ))
    }

    /// A body with another content type.
    pub fn bad_content_type() -> ApiError {
        ApiError::invalid(
            "Unsupported content type. This API method only accepts 'application/json' requests.",
        )
    }

    /// The body is compressed.
    pub fn bad_encoding() -> ApiError {
        let message = "Unsupported Content-Encoding. Send the body as it is.";
        ApiError::new(415, INVALID, Some("unsupported_encoding"), message)
    }

    /// The `OpenAI-Beta` header is not there. Checked before authentication.
    pub fn invalid_beta() -> ApiError {
        let message = "To use this endpoint, set the 'OpenAI-Beta' header to 'agents=v1'.";
        ApiError::new(400, "invalid_beta", Some("invalid_beta"), message)
    }

    // === 401 to 499 ===

    /// The key is missing, wrong, revoked or expired; which of these is not said.
    pub fn invalid_api_key() -> ApiError {
        ApiError::new(
            401,
            INVALID,
            Some("invalid_api_key"),
            "Incorrect API key provided.",
        )
    }

    /// The key is good but lacks a scope.
    pub fn missing_scope(scope: &str) -> ApiError {
        ApiError::new(
            403,
            INVALID,
            None,
            format!(
                "You have insufficient permissions for this operation. Missing scope: {scope}."
            ),
        )
    }

    /// What this deployment does for nobody who asks in this way.
    pub fn forbidden(message: impl Into<String>) -> ApiError {
        ApiError::new(403, INVALID, None, message)
    }

    /// A resource that is not there, is another tenant's, or has an impossible id: one answer for all.
    pub fn not_found(id: &str) -> ApiError {
        ApiError::new(
            404,
            "not_found_error",
            Some("not_found_error"),
            format!("No managed agent resource found: {}", echo(id)),
        )
    }

    /// An artifact that is not there; as [`ApiError::not_found`], in the words for artifacts.
    pub fn no_artifact(id: &str) -> ApiError {
        ApiError {
            message: format!("Session artifact {} was not found", echo(id)),
            ..ApiError::not_found(id)
        }
    }

    /// What only a session with an environment has.
    pub fn no_environment(session: &str) -> ApiError {
        ApiError {
            message: format!(
                "Session {} has no environment, and so no network",
                echo(session)
            ),
            ..ApiError::not_found(session)
        }
    }

    /// A path that is no endpoint.
    pub fn no_route() -> ApiError {
        ApiError::new(
            404,
            INVALID,
            Some("unknown_url"),
            "Unknown request URL. Please check the URL for typos.",
        )
    }

    /// An endpoint without that method.
    pub fn method_not_allowed(allow: &'static str) -> ApiError {
        let message = format!("Method not allowed. Supported methods are: {allow}.");
        let mut error = ApiError::new(405, INVALID, Some("method_not_allowed"), message);
        error.headers.push(("allow", allow.to_owned()));
        error
    }

    /// The state does not permit it, and trying again will not help.
    pub fn conflict(message: impl Into<String>) -> ApiError {
        ApiError::new(409, "conflict_error", Some("conflict_error"), message).should_retry(false)
    }

    /// Another result for a function call that has one, or one for a call whose turn is over.
    pub fn call_is_over(call_id: &str) -> ApiError {
        ApiError::conflict(format!(
            "function call {} does not wait for a result any more",
            echo(call_id)
        ))
    }

    /// Input for a session that will not run again.
    pub fn session_has_failed() -> ApiError {
        ApiError::conflict("the session has failed and takes no more input; its 'error' says why")
    }

    /// A session that cannot be deleted now.
    pub fn not_deletable() -> ApiError {
        ApiError::conflict(
            "session must be durably idle or failed without required actions before deletion",
        )
    }

    /// The state does not permit it now, and soon may.
    pub fn conflict_for_now(message: impl Into<String>) -> ApiError {
        ApiError::new(409, "conflict_error", Some("conflict_error"), message).should_retry(true)
    }

    /// The body is larger than `most` bytes.
    pub fn too_large(most: usize) -> ApiError {
        let message = format!("The request body is larger than {most} bytes.");
        ApiError::new(413, INVALID, Some("payload_too_large"), message).should_retry(false)
    }

    /// No byte of something that has `bytes` is in the range that was asked for.
    pub fn no_range(bytes: u64) -> ApiError {
        let message = "No byte is in the range that was asked for.";
        let mut error = ApiError::new(416, INVALID, Some("range_not_satisfiable"), message);
        error
            .headers
            .push(("content-range", format!("bytes */{bytes}")));
        error
    }

    /// A limit was reached; `seconds` until it is worth trying again.
    pub fn rate_limited(message: impl Into<String>, seconds: Option<u32>) -> ApiError {
        let mut error = ApiError::new(
            429,
            "rate_limit_error",
            Some("rate_limit_exceeded"),
            message,
        );
        error
            .headers
            .extend(seconds.map(|seconds| ("retry-after", seconds.to_string())));
        error
    }

    // === ours ===

    /// Our fault. What happened goes to the log under the request id, never to the client.
    pub fn internal() -> ApiError {
        let message = "The server had an error while processing your request. Sorry about that!";
        ApiError::new(500, "server_error", Some("internal_error"), message)
    }

    /// Not now.
    pub fn unavailable(message: impl Into<String>) -> ApiError {
        ApiError::new(503, "server_error", Some("service_unavailable"), message)
    }
}

#[cfg(test)]
mod tests;
