//! Searches of the web.

use cloister_protocol::WebAction;

use super::cut::cut;
use crate::codex::wire;

const MAX_QUERY_BYTES: usize = 4 << 10;
const MAX_QUERIES: usize = 16;

/// What the search did. Codex says `query` before it knows the action.
pub fn action(query: String, action: Option<wire::WebSearchAction>) -> Option<WebAction> {
    let short = |text: String| cut(text, MAX_QUERY_BYTES);
    match action {
        Some(wire::WebSearchAction::Search { query, queries }) => Some(WebAction::Search {
            query: query.map(short),
            queries: queries.map(|all| all.into_iter().take(MAX_QUERIES).map(short).collect()),
        }),
        Some(wire::WebSearchAction::OpenPage { url }) => Some(WebAction::OpenPage {
            url: url.map(short),
        }),
        Some(wire::WebSearchAction::FindInPage { url, pattern }) => Some(WebAction::FindInPage {
            url: url.map(short),
            pattern: pattern.map(short),
        }),
        Some(wire::WebSearchAction::Other) => Some(WebAction::Other),
        None if query.is_empty() => None,
        None => Some(WebAction::Search {
            query: Some(short(query)),
            queries: None,
        }),
    }
}
