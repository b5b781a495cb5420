#![allow(clippy::unwrap_used)]
use super::*;
use crate::vault::RotationError;
use crate::wire::error::ApiError;
use crate::wire::json::parse_body;
use serde_json::{json, Value};

fn created(auth: Value) -> Value {
    let body = json!({"name": " n ", "auth": auth, "metadata": {"k": "v"}});
    let create = CredentialCreate::read(parse_body(body.to_string().as_bytes()).unwrap()).unwrap();
    let credential = Credential::new(&create, "cred_1".into(), "vault_1".into(), 7);
    let text = serde_json::to_string(&credential).unwrap();
    assert!(!text.contains("canary"), "{text}");
    assert!(!format!("{credential:?}{create:?}").contains("canary"));
    let read: Credential = serde_json::from_str(&text).unwrap();
    assert_eq!(read, credential);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_vault_as_answered() {
    let create = VaultCreate::default();
    let mut vault = Vault::new(create, "vault_1".into(), 7);
    assert_eq!(
        serde_json::to_value(&vault).unwrap(),
        json!({"id": "vault_1", "object": "vault", "created_at": 7, "name": null, "metadata": {}})
    );
    let body = parse_body(br#"{"name":"n","metadata":{"k":"v"}}"#).unwrap();
    vault.update(VaultUpdate::read(body).unwrap());
    assert_eq!(
        (vault.name.as_deref(), vault.metadata.len()),
        (Some("n"), 1)
    );
    vault.update(VaultUpdate::default());
    assert_eq!(
        (vault.name.as_deref(), vault.metadata.len()),
        (Some("n"), 1)
    );
}

#[test]
fn credentials_as_answered() {
    let url = "https://mcp.example.com/sse";
    assert_eq!(
        created(json!({"type": "static_bearer", "mcp_server_url": url, "token": "canary"})),
        json!({"id": "cred_1", "object": "vault.credential", "vault_id": "vault_1", "name": "n",
            "auth": {"type": "static_bearer", "mcp_server_url": url}, "metadata": {"k": "v"},
            "created_at": 7, "updated_at": 7})
    );
    let bare = json!({"type": "mcp_oauth", "mcp_server_url": url, "access_token": "canary"});
    assert_eq!(
        created(bare)["auth"],
        json!({"type": "mcp_oauth", "mcp_server_url": url, "expires_at": null, "refresh": null})
    );
    for method in ["none", "client_secret_basic", "client_secret_post"] {
        let mut client = json!({"type": method});
        if method != "none" {
            client["client_secret"] = json!("canary");
        }
        let endpoint = "https://id.example.com/token";
        let full = json!({"type": "mcp_oauth", "mcp_server_url": url, "access_token": "canary",
            "expires_at": "2026-12-01T05:00:00+01:00", "refresh": {"client_id": "c", "refresh_token": "canary",
            "token_endpoint": endpoint, "token_endpoint_auth": client, "scope": "s"}});
        assert_eq!(
            created(full)["auth"],
            json!({"type": "mcp_oauth", "mcp_server_url": url, "expires_at": "2026-12-01T04:00:00Z",
                "refresh": {"client_id": "c", "resource": null, "scope": "s", "token_endpoint": endpoint,
                "token_endpoint_auth": {"type": method}}})
        );
    }
    for networking in [
        json!({"type": "unrestricted"}),
        json!({"type": "limited", "allowed_hosts": ["a.example.com"]}),
    ] {
        let auth = json!({"type": "environment_variable", "secret_name": "TOKEN", "secret_value": "canary",
            "networking": networking});
        assert_eq!(
            created(auth)["auth"],
            json!({"type": "environment_variable", "secret_name": "TOKEN", "networking": networking})
        );
    }
}

#[test]
fn deletions_as_answered() {
    assert_eq!(
        serde_json::to_value(Vault::deleted("vault_1".into())).unwrap(),
        json!({"id": "vault_1", "object": "vault.deleted", "deleted": true})
    );
    assert_eq!(
        serde_json::to_value(Credential::deleted("cred_1".into())).unwrap(),
        json!({"id": "cred_1", "object": "vault.credential.deleted", "deleted": true})
    );
}

#[test]
fn a_rotation_that_fails_is_answered_by_path() {
    for (error, path) in [
        (RotationError::OtherKind, "auth.type"),
        (RotationError::NoRefresh, "auth.refresh"),
        (
            RotationError::OtherMethod,
            "auth.refresh.token_endpoint_auth.type",
        ),
    ] {
        let answer = ApiError::from(error);
        assert_eq!((answer.status, answer.param.as_deref()), (400, Some(path)));
    }
}

#[test]
fn the_filters_of_lists() {
    let read = VaultListQuery::read;
    for (query, active) in [
        ("", true),
        ("status=active", true),
        ("status=archived", false),
        ("status%5B%5D=archived&status%5b%5d=active", true),
        ("status[]=archived", false),
        ("agent_id=&x=y&limit=3", true),
    ] {
        assert_eq!(read(query).unwrap().active, active, "{query}");
    }
    let query = read("metadata%5Bk%5D=v&limit=3&after=vault_1&order=asc").unwrap();
    assert_eq!(query.metadata["k"], "v");
    assert_eq!(
        (query.page.limit, query.page.after.as_deref()),
        (3, Some("vault_1"))
    );
    for (bad, param) in [
        ("status=deleted", "status"),
        ("status", "status"),
        ("limit=0", "limit"),
        ("limit=1&limit=2", "limit"),
    ] {
        let error = read(bad).unwrap_err();
        assert_eq!((error.status, error.param.as_deref()), (400, Some(param)));
    }
}
