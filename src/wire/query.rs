//! Queries of lists and streams, read from the raw query string.
//!
//! Keys that an endpoint does not have are ignored, whatever they hold. A scalar key that it has may occur once. Percent
//! escapes are decoded, `+` is a space; a broken escape or invalid UTF-8 in a known key's value is a 400.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{error::ApiError, fields};

/// Rows of a page unless `limit` says otherwise.
pub const DEFAULT_LIMIT: u32 = 20;
/// Most rows of a page.
pub const MAX_LIMIT: u32 = 100;

/// A list's query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListQuery {
    /// The id after which the page begins.
    pub after: Option<String>,
    /// Rows of the page, 1 to 100.
    pub limit: u32,
    /// The direction.
    pub order: Order,
}

/// A list's direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Oldest first.
    Ascending,
    /// Newest first.
    #[default]
    Descending,
}

/// What a list does with a `limit` outside 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfRange {
    /// Agents, sessions, turns, subagents and artifacts: 400.
    Refuse,
    /// Items: the nearest that is in range.
    Clamp,
}

/// The query of the list of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionListQuery {
    /// The page.
    pub page: ListQuery,
    /// Only sessions of this saved agent.
    pub agent_id: Option<String>,
    /// Only sessions with all of these in their metadata.
    pub metadata: BTreeMap<String, String>,
}

impl ListQuery {
    /// Reads the query of a list of agents, turns or subagents ([`OutOfRange::Refuse`]) or items ([`OutOfRange::Clamp`]).
    pub fn read(raw: &str, out_of_range: OutOfRange) -> Result<ListQuery, ApiError> {
        ListQuery::take(
            &mut Pairs::of(raw, &["after", "limit", "order"], false)?,
            out_of_range,
        )
    }

    fn take(pairs: &mut Pairs, out_of_range: OutOfRange) -> Result<ListQuery, ApiError> {
        let after = pairs.take("after", 1, MAX_ID)?;
        let limit = match pairs.scalars.remove("limit") {
            None => DEFAULT_LIMIT,
            Some(text) => limit(&text, out_of_range)?,
        };
        let words = [("asc", Order::Ascending), ("desc", Order::Descending)];
        let order = match pairs.scalars.remove("order") {
            None => Order::default(),
            Some(text) => fields::one_of(text.into(), "order", &words)?,
        };
        Ok(ListQuery {
            after,
            limit,
            order,
        })
    }
}

/// Longest id that is looked at.
const MAX_ID: usize = 256;

impl SessionListQuery {
    /// Reads the query.
    pub fn read(raw: &str) -> Result<SessionListQuery, ApiError> {
        let mut pairs = Pairs::of(raw, &["after", "limit", "order", "agent_id"], true)?;
        let page = ListQuery::take(&mut pairs, OutOfRange::Refuse)?;
        let agent_id = pairs.take("agent_id", 1, 64)?;
        if pairs.metadata.len() > 16 {
            return Err(ApiError::wrong_length(
                "metadata",
                "map",
                0,
                16,
                pairs.metadata.len(),
            ));
        }
        Ok(SessionListQuery {
            page,
            agent_id,
            metadata: pairs.metadata,
        })
    }
}

/// The query of the list of artifacts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactListQuery {
    /// The page.
    pub page: ListQuery,
    /// Only artifacts of this environment.
    pub environment_id: Option<String>,
}

impl ArtifactListQuery {
    /// Reads the query. An empty `environment_id` is how clients write `null`.
    pub fn read(raw: &str) -> Result<ArtifactListQuery, ApiError> {
        let mut pairs = Pairs::of(raw, &["after", "limit", "order", "environment_id"], false)?;
        let page = ListQuery::take(&mut pairs, OutOfRange::Refuse)?;
        let environment_id = pairs
            .take("environment_id", 0, MAX_ID)?
            .filter(|id| !id.is_empty());
        Ok(ArtifactListQuery {
            page,
            environment_id,
        })
    }
}

/// The query of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsQuery {
    /// Our extension: the id of an event, after which the stream begins. Without it the stream begins now.
    pub after: Option<String>,
}

impl EventsQuery {
    /// Reads the query. `include_obfuscation` is judged, but padding is never sent. `stream` and all else is ignored.
    pub fn read(raw: &str) -> Result<EventsQuery, ApiError> {
        let mut pairs = Pairs::of(raw, &["after", "include_obfuscation"], false)?;
        if let Some(text) = pairs.scalars.remove("include_obfuscation") {
            let words = [("true", ()), ("false", ())];
            fields::one_of(text.into(), "include_obfuscation", &words)?;
        }
        let after = pairs.take("after", 1, MAX_ID)?;
        Ok(EventsQuery { after })
    }
}

fn limit(text: &str, out_of_range: OutOfRange) -> Result<u32, ApiError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ApiError::wrong_type("limit", "an integer", "a string"));
    }
    // What does not fit is far out of range on its side.
    let side = if text.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    let value = text.parse::<i64>().unwrap_or(side);
    let clamped = value.clamp(1, i64::from(MAX_LIMIT));
    if clamped != value && out_of_range == OutOfRange::Refuse {
        return Err(ApiError::invalid("limit must be between 1 and 100").at("limit"));
    }
    Ok(u32::try_from(clamped).unwrap_or(DEFAULT_LIMIT))
}

/// The known pairs of a query.
struct Pairs {
    scalars: BTreeMap<&'static str, String>,
    metadata: BTreeMap<String, String>,
}

impl Pairs {
    fn of(raw: &str, scalars: &[&'static str], with_metadata: bool) -> Result<Pairs, ApiError> {
        let mut pairs = Pairs {
            scalars: BTreeMap::new(),
            metadata: BTreeMap::new(),
        };
        for pair in raw.split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let Some(key) = decode(key) else { continue };
            if let Some(name) = scalars.iter().find(|name| **name == key) {
                if pairs.scalars.insert(name, decoded(value, name)?).is_some() {
                    return Err(
                        ApiError::invalid(format!("Duplicate query parameter: '{name}'.")).at(name),
                    );
                }
                continue;
            }
            let Some(key) = key
                .strip_prefix("metadata[")
                .and_then(|key| key.strip_suffix(']'))
            else {
                continue;
            };
            if !with_metadata {
                continue;
            }
            let length = key.chars().count();
            if length == 0 || length > 64 {
                return Err(ApiError::wrong_length("metadata", "key", 1, 64, length));
            }
            let path = fields::join("metadata", key);
            let value = fields::string(decoded(value, &path)?.into(), &path, 0, 512)?;
            if pairs.metadata.insert(key.to_owned(), value).is_some() {
                return Err(ApiError::invalid("Duplicate query parameter: 'metadata'.").at(&path));
            }
        }
        Ok(pairs)
    }

    fn take(&mut self, name: &str, least: usize, most: usize) -> Result<Option<String>, ApiError> {
        self.scalars
            .remove(name)
            .map(|text| fields::string(text.into(), name, least, most))
            .transpose()
    }
}

fn decoded(text: &str, path: &str) -> Result<String, ApiError> {
    decode(text).ok_or_else(|| {
        ApiError::invalid(format!("Invalid '{path}': malformed percent-encoding.")).at(path)
    })
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? << 4 | digit()?).ok()?
            }
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
