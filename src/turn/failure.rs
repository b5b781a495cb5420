//! Why turns and environments fail: the harness's codes as those of the API, and a text for each.
use crate::environment::EnvironmentFault;
use crate::wire::turn::TurnErrorCode;
use cloister_protocol::FailureCode;

/// The API's code for a failure of the harness.
pub fn error_code(code: FailureCode) -> TurnErrorCode {
    match code {
        FailureCode::ContextLengthExceeded => TurnErrorCode::ContextLengthExceeded,
        FailureCode::MaxOutputTokens => TurnErrorCode::MaxOutputTokens,
        FailureCode::UsageLimitExceeded => TurnErrorCode::UsageLimitExceeded,
        FailureCode::RateLimitExceeded => TurnErrorCode::RateLimitExceeded,
        FailureCode::ServerOverloaded => TurnErrorCode::ServerOverloaded,
        FailureCode::CyberPolicy => TurnErrorCode::CyberPolicy,
        FailureCode::ConnectionFailed => TurnErrorCode::ConnectionFailed,
        FailureCode::ServerError => TurnErrorCode::ServerError,
        FailureCode::AuthenticationError => TurnErrorCode::AuthenticationError,
        FailureCode::InvalidRequest => TurnErrorCode::InvalidRequest,
        FailureCode::SandboxError => TurnErrorCode::SandboxError,
        FailureCode::FlexUnavailable => TurnErrorCode::FlexUnavailable,
        FailureCode::MisalignmentPolicyViolation => TurnErrorCode::MisalignmentPolicyViolation,
        FailureCode::ResourceNotFound => TurnErrorCode::ResourceNotFound,
        FailureCode::ActiveTurnNotSteerable => TurnErrorCode::ActiveTurnNotSteerable,
        FailureCode::RequestTimeout => TurnErrorCode::RequestTimeout,
        FailureCode::InternalError => TurnErrorCode::InternalError,
    }
}

/// What a code means, for people.
pub fn error_text(code: TurnErrorCode) -> &'static str {
    match code {
        TurnErrorCode::ContextLengthExceeded => {
            "The conversation is longer than the model can read."
        }
        TurnErrorCode::MaxOutputTokens => "The turn reached its output limit.",
        TurnErrorCode::UsageLimitExceeded => "The model provider's quota is used up.",
        TurnErrorCode::RateLimitExceeded => "The model provider limits the rate of requests.",
        TurnErrorCode::ServerOverloaded => "The model provider is overloaded.",
        TurnErrorCode::CyberPolicy => "The model provider's policy stopped the turn.",
        TurnErrorCode::ConnectionFailed => "The model provider could not be reached.",
        TurnErrorCode::ServerError => "The model provider failed.",
        TurnErrorCode::AuthenticationError => {
            "The model provider refused the gateway's credential."
        }
        TurnErrorCode::InvalidRequest => "The model provider or the gateway refused the request.",
        TurnErrorCode::SandboxError => {
            "The session's containers did not start or were lost, or what the turn had made could not be stored."
        }
        TurnErrorCode::RequestTimeout => "The turn ran longer than the deployment allows.",
        TurnErrorCode::FlexUnavailable => "The model provider has no capacity in the flex tier.",
        TurnErrorCode::MisalignmentPolicyViolation => {
            "The model provider's policy stopped the turn."
        }
        TurnErrorCode::ResourceNotFound => "The model provider does not have the model.",
        TurnErrorCode::InternalError => {
            "The harness failed, a request of it was refused, or it was lost; what it had done of the turn is unknown."
        }
        TurnErrorCode::SessionBudgetExceeded
        | TurnErrorCode::ProjectSpendLimitExceeded
        | TurnErrorCode::OrganizationSpendLimitExceeded
        | TurnErrorCode::OrganizationUsageLimitExceeded
        | TurnErrorCode::BillingNotActive
        | TurnErrorCode::CreditBalanceExhausted
        | TurnErrorCode::ExecutorVersionIncompatible
        | TurnErrorCode::ActiveTurnNotSteerable => "The turn failed.",
    }
}

/// Why an environment cannot be made, for people.
pub fn environment_text(fault: EnvironmentFault) -> String {
    let why = match fault {
        EnvironmentFault::SetupFailed {
            command,
            exit_code: Some(code),
        } => format!("script \"setup_commands[{command}]\" failed with exit code {code}"),
        EnvironmentFault::SetupFailed {
            command,
            exit_code: None,
        } => format!("script \"setup_commands[{command}]\" was stopped before it ended"),
        EnvironmentFault::NotIsolated => {
            "the isolation of the sandbox's network could not be confirmed".to_owned()
        }
    };
    format!("Failed to provision environment: {why}")
}
