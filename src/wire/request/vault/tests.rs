#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;
use crate::vault::Networking;
use crate::wire::json::parse_body;
use serde_json::{json, Value};

fn body(value: &Value) -> Object {
    parse_body(value.to_string().as_bytes()).unwrap()
}

fn create(auth: &Value) -> Result<Auth, ApiError> {
    CredentialCreate::read(body(&json!({"name": "n", "auth": auth}))).map(|create| create.auth)
}

fn update(auth: &Value) -> Result<Option<Rotation>, ApiError> {
    CredentialUpdate::read(body(&json!({ "auth": auth }))).map(|update| update.auth)
}

fn bearer() -> Value {
    json!({"type": "static_bearer", "mcp_server_url": "https://mcp.example.com/", "token": "canary"})
}

fn oauth() -> Value {
    json!({"type": "mcp_oauth", "mcp_server_url": "https://mcp.example.com/", "access_token": "canary",
        "expires_at": "2026-12-01T04:00:00Z", "refresh": {"client_id": "c", "refresh_token": "canary",
        "token_endpoint": "https://id.example.com/token", "resource": "r", "scope": "s",
        "token_endpoint_auth": {"type": "client_secret_post", "client_secret": "canary"}}})
}

fn variable() -> Value {
    json!({"type": "environment_variable", "secret_name": "TOKEN", "secret_value": "canary",
        "networking": {"type": "limited", "allowed_hosts": ["a.example.com"]}})
}

/// `value` with the member at `pointer` set, or taken away.
fn with(mut value: Value, pointer: &str, new: Option<Value>) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap();
    match new {
        Some(new) => parent[name] = new,
        None => drop(parent.as_object_mut().unwrap().remove(name)),
    }
    value
}

/// The path of an error that tells nothing.
fn path<T: std::fmt::Debug>(result: Result<T, ApiError>, what: &str) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.status, 400, "{what}");
    assert!(
        !format!("{error:?}").contains("canary"),
        "{what}: {error:?}"
    );
    error.param.unwrap_or_default()
}

#[test]
fn every_member_that_must_be_there_is_asked_for() {
    for (auth, members) in [
        (bearer(), &["type", "mcp_server_url", "token"][..]),
        (
            oauth(),
            &[
                "type",
                "mcp_server_url",
                "access_token",
                "refresh/client_id",
                "refresh/refresh_token",
                "refresh/token_endpoint",
                "refresh/token_endpoint_auth",
                "refresh/token_endpoint_auth/type",
                "refresh/token_endpoint_auth/client_secret",
            ],
        ),
        (
            variable(),
            &[
                "type",
                "secret_name",
                "secret_value",
                "networking",
                "networking/type",
                "networking/allowed_hosts",
            ],
        ),
    ] {
        create(&auth).unwrap();
        for member in members {
            let pointer = format!("/{member}");
            let wanted = format!("auth.{}", member.replace('/', "."));
            for new in [None, Some(Value::Null), Some(json!([1, "canary"]))] {
                let changed = with(auth.clone(), &pointer, new);
                let at = path(create(&changed), &wanted);
                assert!(
                    at == wanted || at == format!("{wanted}[0]"),
                    "{at} for {wanted}"
                );
            }
        }
    }
}

#[test]
fn members_that_may_be_null_or_left_out() {
    for member in ["expires_at", "refresh", "refresh/resource", "refresh/scope"] {
        for new in [None, Some(Value::Null)] {
            create(&with(oauth(), &format!("/{member}"), new)).unwrap();
        }
    }
}

