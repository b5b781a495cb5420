#![allow(clippy::unwrap_used)]
use super::*;

const S: &str = "sess_0123456789abcdef0123456789abcdef";
const T: &str = "turn_0123456789abcdef0123456789abcdef";

#[test]
fn every_route_is_found() {
    let base = "/v1/agents/sessions";
    for (method, path, route) in [
        ("POST", base.to_owned(), Route::SessionCreate),
        ("GET", base.to_owned(), Route::SessionList),
        ("GET", format!("{base}/{S}"), Route::SessionRetrieve(S)),
        ("DELETE", format!("{base}/{S}"), Route::SessionDelete(S)),
        ("POST", format!("{base}/{S}/events"), Route::EventsCreate(S)),
        ("GET", format!("{base}/{S}/events"), Route::EventsStream(S)),
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
}

/// E5: only the raw path decides, and nothing in it is forgiven.
#[test]
fn e5_other_spellings_are_other_paths() {
    for path in [
        "",
        "/",
        "/v1",
        "/v1/agents",
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
        &format!("/v1/agents/sessions/{S}/artifacts"),
        &format!("/v1/agents/sessions/{S}/turns/"),
        &format!("/v1/agents/sessions/{S}/turns/{T}/items/x"),
        &format!("/v1/agents/sessions/{S}/turns/{T}/items/"),
        &format!("/v1/agents/sessions/{S}%2Fevents"),
        &"/v1/agents/sessions/a".repeat(10_000),
    ] {
        for method in ["GET", "POST"] {
            let status = find(method, path).unwrap_err().status;
            // A one-segment rest is an id position: GET finds no such id, POST finds no such method.
            assert!(
                status == 404 || (method == "POST" && status == 405),
                "{method} {path}: {status}"
            );
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
    let long = format!("/v1/agents/sessions/{}", "a".repeat(1 << 20));
    assert!(find("GET", &long).unwrap_err().message.len() < 200);
}
