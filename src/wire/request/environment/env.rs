//! `environment.env`. No error repeats a value.
use crate::environment::{variable::name_flaw, Confidential};
use crate::wire::error::{echo, ApiError};
use crate::wire::fields::{self, join, Fields};
use crate::wire::json::Value;
use std::collections::BTreeMap;

/// Most variables.
const MAX_VARIABLES: usize = 64;
/// Longest value, bytes.
const MAX_VALUE: usize = 32 << 10;
/// Most bytes of all names and values together.
const MAX_ALL: usize = 256 << 10;

pub(super) fn take(environment: &mut Fields) -> Result<BTreeMap<String, Confidential>, ApiError> {
    let path = environment.path_of("env");
    let variable = |(name, value): (String, Value)| {
        let at = join(&path, &name);
        if let Some(flaw) = name_flaw(&name) {
            let text = format!("Invalid name in '{path}': '{}': {flaw}.", echo(&name));
            return Err(ApiError::invalid(text).at(&at));
        }
        let value = fields::string_of_bytes(value, &at, 0, MAX_VALUE)?;
        Ok((name, Confidential(value)))
    };
    let members = environment.map("env", MAX_VARIABLES)?;
    let variables: BTreeMap<_, _> = members
        .into_iter()
        .map(variable)
        .collect::<Result<_, _>>()?;
    let all = variables
        .iter()
        .map(|(name, value)| name.len() + value.0.len())
        .sum();
    if all > MAX_ALL {
        return Err(ApiError::too_many_bytes(&path, MAX_ALL, all));
    }
    Ok(variables)
}
