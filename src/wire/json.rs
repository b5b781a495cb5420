//! Reads a request body: JSON without the freedoms in which two readers may differ.
//!
//! Refused, each with a 400 and `param: null`: invalid UTF-8, a name twice in one object, nesting over
//! [`MAX_NESTING`], more than [`MAX_VALUES`] values, anything after the value, a lone surrogate. An empty body and `null`
//! are `{}`.
mod value;

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

pub use self::value::{Object, Value};
use super::{error::ApiError, MAX_BODY};

/// Deepest nesting of arrays and objects.
pub const MAX_NESTING: usize = 64;

/// Most values in a body, those in arrays and objects counted too. A value takes many times the memory of the two bytes
/// that it may have been, and the isolate has little.
pub const MAX_VALUES: u32 = 250_000;

/// Reads a body that must be an object; empty or `null` is an empty one.
pub fn parse_body(bytes: &[u8]) -> Result<Object, ApiError> {
    if bytes.len() > MAX_BODY {
        return Err(ApiError::too_large(MAX_BODY));
    }
    if bytes
        .iter()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
    {
        return Ok(Object::default());
    }
    match parse(bytes)? {
        Value::Null => Ok(Object::default()),
        Value::Object(members) => Ok(members),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(ApiError::bad_json("the body must be a JSON object"))
        }
    }
}

/// Reads one JSON value.
pub fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| ApiError::bad_json("it is not valid UTF-8"))?;
    let (refused, values) = (Cell::new(None), Cell::new(0));
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict {
        depth: 0,
        values: &values,
        refused: &refused,
    }
    .deserialize(&mut reader)
    .and_then(|value| reader.end().map(|()| value));
    // The reader's own words may quote the body, so they stay here.
    value.map_err(|_| ApiError::bad_json(refused.get().unwrap_or("it is not valid JSON")))
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    /// Arrays and objects around the value.
    depth: usize,
    /// Values so far.
    values: &'a Cell<u32>,
    /// Why the value was refused, when it is not JSON's fault.
    refused: &'a Cell<Option<&'static str>>,
}

impl Strict<'_> {
    fn refuse<E: Error>(self, why: &'static str) -> E {
        self.refused.set(Some(why));
        E::custom(why)
    }

    fn inside<E: Error>(self) -> Result<Self, E> {
        if self.depth == MAX_NESTING {
            return Err(self.refuse("it is nested too deeply"));
        }
        Ok(Strict {
            depth: self.depth + 1,
            ..self
        })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let values = self.values.get();
        if values == MAX_VALUES {
            return Err(self.refuse("it has too many values"));
        }
        self.values.set(values + 1);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number =
            Number::from_f64(value).ok_or_else(|| self.refuse::<E>("a number is out of range"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(inside)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            list.push((name, members.next_value_seed(inside)?));
        }
        let object = Object::new(list)
            .ok_or_else(|| self.refuse::<A::Error>("a name occurs twice in one object"))?;
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests;
