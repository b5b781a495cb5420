//! JSON Schemas that clients send.
use cloister_protocol::Json;

use crate::wire::{
    error::ApiError,
    fields::Fields,
    json::{Object, Value},
};

/// Most members of a schema's root.
const MAX_MEMBERS: usize = 1_024;

/// Takes a schema that must be there. Only what is needed to hand it on is judged: its root describes an object.
pub(super) fn read(fields: &mut Fields, name: &str) -> Result<Json, ApiError> {
    let path = fields.path_of(name);
    let value = fields.require(name)?;
    let Value::Object(root) = &value else {
        return Err(ApiError::wrong_type(&path, "an object", value.type_name()));
    };
    check(root, &path)?;
    Ok(value.to_json())
}

fn check(root: &Object, path: &str) -> Result<(), ApiError> {
    if root.len() > MAX_MEMBERS {
        return Err(ApiError::wrong_length(
            path,
            "map",
            0,
            MAX_MEMBERS,
            root.len(),
        ));
    }
    match root.get("type") {
        Some(Value::String(word)) if word == "object" => Ok(()),
        _ => Err(ApiError::invalid(format!(
            "Invalid '{path}': the root of the schema must have the type 'object'."
        ))
        .at(path)),
    }
}