#[test]
fn an_unknown_member_is_refused_at_every_depth() {
    for (auth, parent) in [
        (bearer(), ""),
        (oauth(), ""),
        (oauth(), "/refresh"),
        (oauth(), "/refresh/token_endpoint_auth"),
        (variable(), ""),
        (variable(), "/networking"),
    ] {
        let changed = with(auth, &format!("{parent}/x"), Some(json!("canary")));
        let wanted = format!("auth{}.x", parent.replace('/', "."));
        assert_eq!(path(create(&changed), &wanted), wanted);
    }
    // A kind has no members of another, and `none` no secret.
    let other = with(bearer(), "/access_token", Some(json!("canary")));
    assert_eq!(path(create(&other), "other"), "auth.access_token");
    let none = with(
        oauth(),
        "/refresh/token_endpoint_auth/type",
        Some(json!("none")),
    );
    assert_eq!(
        path(create(&none), "none"),
        "auth.refresh.token_endpoint_auth.client_secret"
    );
    let free = with(variable(), "/networking/type", Some(json!("unrestricted")));
    assert_eq!(path(create(&free), "free"), "auth.networking.allowed_hosts");
}

#[test]
fn values_that_no_credential_has() {
    let long = format!("canary{}", "x".repeat(crate::vault::MAX_TOKEN));
    let longer = format!("canary{}", "x".repeat(crate::vault::MAX_VALUE));
    let hosts = |hosts: &[&str]| json!(hosts);
    for (auth, member, new) in [
        (bearer(), "mcp_server_url", json!("http://mcp.example.com/")),
        (
            bearer(),
            "mcp_server_url",
            json!("https://u:canary@mcp.example.com/"),
        ),
        (bearer(), "mcp_server_url", json!("https://10.0.0.1/")),
        (bearer(), "token", json!("")),
        (bearer(), "token", json!("canary\r\nx: y")),
        (bearer(), "token", json!("canary x")),
        (bearer(), "token", json!("canary\u{e9}")),
        (bearer(), "token", json!(long)),
        (oauth(), "access_token", json!("")),
        (oauth(), "expires_at", json!("tomorrow")),
        (oauth(), "expires_at", json!(1_800_000_000)),
        (oauth(), "refresh/client_id", json!("")),
        (oauth(), "refresh/refresh_token", json!("")),
        (oauth(), "refresh/refresh_token", json!("canary\n")),
        (
            oauth(),
            "refresh/token_endpoint",
            json!("http://id.example.com/"),
        ),
        (
            oauth(),
            "refresh/token_endpoint_auth/type",
            json!("private_key_jwt"),
        ),
        (
            oauth(),
            "refresh/token_endpoint_auth/client_secret",
            json!(""),
        ),
        (variable(), "secret_name", json!("1A")),
        (variable(), "secret_name", json!("CODEX_X")),
        (variable(), "secret_name", json!("https_proxy")),
        (variable(), "secret_name", json!("SSL_CERT_FILE")),
        (variable(), "secret_value", json!("")),
        (variable(), "secret_value", json!("canary\n")),
        (variable(), "secret_value", json!("canary\r")),
        (variable(), "secret_value", json!("canary\0")),
        (variable(), "secret_value", json!(longer)),
        (variable(), "networking/type", json!("open")),
        (variable(), "networking/allowed_hosts", hosts(&[])),
        (
            variable(),
            "networking/allowed_hosts",
            hosts(&["a.example.com"; 17]),
        ),
    ] {
        let wanted = format!("auth.{}", member.replace('/', "."));
        let changed = with(auth, &format!("/{member}"), Some(new));
        assert_eq!(path(create(&changed), &wanted), wanted);
    }
    for host in [
        "",
        "*.example.com",
        "a.example.com:443",
        "https://a.example.com",
        "a.example.com/x",
        "localhost",
        "127.0.0.1",
        "[2606:4700::1111]",
        "h\u{f6}st.example.com",
    ] {
        let changed = with(variable(), "/networking/allowed_hosts", Some(json!([host])));
        assert_eq!(
            path(create(&changed), host),
            "auth.networking.allowed_hosts[0]"
        );
    }
}

