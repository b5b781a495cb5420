//! What a session shows of its sandbox's network.
use super::*;
use crate::wire::session::{Environment, Network, NetworkAccess, Session as Public};

fn restricted() -> Network {
    Network {
        access: NetworkAccess::Restricted,
        allowed_domains: vec!["a.com".to_owned()],
    }
}

#[test]
fn another_network_is_shown_and_told_to_the_catalog() {
    let mut public = serde_json::to_value(session().public).unwrap();
    public["environment"] = json!({
        "type": "openai_hosted", "id": "env_1", "capability_directories": [], "files": [], "plugins": [], "skills": [],
        "network": {"access": "disabled", "allowed_domains": []}, "packages": {"npm": [], "python": [], "system": []},
    });
    let public: Public = serde_json::from_str(&public.to_string()).unwrap();
    let mut session = Session::new(session().identity, public);
    session.take_changes().unwrap();
    let version = session.version;

    session.set_network(restricted(), 9);
    let Environment::OpenaiHosted(environment) = &session.public.environment else {
        panic!("no environment");
    };
    assert_eq!(environment.network, restricted());
    assert_eq!(session.public.last_active_at, 9);
    assert_eq!(session.version, version + 1);
    let stored = session.take_changes().unwrap();
    let public = stored.iter().find(|cell| cell.kind == CellKind::Public);
    let json = public.unwrap().json.as_deref().unwrap();
    assert!(
        json.contains(r#""network":{"access":"restricted","allowed_domains":["a.com"]}"#),
        "{json}"
    );
}

#[test]
fn a_session_that_only_talks_shows_no_network() {
    let mut session = session();
    let (before, version) = (session.public.clone(), session.version);
    session.set_network(restricted(), 9);
    assert_eq!((session.public, session.version), (before, version));
}
