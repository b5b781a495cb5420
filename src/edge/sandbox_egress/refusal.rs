//! Refusals, in words that a model can act on.
use crate::edge::log;
use crate::policy::{Denial, Reason};
use cloister_protocol::self_test::{DENIED_HOST, EGRESS_HEADER};
use worker::{Response, Result};

/// The header that says that an answer is the gateway's own, with its code.
pub const HEADER: &str = EGRESS_HEADER;

/// A request that the policy refuses.
pub struct Refused {
    /// The host; empty if none could be read.
    pub host: String,
    /// The port; 0 if none could be read.
    pub port: u16,
    /// The reason's code.
    pub code: &'static str,
    status: u16,
    why: &'static str,
    how: &'static str,
    message: String,
}

impl Refused {
    /// Takes what is said of it out of a decision.
    pub fn of(denial: &Denial<'_>) -> Self {
        Self {
            host: denial
                .host
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            port: denial.port.unwrap_or_default(),
            code: denial.reason.code(),
            status: denial.reason.status(),
            why: denial.reason.why(),
            how: denial.how(),
            message: denial.to_string(),
        }
    }
}

/// The answer to what the policy refuses.
pub fn refuse(refused: Refused) -> Result<web_sys::Response> {
    // A self-test has to be refused: nobody needs to know.
    if refused.host != DENIED_HOST {
        log::event("sandbox_egress_refused", &[("reason", refused.code)]);
    }
    let body = serde_json::json!({
        "code": refused.code,
        "host": refused.host,
        "reason": refused.why,
        "how": refused.how,
        "message": refused.message,
    });
    answer(refused.status, refused.code, &body)
}

/// Why a request was not sent on, or had no answer, other than by its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection has no identity of this deployment's making, or an old one.
    Identity(&'static str),
    /// It belongs to a container or to a set-up that is over.
    StaleEpoch,
    /// The policy cannot be had.
    PolicyUnavailable,
    /// It is no self-test that is going on.
    NoSelfTest,
    /// A GET or HEAD with a body.
    BodyWithGet,
    /// The policy was replaced, and refuses it.
    PolicyReplaced,
    /// Its sandbox has more requests under way than are watched.
    TooManyUnderWay,
    /// The host does not answer.
    Unreachable,
}

impl Fault {
    /// Stable code for bodies, headers, logs and the audit.
    pub fn code(self) -> &'static str {
        match self {
            Self::Identity(code) => code,
            Self::StaleEpoch => "stale_epoch",
            Self::PolicyUnavailable => "policy_unavailable",
            Self::NoSelfTest => Reason::NameReserved.code(),
            Self::BodyWithGet => "body_with_get",
            Self::PolicyReplaced => "policy_replaced",
            Self::TooManyUnderWay => "too_many_under_way",
            Self::Unreachable => "upstream_unreachable",
        }
    }

    fn status(self) -> u16 {
        match self {
            Self::Identity(_) | Self::StaleEpoch | Self::NoSelfTest | Self::PolicyReplaced => 403,
            Self::BodyWithGet => 400,
            Self::TooManyUnderWay => 429,
            Self::Unreachable => 502,
            Self::PolicyUnavailable => 503,
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Identity(_) => "Refused by the gateway.",
            Self::StaleEpoch => "This request belongs to a container or to a set-up that is over.",
            Self::PolicyUnavailable => {
                "This sandbox's network policy cannot be had now. Try again."
            }
            Self::NoSelfTest => Reason::NameReserved.why(),
            Self::BodyWithGet => {
                "A GET or HEAD request with a body is not sent on. Use another method."
            }
            Self::PolicyReplaced => {
                "This sandbox's network policy was replaced, and refuses this request."
            }
            Self::TooManyUnderWay => {
                "This sandbox has too many requests and WebSockets open at once. Close some, then try again."
            }
            Self::Unreachable => {
                "The host could not be reached, or did not answer in HTTP. Try again, or work without it."
            }
        }
    }
}

/// The answer to it.
pub fn fail(fault: Fault) -> Result<web_sys::Response> {
    let code = fault.code();
    log::event("sandbox_egress_refused", &[("reason", code)]);
    let body = serde_json::json!({ "code": code, "message": fault.message() });
    answer(fault.status(), code, &body)
}

fn answer(status: u16, code: &str, body: &serde_json::Value) -> Result<web_sys::Response> {
    let answer = Response::builder().with_status(status);
    Ok(answer.with_header(HEADER, code)?.from_json(body)?.into())
}
