//! Reads a request body: JSON without the freedoms in which two readers may differ.
//!
//! Refused, each with a 400 and `param: null`: invalid UTF-8, a name twice in one object, nesting over
//! [`MAX_NESTING`], anything after the value, a lone surrogate. An empty body and `null` are `{}`.
use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{error::ApiError, MAX_BODY};

/// Deepest nesting of arrays and objects.
pub const MAX_NESTING: usize = 64;

/// Reads a body that must be an object; empty or `null` is an empty one.
pub fn parse_body(bytes: &[u8]) -> Result<Map<String, Value>, ApiError> {
    if bytes.len() > MAX_BODY {
        return Err(ApiError::too_large(MAX_BODY));
    }
    if bytes
        .iter()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
    {
        return Ok(Map::new());
    }
    match parse(bytes)? {
        Value::Null => Ok(Map::new()),
        Value::Object(members) => Ok(members),
        _ => Err(ApiError::bad_json("the body must be a JSON object")),
    }
}

/// Reads one JSON value.
pub fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| ApiError::bad_json("it is not valid UTF-8"))?;
    let refused = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict {
        depth: 0,
        refused: &refused,
    }
    .deserialize(&mut reader)
    .and_then(|value| reader.end().map(|()| value));
    // The reader's own words may quote the body, so they stay here.
    value.map_err(|_| ApiError::bad_json(refused.get().unwrap_or("it is not valid JSON")))
}

/// The JSON type of a value, with its article.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    /// Arrays and objects around the value.
    depth: usize,
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
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number =
            Number::from_f64(value).ok_or_else(|| self.refuse::<E>("a number is out of range"))?;
        Ok(number.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(inside)? {
            list.push(element);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if map.contains_key(&name) {
                return Err(self.refuse("a name occurs twice in one object"));
            }
            let value = members.next_value_seed(inside)?;
            map.insert(name, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reads_what_serde_json_reads() {
        for text in [
            "null",
            " true ",
            "[1,-1,1.5,1e3,18446744073709551615,-9223372036854775808]",
            r#"{"a":{"b":[{}]},"c":"\u00e9\ud83d\ude00"}"#,
            r#""\u0000""#,
        ] {
            assert_eq!(
                parse(text.as_bytes()).unwrap(),
                serde_json::from_str::<Value>(text).unwrap()
            );
        }
    }

    #[test]
    fn an_empty_body_is_an_empty_object() {
        for body in ["", " \r\n\t", "null", " null ", "{}"] {
            assert_eq!(parse_body(body.as_bytes()).unwrap(), Map::new());
        }
    }

    #[test]
    fn refuses_the_rest() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(deep(MAX_NESTING).as_bytes()).is_ok());
        for (body, why) in [
            (
                "{\"a\":1,\"a\":2}".to_owned(),
                "a name occurs twice in one object",
            ),
            (
                "[{\"x\":{\"a\":1,\"\\u0061\":2}}]".into(),
                "a name occurs twice in one object",
            ),
            (deep(MAX_NESTING + 1), "it is nested too deeply"),
            (deep(100_000), "it is nested too deeply"),
            ("{\"a\":".repeat(100_000), "it is nested too deeply"),
            ("{} {}".into(), "it is not valid JSON"),
            ("{}x".into(), "it is not valid JSON"),
            ("{,}".into(), "it is not valid JSON"),
            ("\"\\ud800\"".into(), "it is not valid JSON"),
            ("[1e999]".into(), "it is not valid JSON"),
            ("NaN".into(), "it is not valid JSON"),
            ("\u{feff}{}".into(), "it is not valid JSON"),
            ("\"a\nb\"".into(), "it is not valid JSON"),
        ] {
            let error = parse(body.as_bytes()).unwrap_err();
            assert_eq!(
                error.message,
                format!("We could not parse the JSON body of your request: {why}.")
            );
            assert_eq!((error.status, error.param), (400, None));
        }
        assert_eq!(
            parse(b"\"\xff\"").unwrap_err(),
            ApiError::bad_json("it is not valid UTF-8")
        );
        for body in ["[]", "1", "\"\"", "false"] {
            assert_eq!(
                parse_body(body.as_bytes()).unwrap_err(),
                ApiError::bad_json("the body must be a JSON object")
            );
        }
        assert_eq!(
            parse_body(&vec![b' '; MAX_BODY + 1]).unwrap_err().status,
            413
        );
    }
}
