//! What is wrong about vaults, as it is answered.
use crate::vault::{BindError, ChoiceError, RotationError};
use crate::wire::error::ApiError;

impl From<ChoiceError> for ApiError {
    fn from(error: ChoiceError) -> Self {
        match &error {
            ChoiceError::NoVault(id) => ApiError::not_found(id),
            ChoiceError::NoVaults
            | ChoiceError::NotAttached(_)
            | ChoiceError::OtherServer { .. } => ApiError::invalid(error.to_string()),
            ChoiceError::Several(_) => ApiError::conflict(error.to_string()),
        }
    }
}

impl From<BindError> for ApiError {
    fn from(error: BindError) -> Self {
        ApiError::invalid(error.to_string()).at("vault_ids")
    }
}

impl From<RotationError> for ApiError {
    fn from(error: RotationError) -> Self {
        let path = match error {
            RotationError::OtherKind => "auth.type",
            RotationError::NoRefresh => "auth.refresh",
            RotationError::OtherMethod => "auth.refresh.token_endpoint_auth.type",
        };
        ApiError::invalid(format!("Invalid '{path}': {error}.")).at(path)
    }
}
