//! Why a model request was refused.
use std::fmt;

/// A refusal. It holds nothing that the harness chose, so it may be logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// Where: known member names only, as in `input[].content[].image_url`; a name we do not know is `?`.
    pub field: String,
    /// How many bytes of the body were read before the one that decided.
    pub offset: u64,
}

/// The stable codes of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The bytes are not strict JSON in UTF-8, or end too soon.
    NotJson,
    /// The body is JSON, but no object.
    NotAnObject,
    /// More bytes than the cap.
    TooLarge,
    /// More nesting than [`MAX_DEPTH`](super::MAX_DEPTH).
    TooDeep,
    /// A member that may not be sent.
    FieldNotAllowed,
    /// A member twice in one object.
    FieldRepeated,
    /// A member that must be there is not.
    FieldMissing,
    /// A member with a value that may not be sent, or of the wrong type.
    ValueNotAllowed,
}

impl Code {
    /// The code as logs and error bodies show it.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::NotJson => "not_json",
            Code::NotAnObject => "not_an_object",
            Code::TooLarge => "body_too_large",
            Code::TooDeep => "too_deep",
            Code::FieldNotAllowed => "field_not_allowed",
            Code::FieldRepeated => "field_repeated",
            Code::FieldMissing => "field_missing",
            Code::ValueNotAllowed => "value_not_allowed",
        }
    }

    /// The HTTP status to answer with. Never one that the harness would retry.
    pub fn status(self) -> u16 {
        match self {
            Code::TooLarge => 413,
            Code::NotJson
            | Code::NotAnObject
            | Code::TooDeep
            | Code::FieldNotAllowed
            | Code::FieldRepeated
            | Code::FieldMissing
            | Code::ValueNotAllowed => 400,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.code.as_str(), self.offset)?;
        if self.field.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", self.field)
    }
}

impl std::error::Error for Refusal {}
