#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;
use crate::policy::{Access, EgressPolicy, PolicyConfig};
use crate::seal::{NotSealedHere, Sealer};
use crate::secret::{RootKey, Secret};
use crate::wire::error::ApiError;
use std::collections::BTreeSet;

fn canary() -> Secret {
    Secret::new("canary-\u{1f511}-\"\\")
}

fn url(text: &str) -> SecureUrl {
    SecureUrl::parse(text).unwrap()
}

fn oauth(client: ClientAuth) -> Auth {
    Auth::McpOauth(Oauth {
        server: url("https://MCP.example.com/"),
        access_token: canary(),
        expires_at: Some(7),
        version: 3,
        refreshed_at: Some(5),
        refresh: Some(Refresh {
            client_id: "client".to_owned(),
            refresh_token: canary(),
            token_endpoint: url("https://id.example.com/token"),
            client,
            resource: Some("resource".to_owned()),
            scope: None,
            phase: Phase::Reserved {
                attempt: 2,
                until: 9,
            },
            attempts: 2,
        }),
    })
}

fn variable(name: &str, networking: Networking) -> Variable {
    Variable {
        name: name.to_owned(),
        value: canary(),
        networking,
    }
}

fn limited() -> Networking {
    Networking::Limited {
        allowed_hosts: vec!["a.example.com".to_owned()],
    }
}

/// One of each kind, with every member that a secret may be in.
fn all() -> Vec<Auth> {
    vec![
        oauth(ClientAuth::None),
        oauth(ClientAuth::Basic { secret: canary() }),
        oauth(ClientAuth::Post { secret: canary() }),
        Auth::StaticBearer(StaticBearer {
            server: url("https://mcp.example.com/"),
            token: canary(),
        }),
        Auth::EnvironmentVariable(variable("TOKEN", limited())),
        Auth::EnvironmentVariable(variable("TOKEN", Networking::Unrestricted)),
    ]
}

#[test]
fn what_is_sealed_opens_as_the_same_credential_and_no_other() {
    let root = RootKey::parse(&Secret::new("5e".repeat(32))).unwrap();
    let sealer = Sealer::new(&root, "acme");
    for auth in all() {
        let sealed = seal(&auth, &sealer, "vault_1", "cred_1", [7; 12]);
        assert!(!format!("{sealed:?}").contains("canary"));
        assert_eq!(open(&sealed, &sealer, "vault_1", "cred_1"), Ok(auth));
        for (vault, credential) in [("vault_1", "cred_2"), ("vault_2", "cred_1")] {
            let opened = open(&sealed, &sealer, vault, credential);
            assert_eq!(opened, Err(NotSealedHere));
        }
    }
    // What opens and is no credential, is none.
    let other = sealer.seal("vault/vault_1/cred_1", &Secret::new("{}"), [7; 12]);
    let opened = open(&other, &sealer, "vault_1", "cred_1");
    assert_eq!(opened, Err(NotSealedHere));
}

#[test]
fn nothing_prints_a_secret() {
    for mut auth in all() {
        assert!(!format!("{auth:?}").contains("canary"));
        if let Auth::McpOauth(oauth) = &mut auth {
            oauth.refresh.as_mut().unwrap().phase = Phase::Ready { not_before: 0 };
            let step = oauth.decide(Need::Call, 7);
            assert!(matches!(step.decision, Decision::Refresh(_)));
            assert!(!format!("{step:?}").contains("canary"));
        }
    }
    let rotation = Rotation::McpOauth(OauthRotation {
        access_token: Some(canary()),
        expires_at: None,
        refresh: Some(RefreshRotation {
            refresh_token: Some(canary()),
            scope: None,
            client: Some(ClientRotation {
                method: ClientMethod::Basic,
                secret: Some(canary()),
            }),
        }),
    });
    assert!(!format!("{rotation:?}").contains("canary"));
}