#[test]
fn hosts_are_kept_in_their_one_spelling() {
    let listed = json!(["A.Example.com.", "a.example.com", "198.35.26.96"]);
    let auth = create(&with(variable(), "/networking/allowed_hosts", Some(listed))).unwrap();
    let Auth::EnvironmentVariable(variable) = auth else {
        panic!("another kind")
    };
    let allowed_hosts = vec!["a.example.com".to_owned(), "198.35.26.96".to_owned()];
    assert_eq!(variable.networking, Networking::Limited { allowed_hosts });
    // A value of the greatest length, with what no header could have.
    let value = format!("\t\u{e9}{}", "x".repeat(crate::vault::MAX_VALUE - 3));
    create(&with(
        super::tests::variable(),
        "/secret_value",
        Some(json!(value)),
    ))
    .unwrap();
}

#[test]
fn names_are_trimmed_and_counted_in_bytes() {
    let named = |name: Value| {
        CredentialCreate::read(body(&json!({"name": name, "auth": bearer()})))
            .map(|create| create.name)
    };
    assert_eq!(named(json!(" a b\t")), Ok("a b".to_owned()));
    let longest = "\u{e9}".repeat(128);
    assert_eq!(named(json!(format!("  {longest}  "))), Ok(longest.clone()));
    for bad in [
        json!(""),
        json!(" \n"),
        json!(longest + "x"),
        json!(null),
        json!(1),
    ] {
        assert_eq!(path(named(bad.clone()), "name"), "name");
        let vault = VaultCreate::read(body(&json!({ "name": bad })));
        assert_eq!(path(vault, "name"), "name");
        let vault = VaultUpdate::read(body(&json!({ "name": bad })));
        assert_eq!(vault.is_ok(), bad.is_null());
    }
    assert_eq!(
        path(
            CredentialCreate::read(body(&json!({"auth": bearer()}))),
            "none"
        ),
        "name"
    );
    assert_eq!(
        VaultCreate::read(body(&json!({}))),
        Ok(VaultCreate::default())
    );
}

#[test]
fn metadata_is_as_for_sessions_and_null_only_in_a_new_vault() {
    let many: Value = (0..17)
        .map(|n| (n.to_string(), json!("v")))
        .collect::<serde_json::Map<_, _>>()
        .into();
    for (metadata, fine) in [
        (json!({"k": "v"}), true),
        (json!({"": "v"}), false),
        (many, false),
    ] {
        let vault = json!({ "metadata": metadata });
        let credential = json!({"name": "n", "auth": bearer(), "metadata": metadata});
        assert_eq!(VaultCreate::read(body(&vault)).is_ok(), fine);
        assert_eq!(VaultUpdate::read(body(&vault)).is_ok(), fine);
        assert_eq!(CredentialCreate::read(body(&credential)).is_ok(), fine);
        assert_eq!(CredentialUpdate::read(body(&vault)).is_ok(), fine);
    }
    let null = json!({ "metadata": null });
    assert!(VaultCreate::read(body(&null)).is_ok());
    assert_eq!(path(VaultUpdate::read(body(&null)), "null"), "metadata");
    assert_eq!(
        path(CredentialUpdate::read(body(&null)), "null"),
        "metadata"
    );
    let credential = json!({"name": "n", "auth": bearer(), "metadata": null});
    assert_eq!(
        path(CredentialCreate::read(body(&credential)), "null"),
        "metadata"
    );
}

