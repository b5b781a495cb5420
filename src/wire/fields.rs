//! Reads a JSON object member by member, and knows the path of each for `error.param`.
//!
//! Take the members that are known, then call [`Fields::finish`]: what is left is unknown.
use std::collections::BTreeMap;

use super::{
    error::ApiError,
    json::{Object, Value},
};

/// An object that is being read.
#[derive(Debug)]
pub struct Fields {
    /// The path of the object; empty for the body.
    path: String,
    members: Object,
}

/// Joins a path and a member's name.
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

impl Fields {
    /// Begins with the body.
    pub fn body(members: Object) -> Fields {
        Fields {
            path: String::new(),
            members,
        }
    }

    /// Begins with a value that must be an object.
    pub fn of(value: Value, path: String) -> Result<Fields, ApiError> {
        match value {
            Value::Object(members) => Ok(Fields { path, members }),
            other => Err(ApiError::wrong_type(&path, "an object", other.type_name())),
        }
    }

    /// The path of a member.
    pub fn path_of(&self, name: &str) -> String {
        join(&self.path, name)
    }

    /// Ends the reading.
    pub fn finish(self) -> Result<(), ApiError> {
        match self.members.first_name() {
            Some(name) => Err(ApiError::unknown(&self.path_of(name))),
            None => Ok(()),
        }
    }

    /// Whether a member is there.
    pub fn has(&self, name: &str) -> bool {
        self.members.get(name).is_some()
    }

