//! Which endpoint a request is for: decided by the method and the raw path, and by nothing else.
//!
//! Paths are compared as the runtime gives them, which has resolved `.`, `..` and backslashes. A trailing, doubled or
//! encoded slash, an escape or an upper-case letter makes another path, and there is none: 404. `HEAD` is served where
//! `GET` is.
use super::{error::ApiError, id::Kind};

/// An endpoint, with the ids of the path. The ids have the right shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// `POST /v1/agents`
    AgentCreate,
    /// `GET /v1/agents`
    AgentList,
    /// `GET /v1/agents/{agent}`
    AgentRetrieve(&'a str),
    /// `POST /v1/agents/{agent}`
    AgentUpdate(&'a str),
    /// `DELETE /v1/agents/{agent}`
    AgentDelete(&'a str),
    /// `POST /v1/agents/sessions`
    SessionCreate,
    /// `GET /v1/agents/sessions`
    SessionList,
    /// `GET /v1/agents/sessions/{session}`
    SessionRetrieve(&'a str),
    /// `POST /v1/agents/sessions/{session}`
    SessionUpdate(&'a str),
    /// `DELETE /v1/agents/sessions/{session}`
    SessionDelete(&'a str),
    /// `POST /v1/agents/sessions/{session}/events`
    EventsCreate(&'a str),
    /// `GET /v1/agents/sessions/{session}/events`
    EventsStream(&'a str),
    /// `GET /v1/agents/sessions/{session}/network`, an extension
    NetworkRetrieve(&'a str),
    /// `POST /v1/agents/sessions/{session}/network`, an extension
    NetworkReplace(&'a str),
    /// `GET /v1/agents/sessions/{session}/network/audit`, an extension
    NetworkAudit(&'a str),
    /// `GET /v1/agents/sessions/{session}/items`
    ItemList(&'a str),
    /// `GET /v1/agents/sessions/{session}/turns`
    TurnList(&'a str),
    /// `GET /v1/agents/sessions/{session}/turns/{turn}`
    TurnRetrieve(&'a str, &'a str),
    /// `GET /v1/agents/sessions/{session}/turns/{turn}/items`
    TurnItemList(&'a str, &'a str),
    /// `GET /v1/agents/sessions/{session}/subagents`
    SubagentList(&'a str),
    /// `GET /v1/agents/sessions/{session}/subagents/{subagent}`
    SubagentRetrieve(&'a str, &'a str),
    /// `GET /v1/agents/sessions/{session}/subagents/{subagent}/items`
    SubagentItemList(&'a str, &'a str),
    /// `GET /v1/agents/sessions/{session}/subagents/{subagent}/turns`
    SubagentTurnList(&'a str, &'a str),
    /// `GET /v1/agents/sessions/{session}/subagents/{subagent}/turns/{turn}`
    SubagentTurnRetrieve(&'a str, &'a str, &'a str),
    /// `GET /v1/agents/sessions/{session}/subagents/{subagent}/turns/{turn}/items`
    SubagentTurnItemList(&'a str, &'a str, &'a str),
    /// `GET /v1/agents/sessions/{session}/artifacts`
    ArtifactList(&'a str),
    /// `GET /v1/agents/sessions/{session}/artifacts/{artifact}`
    ArtifactRetrieve(&'a str, &'a str),
    /// `GET /v1/agents/sessions/{session}/artifacts/{artifact}/content`
    ArtifactContent(&'a str, &'a str),
    /// `DELETE /v1/agents/sessions/{session}/artifacts/{artifact}`
    ArtifactDelete(&'a str, &'a str),
}

/// What a path has for `GET`, `POST` and `DELETE`. Every path has something for `GET`.
#[derive(Clone, Copy)]
struct Methods<'a> {
    get: Route<'a>,
    post: Option<Route<'a>>,
    delete: Option<Route<'a>>,
}

/// Finds the endpoint. `path` has no query. A method outside a route is 405 with `Allow`, also for ids that do not exist.
pub fn find<'a>(method: &str, path: &'a str) -> Result<Route<'a>, ApiError> {
    let rest = path
        .strip_prefix("/v1/agents")
        .ok_or_else(ApiError::no_route)?;
    let segments: Vec<&str> = rest.split('/').take(9).collect();
    // An empty segment is a trailing or doubled slash.
    if segments.iter().skip(1).any(|segment| segment.is_empty()) {
        return Err(ApiError::no_route());
    }
    let route = methods(&segments)
        .ok_or_else(ApiError::no_route)?
        .choose(method)?;
    for (id, kind) in ids(route) {
        if !kind.fits(id) {
            return Err(if kind == Kind::Artifact {
                ApiError::no_artifact(id)
            } else {
                ApiError::not_found(id)
            });
        }
    }
    Ok(route)
}

fn methods<'a>(segments: &[&'a str]) -> Option<Methods<'a>> {
    let get = |get| Methods {
        get,
        post: None,
        delete: None,
    };
    Some(match *segments {
        [""] => Methods {
            post: Some(Route::AgentCreate),
            ..get(Route::AgentList)
        },
        ["", "sessions"] => Methods {
            post: Some(Route::SessionCreate),
            ..get(Route::SessionList)
        },
        // Endpoints of the API that are not built, where an agent's id could be.
        ["", "environments" | "automations"] => return None,
        ["", agent] => Methods {
            get: Route::AgentRetrieve(agent),
            post: Some(Route::AgentUpdate(agent)),
            delete: Some(Route::AgentDelete(agent)),
        },
        ["", "sessions", session] => Methods {
            get: Route::SessionRetrieve(session),
            post: Some(Route::SessionUpdate(session)),
            delete: Some(Route::SessionDelete(session)),
        },
        ["", "sessions", session, "events"] => Methods {
            post: Some(Route::EventsCreate(session)),
            ..get(Route::EventsStream(session))
        },
        ["", "sessions", session, "network"] => Methods {
            post: Some(Route::NetworkReplace(session)),
            ..get(Route::NetworkRetrieve(session))
        },
        ["", "sessions", session, "network", "audit"] => get(Route::NetworkAudit(session)),
        ["", "sessions", session, "items"] => get(Route::ItemList(session)),
        ["", "sessions", session, "turns"] => get(Route::TurnList(session)),
        ["", "sessions", session, "turns", turn] => get(Route::TurnRetrieve(session, turn)),
        ["", "sessions", session, "turns", turn, "items"] => {
            get(Route::TurnItemList(session, turn))
        }
        ["", "sessions", session, "subagents"] => get(Route::SubagentList(session)),
        ["", "sessions", session, "subagents", agent] => {
            get(Route::SubagentRetrieve(session, agent))
        }
        ["", "sessions", session, "subagents", agent, "items"] => {
            get(Route::SubagentItemList(session, agent))
        }
        ["", "sessions", session, "subagents", agent, "turns"] => {
            get(Route::SubagentTurnList(session, agent))
        }
        ["", "sessions", session, "subagents", agent, "turns", turn] => {
            get(Route::SubagentTurnRetrieve(session, agent, turn))
        }
        ["", "sessions", session, "subagents", agent, "turns", turn, "items"] => {
            get(Route::SubagentTurnItemList(session, agent, turn))
        }
        ["", "sessions", session, "artifacts"] => get(Route::ArtifactList(session)),
        ["", "sessions", session, "artifacts", artifact] => Methods {
            delete: Some(Route::ArtifactDelete(session, artifact)),
            ..get(Route::ArtifactRetrieve(session, artifact))
        },
        ["", "sessions", session, "artifacts", artifact, "content"] => {
            get(Route::ArtifactContent(session, artifact))
        }
        _ => return None,
    })
}

impl<'a> Methods<'a> {
    fn choose(self, method: &str) -> Result<Route<'a>, ApiError> {
        let found = match method {
            "GET" | "HEAD" => Some(self.get),
            "POST" => self.post,
            "DELETE" => self.delete,
            _ => None,
        };
        let allow = match (self.post, self.delete) {
            (Some(_), Some(_)) => "GET, HEAD, POST, DELETE",
            (Some(_), None) => "GET, HEAD, POST",
            (None, Some(_)) => "GET, HEAD, DELETE",
            (None, None) => "GET, HEAD",
        };
        found.ok_or_else(|| ApiError::method_not_allowed(allow))
    }
}

/// The ids of a path, and what each must be.
fn ids<'a>(route: Route<'a>) -> Vec<(&'a str, Kind)> {
    match route {
        Route::AgentCreate | Route::AgentList | Route::SessionCreate | Route::SessionList => {
            Vec::new()
        }
        Route::AgentRetrieve(agent) | Route::AgentUpdate(agent) | Route::AgentDelete(agent) => {
            vec![(agent, Kind::Agent)]
        }
        Route::SessionRetrieve(session)
        | Route::SessionUpdate(session)
        | Route::SessionDelete(session)
        | Route::EventsCreate(session)
        | Route::EventsStream(session)
        | Route::NetworkRetrieve(session)
        | Route::NetworkReplace(session)
        | Route::NetworkAudit(session)
        | Route::ItemList(session)
        | Route::TurnList(session)
        | Route::SubagentList(session)
        | Route::ArtifactList(session) => vec![(session, Kind::Session)],
        Route::TurnRetrieve(session, turn) | Route::TurnItemList(session, turn) => {
            vec![(session, Kind::Session), (turn, Kind::Turn)]
        }
        Route::SubagentRetrieve(session, agent)
        | Route::SubagentItemList(session, agent)
        | Route::SubagentTurnList(session, agent) => {
            vec![(session, Kind::Session), (agent, Kind::Agent)]
        }
        Route::SubagentTurnRetrieve(session, agent, turn)
        | Route::SubagentTurnItemList(session, agent, turn) => vec![
            (session, Kind::Session),
            (agent, Kind::Agent),
            (turn, Kind::Turn),
        ],
        Route::ArtifactRetrieve(session, artifact)
        | Route::ArtifactContent(session, artifact)
        | Route::ArtifactDelete(session, artifact) => {
            vec![(session, Kind::Session), (artifact, Kind::Artifact)]
        }
    }
}

#[cfg(test)]
mod tests;
