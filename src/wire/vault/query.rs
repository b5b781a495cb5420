use crate::wire::error::ApiError;
use crate::wire::fields;
use crate::wire::query::{ListQuery, SessionListQuery};
use std::collections::BTreeMap;

/// The query of the lists of vaults and of credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultListQuery {
    /// The page.
    pub page: ListQuery,
    /// Only those with all of these in their metadata.
    pub metadata: BTreeMap<String, String>,
    /// Whether those that are active are wanted. Nothing is ever archived: without them the list is empty.
    pub active: bool,
}

/// How clients write the name of the filter; the brackets may be escaped.
const STATUS: [&str; 3] = ["status", "status[]", "status%5b%5d"];

impl VaultListQuery {
    /// Reads the query.
    pub fn read(raw: &str) -> Result<Self, ApiError> {
        let (mut rest, mut statuses) = (Vec::new(), Vec::new());
        for pair in raw.split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if STATUS.iter().any(|name| key.eq_ignore_ascii_case(name)) {
                let words = [("active", true), ("archived", false)];
                statuses.push(fields::one_of(value.to_owned().into(), "status", &words)?);
            } else if key != "agent_id" {
                rest.push(pair);
            }
        }
        let rest = SessionListQuery::read(&rest.join("&"))?;
        Ok(Self {
            page: rest.page,
            metadata: rest.metadata,
            active: statuses.is_empty() || statuses.contains(&true),
        })
    }
}