    /// Takes a member; `null` is like not there.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.members
            .remove(name)
            .filter(|value| *value != Value::Null)
    }

    /// Refuses `null` for a member that may be left out but has no null form.
    pub fn not_null(&self, name: &str, expected: &str) -> Result<(), ApiError> {
        match self.members.get(name) {
            Some(Value::Null) => Err(ApiError::wrong_type(&self.path_of(name), expected, "null")),
            Some(_) | None => Ok(()),
        }
    }

    /// Takes a member that may be left out but has no null form, and is an object.
    pub fn object_not_null(&mut self, name: &str) -> Result<Option<Fields>, ApiError> {
        self.not_null(name, "an object")?;
        self.object(name)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Takes a member that must be there.
    pub fn require(&mut self, name: &str) -> Result<Value, ApiError> {
        self.members
            .remove(name)
            .ok_or_else(|| ApiError::missing(&self.path_of(name)))
    }

    /// Takes a string of `least` to `most` characters.
    pub fn string(
        &mut self,
        name: &str,
        least: usize,
        most: usize,
    ) -> Result<Option<String>, ApiError> {
        self.take(name)
            .map(|value| string(value, &self.path_of(name), least, most))
            .transpose()
    }

    /// Takes a string that must be there.
    pub fn required_string(
        &mut self,
        name: &str,
        least: usize,
        most: usize,
    ) -> Result<String, ApiError> {
        let value = self.require(name)?;
        string(value, &self.path_of(name), least, most)
    }

    /// Takes one of a closed set of words.
    pub fn one_of<T: Copy>(
        &mut self,
        name: &str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, ApiError> {
        self.take(name)
            .map(|value| one_of(value, &self.path_of(name), words))
            .transpose()
    }

    /// Takes one of a closed set of words that must be there, usually a `type`.
    pub fn required_one_of<T: Copy>(
        &mut self,
        name: &str,
        words: &[(&'static str, T)],
    ) -> Result<T, ApiError> {
        let value = self.require(name)?;
        one_of(value, &self.path_of(name), words)
    }

    /// Takes a boolean.
    pub fn boolean(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(other) => Err(ApiError::wrong_type(
                &self.path_of(name),
                "a boolean",
                other.type_name(),
            )),
        }
    }

    /// Takes a boolean that must be there.
    pub fn required_boolean(&mut self, name: &str) -> Result<bool, ApiError> {
        self.not_null(name, "a boolean")?;
        self.boolean(name)?
            .ok_or_else(|| ApiError::missing(&self.path_of(name)))
    }

    /// Takes an integer of `least` to `most`.
    pub fn integer(&mut self, name: &str, least: i64, most: i64) -> Result<Option<i64>, ApiError> {
        self.take(name)
            .map(|value| integer(value, &self.path_of(name), least, most))
            .transpose()
    }

    /// Takes an object.
    pub fn object(&mut self, name: &str) -> Result<Option<Fields>, ApiError> {
        self.take(name)
            .map(|value| Fields::of(value, self.path_of(name)))
            .transpose()
    }

    /// Takes an array of at most `most` elements, each with its path.
    pub fn array(
        &mut self,
        name: &str,
        most: usize,
    ) -> Result<Option<Vec<(Value, String)>>, ApiError> {
        self.take(name)
            .map(|value| array(value, &self.path_of(name), most))
            .transpose()
    }

    /// Refuses members that the API has and this deployment does not build yet, unless they are `null`.
    pub fn unsupported(&mut self, names: &[&str]) -> Result<(), ApiError> {
        match names.iter().find(|name| self.take(name).is_some()) {
            Some(name) => Err(ApiError::unsupported(&self.path_of(name))),
            None => Ok(()),
        }
    }

    /// As [`Fields::unsupported`], for lists: an empty one is fine.
    pub fn unsupported_list(&mut self, name: &str) -> Result<(), ApiError> {
        match self.array(name, usize::MAX)? {
            Some(elements) if !elements.is_empty() => {
                Err(ApiError::unsupported(&self.path_of(name)))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Takes a map of strings: at most 16, names of 1 to 64 characters, values of at most 512.
    pub fn metadata(&mut self, name: &str) -> Result<BTreeMap<String, String>, ApiError> {
        let path = self.path_of(name);
        let member = |(key, value): (String, Value)| {
            let length = key.chars().count();
            if length == 0 || length > 64 {
                return Err(ApiError::wrong_length(&path, "key", 1, 64, length));
            }
            if key.contains('\0') {
                return Err(ApiError::bad_character(&path));
            }
            let value = string(value, &join(&path, &key), 0, 512)?;
            Ok((key, value))
        };
        self.map(name, 16)?.into_iter().map(member).collect()
    }

    /// Takes a map of at most `most` members, whose names are the client's; none is an empty one.
    pub fn map(&mut self, name: &str, most: usize) -> Result<Vec<(String, Value)>, ApiError> {
        let Some(map) = self.object(name)? else {
            return Ok(Vec::new());
        };
        let count = map.members.len();
        if count > most {
            return Err(ApiError::wrong_length(&map.path, "map", 0, most, count));
        }
        Ok(map.members.into_iter().collect())
    }
}

/// A value that must be a string of `least` to `most` characters.
pub fn string(value: Value, path: &str, least: usize, most: usize) -> Result<String, ApiError> {
    let Value::String(text) = value else {
        return Err(ApiError::wrong_type(path, "a string", value.type_name()));
    };
    let length = text.chars().count();
    if length < least || length > most {
        return Err(ApiError::wrong_length(path, "string", least, most, length));
    }
    if text.contains('\0') {
        return Err(ApiError::bad_character(path));
    }
    Ok(text)
}

/// A value that must be a string of `least` to `most` bytes.
pub fn string_of_bytes(
    value: Value,
    path: &str,
    least: usize,
    most: usize,
) -> Result<String, ApiError> {
    let text = string(value, path, least, most)?;
    if text.len() > most {
        return Err(ApiError::too_many_bytes(path, most, text.len()));
    }
    Ok(text)
}

/// A value that must be an integer of `least` to `most`. `1.0` is none.
pub fn integer(value: Value, path: &str, least: i64, most: i64) -> Result<i64, ApiError> {
    let Value::Number(number) = &value else {
        return Err(ApiError::wrong_type(path, "an integer", value.type_name()));
    };
    if number.is_f64() {
        return Err(ApiError::wrong_type(path, "an integer", value.type_name()));
    }
    // Only an integer beyond i64 is neither.
    let integer = number.as_i64().unwrap_or(i64::MAX);
    if integer < least {
        return Err(ApiError::below(path, least, integer));
    }
    if integer > most {
        return Err(ApiError::above(path, most, integer));
    }
    Ok(integer)
}

/// A value that must be one of a closed set of words.
pub fn one_of<T: Copy>(
    value: Value,
    path: &str,
    words: &[(&'static str, T)],
) -> Result<T, ApiError> {
    let Value::String(text) = value else {
        return Err(ApiError::wrong_type(path, "a string", value.type_name()));
    };
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let supported: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        ApiError::not_one_of(path, &text, &supported)
    })
}

/// A value that must be an array of at most `most` elements; each is returned with its path.
pub fn array(value: Value, path: &str, most: usize) -> Result<Vec<(Value, String)>, ApiError> {
    let Value::Array(elements) = value else {
        return Err(ApiError::wrong_type(path, "an array", value.type_name()));
    };
    if elements.len() > most {
        return Err(ApiError::wrong_length(
            path,
            "array",
            0,
            most,
            elements.len(),
        ));
    }
    Ok(elements
        .into_iter()
        .enumerate()
        .map(|(index, element)| (element, format!("{path}[{index}]")))
        .collect())
}

#[cfg(test)]
mod tests;
