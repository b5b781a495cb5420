//! JSON that was read.
use cloister_protocol::Json;
use serde::{Serialize, Serializer};
use serde_json::{value::RawValue, Number};

/// A JSON value. Members keep their order, because a model answers in the order of its schema.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The names say it.
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Value>),
    Object(Object),
}

/// The members of an object, in order. No name occurs twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(String, Value)>);

impl Value {
    /// Its JSON type, with the article.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(number) if number.is_f64() => "a decimal number",
            Value::Number(_) => "an integer",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }

    /// As compact text.
    pub fn to_json(&self) -> Json {
        // Only a map whose names are no strings fails; ours are.
        serde_json::value::to_raw_value(self)
            .unwrap_or_else(|_| RawValue::NULL.to_owned())
            .into()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl Object {
    /// Takes members in order. `None` if a name occurs twice.
    pub fn new(members: Vec<(String, Value)>) -> Option<Object> {
        let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let twice = names.windows(2).any(|pair| pair.first() == pair.last());
        (!twice).then_some(Object(members))
    }

    /// The member with this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Takes the member with this name out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// Name of the first member.
    pub fn first_name(&self) -> Option<&str> {
        self.0.first().map(|(name, _)| name.as_str())
    }

    /// How many members it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(elements) => serializer.collect_seq(elements),
            Value::Object(Object(members)) => {
                serializer.collect_map(members.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}
