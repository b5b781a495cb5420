//! How it went.
use cloister_archive::store::StoreError;
use cloister_archive::{PackError, RestoreError, SaveError, UnpackError};
use cloister_protocol::self_test::{EXIT_LENIENT, EXIT_MUTE, EXIT_OPEN};

/// Why it was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command line is not understood.
    Usage,
    /// The workspace is not the one that was expected.
    Marker,
    /// The store did not accept a grant.
    Refused,
    /// A limit is exceeded.
    TooLarge,
    /// The archive is not valid.
    Invalid,
    /// The disk or the store.
    Failed,
    /// The border of the sandbox does not answer.
    Mute,
    /// It does not refuse what it must refuse.
    Lenient,
    /// Something gets past it.
    Open,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Marker => 10,
            Self::Refused => 11,
            Self::TooLarge => 12,
            Self::Invalid => 13,
            Self::Failed => 14,
            Self::Mute => EXIT_MUTE,
            Self::Lenient => EXIT_LENIENT,
            Self::Open => EXIT_OPEN,
        }
    }

    /// What it says.
    pub fn line(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Marker => "marker",
            Self::Refused => "refused",
            Self::TooLarge => "too_large",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
            Self::Mute => "mute",
            Self::Lenient => "lenient",
            Self::Open => "open",
        }
    }
}

impl From<std::io::Error> for Exit {
    fn from(_: std::io::Error) -> Self {
        Self::Failed
    }
}

impl From<StoreError> for Exit {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused => Self::Refused,
            StoreError::TooLarge => Self::TooLarge,
            StoreError::Failed(_) => Self::Failed,
        }
    }
}

impl From<SaveError> for Exit {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::Store(error) => error.into(),
            SaveError::Pack(PackError::TooLarge(_)) => Self::TooLarge,
            SaveError::Pack(PackError::Read(_) | PackError::Write(_)) => Self::Failed,
        }
    }
}

impl From<RestoreError> for Exit {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::Store(error) => error.into(),
            RestoreError::Unpack(UnpackError::TooLarge(_)) => Self::TooLarge,
            RestoreError::Unpack(UnpackError::Invalid(_)) => Self::Invalid,
            RestoreError::Unpack(UnpackError::Read(_) | UnpackError::Write(_)) => Self::Failed,
        }
    }
}