#[test]
fn a_rotation_changes_secrets_or_nothing() {
    let new = || Secret::new("new");
    let refresh = |client| {
        Rotation::McpOauth(OauthRotation {
            access_token: Some(new()),
            expires_at: None,
            refresh: Some(RefreshRotation {
                refresh_token: None,
                scope: Some(Some("s".to_owned())),
                client,
            }),
        })
    };
    let client = |method| {
        Some(ClientRotation {
            method,
            secret: Some(new()),
        })
    };
    for (mut auth, rotation, error) in [
        (
            all()[3].clone(),
            Rotation::EnvironmentVariable { value: new() },
            RotationError::OtherKind,
        ),
        (
            oauth(ClientAuth::None),
            refresh(client(ClientMethod::None)),
            RotationError::OtherMethod,
        ),
        (
            oauth(ClientAuth::Post { secret: canary() }),
            refresh(client(ClientMethod::Basic)),
            RotationError::OtherMethod,
        ),
    ] {
        let before = auth.clone();
        assert_eq!(auth.rotate(rotation), Err(error));
        assert_eq!(auth, before);
    }

    let mut auth = oauth(ClientAuth::Basic { secret: canary() });
    auth.rotate(refresh(client(ClientMethod::Basic))).unwrap();
    let Auth::McpOauth(changed) = auth else {
        panic!("another kind")
    };
    assert_eq!((changed.access_token, changed.expires_at), (new(), None));
    let now = changed.refresh.unwrap();
    assert_eq!(now.client, ClientAuth::Basic { secret: new() });
    assert_eq!(
        (now.scope.as_deref(), now.refresh_token),
        (Some("s"), canary())
    );

    let mut bare = oauth(ClientAuth::None);
    if let Auth::McpOauth(oauth) = &mut bare {
        oauth.refresh = None;
    }
    assert_eq!(bare.rotate(refresh(None)), Err(RotationError::NoRefresh));
}

fn policy(access: Access, allowed: &[&str], blocked: &[&str]) -> EgressPolicy {
    let mut config = PolicyConfig::new(access);
    config.allowed_domains = allowed.iter().map(|&host| host.to_owned()).collect();
    config.blocked_domains = blocked.iter().map(|&host| host.to_owned()).collect();
    EgressPolicy::parse(&config).unwrap()
}

#[test]
fn each_variable_gets_a_placeholder_of_its_own() {
    let (a, b) = (variable("A", limited()), variable("B", limited()));
    let mut random = 0;
    let bound = bind(
        [("cred_1", &a), ("cred_2", &b)],
        &BTreeSet::from(["C"]),
        &policy(Access::Enabled, &[], &[]),
        || {
            random += 1;
            [random; 16]
        },
    )
    .unwrap();
    let seen: BTreeSet<&str> = bound.iter().map(|one| one.placeholder.as_str()).collect();
    assert_eq!(seen.len(), 2);
    for placeholder in seen {
        assert_eq!(placeholder.len(), Placeholder::LENGTH);
        assert!(placeholder.starts_with(Placeholder::PREFIX));
        assert!(placeholder
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    }
    assert!(!format!("{bound:?}").contains("canary"));
}

#[test]
fn variables_that_a_session_cannot_have() {
    let limited = variable("A", limited());
    let free = variable("A", Networking::Unrestricted);
    let (none, env) = (BTreeSet::new(), BTreeSet::from(["A"]));
    let open = policy(Access::Enabled, &[], &[]);
    let denied = EgressPolicy::deny_all();
    let narrowed = open.narrow(&denied);
    let listed = policy(Access::Restricted, &["a.example.com"], &[]);
    let except = policy(Access::Restricted, &[], &["b.example.com"]);
    let name = || "A".to_owned();
    let one = |variable, env, policy| bind([("cred_1", variable)], env, policy, || [1; 16]);
    for (variable, env, policy, error) in [
        (&limited, &env, &open, BindError::InEnv(name())),
        (&limited, &none, &denied, BindError::NoNetwork(name())),
        (&limited, &none, &narrowed, BindError::NoNetwork(name())),
        (&free, &none, &open, BindError::NothingListed(name())),
        (&free, &none, &except, BindError::NothingListed(name())),
    ] {
        assert_eq!(one(variable, env, policy), Err(error.clone()));
        let answer = ApiError::from(error);
        assert_eq!(
            (answer.status, answer.param.as_deref()),
            (400, Some("vault_ids"))
        );
    }
    for (variable, policy) in [(&limited, &open), (&limited, &except), (&free, &listed)] {
        assert!(one(variable, &none, policy).is_ok());
    }
    let both = [("cred_1", &limited), ("cred_2", &free)];
    let twice = bind(both, &none, &listed, || [1; 16]);
    assert_eq!(twice, Err(BindError::Twice(name())));
}
