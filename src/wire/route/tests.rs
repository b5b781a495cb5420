#![allow(clippy::unwrap_used)]
use super::*;

const S: &str = "sess_0123456789abcdef0123456789abcdef";
const T: &str = "turn_0123456789abcdef0123456789abcdef";
const F: &str = "artifact_0123456789abcdef0123456789abcdef";
const A: &str = "agent_0123456789abcdef0123456789abcdef";

#[test]
fn every_route_is_found() {
    let base = "/v1/agents/sessions";
    for (method, path, route) in [
        ("POST", "/v1/agents".to_owned(), Route::AgentCreate),
        ("GET", "/v1/agents".to_owned(), Route::AgentList),
        ("GET", format!("/v1/agents/{A}"), Route::AgentRetrieve(A)),
        ("POST", format!("/v1/agents/{A}"), Route::AgentUpdate(A)),
        ("DELETE", format!("/v1/agents/{A}"), Route::AgentDelete(A)),
        ("POST", base.to_owned(), Route::SessionCreate),
        ("GET", base.to_owned(), Route::SessionList),
        ("GET", format!("{base}/{S}"), Route::SessionRetrieve(S)),
        ("POST", format!("{base}/{S}"), Route::SessionUpdate(S)),
        ("DELETE", format!("{base}/{S}"), Route::SessionDelete(S)),
        ("POST", format!("{base}/{S}/events"), Route::EventsCreate(S)),
        ("GET", format!("{base}/{S}/events"), Route::EventsStream(S)),
        (
            "GET",
            format!("{base}/{S}/network"),
            Route::NetworkRetrieve(S),
        ),
        (
            "POST",
            format!("{base}/{S}/network"),
            Route::NetworkReplace(S),
        ),
        (
            "GET",
            format!("{base}/{S}/network/audit"),
            Route::NetworkAudit(S),
        ),
        ("GET", format!("{base}/{S}/items"), Route::ItemList(S)),
        ("GET", format!("{base}/{S}/turns"), Route::TurnList(S)),
        (
            "GET",
            format!("{base}/{S}/turns/{T}"),
            Route::TurnRetrieve(S, T),
        ),
        (
            "GET",
            format!("{base}/{S}/turns/{T}/items"),
            Route::TurnItemList(S, T),
        ),
        (
            "GET",
            format!("{base}/{S}/subagents"),
            Route::SubagentList(S),
        ),
        (
            "GET",
            format!("{base}/{S}/subagents/{A}"),
            Route::SubagentRetrieve(S, A),
        ),
        (
            "GET",
            format!("{base}/{S}/subagents/{A}/items"),
            Route::SubagentItemList(S, A),
        ),
        (
            "GET",
            format!("{base}/{S}/subagents/{A}/turns"),
            Route::SubagentTurnList(S, A),
        ),
        (
            "GET",
            format!("{base}/{S}/subagents/{A}/turns/{T}"),
            Route::SubagentTurnRetrieve(S, A, T),
        ),
        (
            "GET",
            format!("{base}/{S}/subagents/{A}/turns/{T}/items"),
            Route::SubagentTurnItemList(S, A, T),
        ),
        (
            "GET",
            format!("{base}/{S}/artifacts"),
            Route::ArtifactList(S),
        ),
        (
            "GET",
            format!("{base}/{S}/artifacts/{F}"),
            Route::ArtifactRetrieve(S, F),
        ),
        (
            "GET",
            format!("{base}/{S}/artifacts/{F}/content"),
            Route::ArtifactContent(S, F),
        ),
        (
            "DELETE",
            format!("{base}/{S}/artifacts/{F}"),
            Route::ArtifactDelete(S, F),
        ),
    ] {
        assert_eq!(find(method, &path), Ok(route));
        if method == "GET" {
            assert_eq!(find("HEAD", &path), Ok(route));
        }
        for method in ["PUT", "PATCH", "OPTIONS", "TRACE", "get", "", "GET "] {
            let error = find(method, &path).unwrap_err();
            assert_eq!(error.status, 405);
            assert!(error
                .headers
                .iter()
                .any(|(name, allow)| *name == "allow" && allow.starts_with("GET, HEAD")));
        }
    }
    let error = find("POST", &format!("{base}/{S}/items")).unwrap_err();
    assert_eq!(
        (error.status, error.headers),
        (405, vec![("allow", "GET, HEAD".to_owned())])
    );
    for (method, path, allow) in [
        ("PUT", "/v1/agents".to_owned(), "GET, HEAD, POST"),
        ("DELETE", base.to_owned(), "GET, HEAD, POST"),
        ("PUT", format!("/v1/agents/{A}"), "GET, HEAD, POST, DELETE"),
        ("PATCH", format!("{base}/{S}"), "GET, HEAD, POST, DELETE"),
        ("DELETE", format!("{base}/{S}/events"), "GET, HEAD, POST"),
        ("DELETE", format!("{base}/{S}/network"), "GET, HEAD, POST"),
        ("POST", format!("{base}/{S}/network/audit"), "GET, HEAD"),
        ("POST", format!("{base}/{S}/subagents"), "GET, HEAD"),
        ("POST", format!("{base}/{S}/artifacts"), "GET, HEAD"),
        (
            "POST",
            format!("{base}/{S}/artifacts/{F}"),
            "GET, HEAD, DELETE",
        ),
        (
            "DELETE",
            format!("{base}/{S}/artifacts/{F}/content"),
            "GET, HEAD",
        ),
    ] {
        let error = find(method, &path).unwrap_err();
        assert_eq!(
            (error.status, error.headers),
            (405, vec![("allow", allow.to_owned())]),
            "{method} {path}"
        );
    }
}