#[test]
fn an_update_changes_something_and_never_the_rest() {
    for empty in [json!({}), json!({ "auth": null })] {
        CredentialUpdate::read(body(&empty)).unwrap_err();
    }
    let named = CredentialUpdate::read(body(&json!({"name": "n", "metadata": {}})));
    assert_eq!(path(named, "name"), "name");
    for (auth, wanted) in [
        (json!({"type": "static_bearer"}), "auth.token"),
        (
            json!({"type": "static_bearer", "token": null}),
            "auth.token",
        ),
        (json!({"type": "static_bearer", "token": ""}), "auth.token"),
        (json!({"token": "canary"}), "auth.type"),
        (bearer(), "auth.mcp_server_url"),
        (json!({"type": "environment_variable"}), "auth.secret_value"),
        (variable(), "auth.networking"),
        (oauth(), "auth.refresh.client_id"),
        (
            json!({"type": "mcp_oauth", "mcp_server_url": "https://mcp.example.com/"}),
            "auth.mcp_server_url",
        ),
        (
            json!({"type": "mcp_oauth", "access_token": ""}),
            "auth.access_token",
        ),
        (
            json!({"type": "mcp_oauth", "refresh": {"refresh_token": ""}}),
            "auth.refresh.refresh_token",
        ),
        (
            json!({"type": "mcp_oauth", "refresh": {"resource": "r"}}),
            "auth.refresh.resource",
        ),
        (
            json!({"type": "mcp_oauth", "refresh": {"token_endpoint": "x"}}),
            "auth.refresh.token_endpoint",
        ),
        (
            json!({"type": "mcp_oauth", "refresh": {"token_endpoint_auth": {}}}),
            "auth.refresh.token_endpoint_auth.type",
        ),
    ] {
        assert_eq!(path(update(&auth), wanted), wanted);
    }
}

/// The credential of [`oauth`] after a rotation: its access token, expiry, refresh token, scope and client secret.
fn rotated(rotation: Value) -> (String, Option<u64>, String, Option<String>, String) {
    let mut auth = create(&oauth()).unwrap();
    auth.rotate(update(&rotation).unwrap().unwrap()).unwrap();
    let Auth::McpOauth(oauth) = auth else {
        panic!("another kind")
    };
    let refresh = oauth.refresh.unwrap();
    let crate::vault::ClientAuth::Post { secret } = refresh.client else {
        panic!("another method")
    };
    (
        oauth.access_token.expose().to_owned(),
        oauth.expires_at,
        refresh.refresh_token.expose().to_owned(),
        refresh.scope,
        secret.expose().to_owned(),
    )
}

#[test]
fn what_a_rotation_keeps_and_clears() {
    let at = Some(1_796_097_600);
    let was = |token: &str, at, refresh: &str, scope: Option<&str>, secret: &str| {
        (
            token.to_owned(),
            at,
            refresh.to_owned(),
            scope.map(str::to_owned),
            secret.to_owned(),
        )
    };
    let same = was("canary", at, "canary", Some("s"), "canary");
    for nothing in [
        json!({"type": "mcp_oauth"}),
        json!({"type": "mcp_oauth", "access_token": null, "refresh": null}),
        json!({"type": "mcp_oauth", "refresh": {"refresh_token": null, "token_endpoint_auth": null}}),
        json!({"type": "mcp_oauth", "refresh": {"token_endpoint_auth":
            {"type": "client_secret_post", "client_secret": null}}}),
    ] {
        assert_eq!(rotated(nothing), same);
    }
    for (auth, wanted) in [
        (
            json!({"access_token": "new"}),
            was("new", None, "canary", Some("s"), "canary"),
        ),
        (
            json!({"access_token": "new", "expires_at": "2026-12-01T04:00:01Z"}),
            was("new", Some(1_796_097_601), "canary", Some("s"), "canary"),
        ),
        (
            json!({"expires_at": null}),
            was("canary", None, "canary", Some("s"), "canary"),
        ),
        (
            json!({"refresh": {"scope": null}}),
            was("canary", at, "canary", None, "canary"),
        ),
        (
            json!({"refresh": {"refresh_token": "new", "scope": "t", "token_endpoint_auth":
                {"type": "client_secret_post", "client_secret": "new"}}}),
            was("canary", at, "new", Some("t"), "new"),
        ),
    ] {
        assert_eq!(
            rotated(with(auth, "/type", Some(json!("mcp_oauth")))),
            wanted
        );
    }
}
