//! Which endpoint a request is for: decided by the method and the raw path, and by nothing else.
//!
//! Paths are compared as the runtime gives them, which has resolved `.`, `..` and backslashes. A trailing, doubled or
//! encoded slash, an escape or an upper-case letter makes another path, and there is none: 404. `HEAD` is served where
//! `GET` is.
use super::{error::ApiError, id::Kind};

/// An endpoint, with the ids of the path. The ids have the right shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// `POST /v1/agents/sessions`
    SessionCreate,
    /// `GET /v1/agents/sessions`
    SessionList,
    /// `GET /v1/agents/sessions/{session}`
    SessionRetrieve(&'a str),
    /// `DELETE /v1/agents/sessions/{session}`
    SessionDelete(&'a str),
    /// `POST /v1/agents/sessions/{session}/events`
    EventsCreate(&'a str),
    /// `GET /v1/agents/sessions/{session}/events`
    EventsStream(&'a str),
    /// `GET /v1/agents/sessions/{session}/items`
    ItemList(&'a str),
    /// `GET /v1/agents/sessions/{session}/turns`
    TurnList(&'a str),
    /// `GET /v1/agents/sessions/{session}/turns/{turn}`
    TurnRetrieve(&'a str, &'a str),
    /// `GET /v1/agents/sessions/{session}/turns/{turn}/items`
    TurnItemList(&'a str, &'a str),
}

impl<'a> Route<'a> {
    /// The session in the path.
    pub fn session_id(&self) -> Option<&'a str> {
        match *self {
            Route::SessionCreate | Route::SessionList => None,
            Route::SessionRetrieve(session)
            | Route::SessionDelete(session)
            | Route::EventsCreate(session)
            | Route::EventsStream(session)
            | Route::ItemList(session)
            | Route::TurnList(session)
            | Route::TurnRetrieve(session, _)
            | Route::TurnItemList(session, _) => Some(session),
        }
    }
}

/// Finds the endpoint. `path` has no query. A method outside a route is 405 with `Allow`, also for ids that do not exist.
pub fn find<'a>(method: &str, path: &'a str) -> Result<Route<'a>, ApiError> {
    let rest = path
        .strip_prefix("/v1/agents/sessions")
        .ok_or_else(ApiError::no_route)?;
    let segments: Vec<&str> = rest.split('/').take(6).collect();
    // An empty segment is a trailing or doubled slash.
    if segments.iter().skip(1).any(|segment| segment.is_empty()) {
        return Err(ApiError::no_route());
    }
    let route = match segments[..] {
        [""] => by_method(
            method,
            Some(Route::SessionList),
            Some(Route::SessionCreate),
            None,
        ),
        ["", session] => by_method(
            method,
            Some(Route::SessionRetrieve(session)),
            None,
            Some(Route::SessionDelete(session)),
        ),
        ["", session, "events"] => by_method(
            method,
            Some(Route::EventsStream(session)),
            Some(Route::EventsCreate(session)),
            None,
        ),
        ["", session, "items"] => by_method(method, Some(Route::ItemList(session)), None, None),
        ["", session, "turns"] => by_method(method, Some(Route::TurnList(session)), None, None),
        ["", session, "turns", turn] => {
            by_method(method, Some(Route::TurnRetrieve(session, turn)), None, None)
        }
        ["", session, "turns", turn, "items"] => {
            by_method(method, Some(Route::TurnItemList(session, turn)), None, None)
        }
        _ => Err(ApiError::no_route()),
    }?;
    let ids = [segments.get(1), segments.get(3)];
    for (id, kind) in ids.into_iter().zip([Kind::Session, Kind::Turn]) {
        if let Some(id) = id.filter(|id| !kind.fits(id)) {
            return Err(ApiError::not_found(id));
        }
    }
    Ok(route)
}

fn by_method<'a>(
    method: &str,
    get: Option<Route<'a>>,
    post: Option<Route<'a>>,
    delete: Option<Route<'a>>,
) -> Result<Route<'a>, ApiError> {
    let allow = match (&post, &delete) {
        (Some(_), _) => "GET, HEAD, POST",
        (None, Some(_)) => "GET, HEAD, DELETE",
        (None, None) => "GET, HEAD",
    };
    let found = match method {
        "GET" | "HEAD" => get,
        "POST" => post,
        "DELETE" => delete,
        _ => None,
    };
    found.ok_or_else(|| ApiError::method_not_allowed(allow))
}

#[cfg(test)]
mod tests;