/// Names of endpoints are never taken for an agent's id, whether the endpoint is built or not.
#[test]
fn what_is_not_built_is_no_agent() {
    for path in [
        "environments",
        "environments/templates",
        "environments/env_1",
        "automations",
        "automations/x/pause",
    ] {
        for method in ["GET", "POST", "DELETE", "PUT"] {
            let error = find(method, &format!("/v1/agents/{path}")).unwrap_err();
            assert_eq!(error, ApiError::no_route(), "{method} {path}");
        }
    }
    assert_eq!(find("GET", "/v1/agents/sessions"), Ok(Route::SessionList));
}

/// E5: only the raw path decides, and nothing in it is forgiven.
#[test]
fn e5_other_spellings_are_other_paths() {
    for path in [
        "",
        "/",
        "/v1",
        "/v1/agents/",
        "/v1/agents/sessions/",
        "//v1/agents/sessions",
        "/v1//agents/sessions",
        "/V1/agents/sessions",
        "/v1/agents/Sessions",
        "/v1/agents/sessions/.",
        "/v1/agents/./sessions",
        "/v1/agents/sessions%2f",
        "/v1/agents/x/../sessions",
        "/v1%2Fagents/sessions",
        "/v1/agents/sessions;a=1",
        "/v1/agents/sessions#",
        "/v1/agents/sessions?",
        "/v1/agents/sessionsx",
        "v1/agents/sessions",
        "/v1/agents/environments",
        "/v1/vaults",
        "http://h/v1/agents/sessions",
        &format!("/v1/agents/sessions/{S}/"),
        &format!("/v1/agents/sessions/{S}//events"),
        &format!("/v1/agents/sessions/{S}/events/"),
        &format!("/v1/agents/sessions//{S}"),
        &format!("/v1/agents/sessions/{S}/artifacts/"),
        &format!("/v1/agents/sessions/{S}/artifacts/{F}/"),
        &format!("/v1/agents/sessions/{S}/artifacts/{F}/content/"),
        &format!("/v1/agents/sessions/{S}/artifacts/{F}/Content"),
        &format!("/v1/agents/sessions/{S}/artifacts/{F}/content/x"),
        &format!("/v1/agents/sessions/{S}/artifacts/{F}/x"),
        &format!("/v1/agents/sessions/{S}/traces"),
        &format!("/v1/agents/sessions/{S}/network/"),
        &format!("/v1/agents/sessions/{S}/network/audits"),
        &format!("/v1/agents/sessions/{S}/network/audit/x"),
        &format!("/v1/agents/sessions/{S}/subagents/"),
        &format!("/v1/agents/sessions/{S}/subagents/{A}/turns/{T}/items/x"),
        &format!("/v1/agents/sessions/{S}/subagents/{A}/turns/{T}/items/"),
        &format!("/v1/agents/{A}/"),
        &format!("/v1/agents/{A}/sessions"),
        "/v1/agentsx",
        "/v1/agents?",
        &format!("/v1/agents/sessions/{S}/turns/"),
        &format!("/v1/agents/sessions/{S}/turns/{T}/items/x"),
        &format!("/v1/agents/sessions/{S}/turns/{T}/items/"),
        &format!("/v1/agents/sessions/{S}%2Fevents"),
        &"/v1/agents/sessions/a".repeat(10_000),
    ] {
        for method in ["GET", "POST"] {
            let status = find(method, path).unwrap_err().status;
            assert_eq!(status, 404, "{method} {path}");
        }
    }
}

#[test]
fn impossible_ids_are_nobody_s() {
    for id in [
        "x",
        "sess_1",
        "..",
        "%2e%2e",
        "sess_0123456789ABCDEF0123456789ABCDEF",
        T,
        "environments",
    ] {
        let path = format!("/v1/agents/sessions/{id}/items");
        let error = find("GET", &path).unwrap_err();
        assert_eq!(error, ApiError::not_found(id));
        assert_eq!(
            error.message,
            format!("No managed agent resource found: {id}")
        );
    }
    let path = format!("/v1/agents/sessions/{S}/turns/{S}");
    assert_eq!(find("GET", &path).unwrap_err(), ApiError::not_found(S));
    let path = format!("/v1/agents/sessions/{S}/subagents/{T}");
    assert_eq!(find("GET", &path).unwrap_err(), ApiError::not_found(T));
    let path = format!("/v1/agents/sessions/{S}/subagents/{A}/turns/{A}");
    assert_eq!(find("GET", &path).unwrap_err(), ApiError::not_found(A));
    let path = format!("/v1/agents/sessions/{S}/artifacts/{T}");
    for (method, end) in [("GET", ""), ("DELETE", ""), ("HEAD", "/content")] {
        let error = find(method, &format!("{path}{end}")).unwrap_err();
        assert_eq!(error, ApiError::no_artifact(T));
        assert_eq!(error.message, format!("Session artifact {T} was not found"));
    }
    let path = format!("/v1/agents/sessions/{F}/artifacts/{F}");
    assert_eq!(find("GET", &path).unwrap_err(), ApiError::not_found(F));
    for method in ["GET", "POST", "DELETE"] {
        assert_eq!(
            find(method, &format!("/v1/agents/{S}")).unwrap_err(),
            ApiError::not_found(S)
        );
    }
    let long = format!("/v1/agents/sessions/{}", "a".repeat(1 << 20));
    assert!(find("GET", &long).unwrap_err().message.len() < 200);
}
