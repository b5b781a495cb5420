use serde::{Deserialize, Serialize};

use crate::wire::{error::ApiError, fields::Fields};

/// What a request does to a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change<T> {
    /// Nothing: the request does not have the member.
    #[default]
    Keep,
    /// Puts this in its place.
    Set(T),
}

impl<T> Change<T> {
    /// Does it.
    pub fn apply(self, value: &mut T) {
        if let Change::Set(new) = self {
            *value = new;
        }
    }

    /// Whether it does nothing.
    pub fn is_keep(&self) -> bool {
        matches!(self, Change::Keep)
    }

    /// Reads a member with `read`, if the request has it, be it null.
    pub(super) fn of(
        fields: &mut Fields,
        name: &str,
        read: impl FnOnce(&mut Fields) -> Result<T, ApiError>,
    ) -> Result<Change<T>, ApiError> {
        if fields.has(name) {
            read(fields).map(Change::Set)
        } else {
            Ok(Change::Keep)
        }
    }
}
