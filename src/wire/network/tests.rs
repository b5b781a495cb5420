#![allow(clippy::unwrap_used)]
use super::*;
use crate::wire::json::parse_body;
use crate::wire::request::network_policy;
use crate::wire::session::Network;

fn policy(body: &str) -> EgressPolicy {
    network_policy(parse_body(body.as_bytes()).unwrap()).unwrap()
}

fn shown(policy: &EgressPolicy) -> String {
    let network = SessionNetwork::new("sess_1".into(), "env_1".into(), policy, 7, 5_999);
    serde_json::to_string(&network).unwrap()
}

#[test]
fn a_policy_is_shown_whole() {
    let policy = policy(
        r#"{"access":"restricted","allowed_domains":["B.com","*.a.com"],"blocked_domains":null,
            "rules":[{"host":"b.com","methods":["GET"],"ports":[8443]}]}"#,
    );
    let text = r#"{"object":"agent.session.network","session_id":"sess_1","environment_id":"env_1","epoch":7,"access":"restricted","allowed_domains":["b.com","*.a.com"],"blocked_domains":[],"rules":[{"host":"b.com","ports":[8443],"methods":["GET"]}],"description":"Reachable: only b.com (http, https; ports 8443; GET), *.a.com.","updated_at":5}"#;
    assert_eq!(shown(&policy), text);
}

#[test]
fn what_is_shown_can_be_sent_back() {
    for body in [
        r#"{"access":"enabled"}"#,
        r#"{"access":"disabled"}"#,
        r#"{"access":"restricted","blocked_domains":["a.com"]}"#,
        r#"{"access":"restricted","allowed_domains":["a.com"],"rules":[{"host":"a.com","schemes":["https"],"path_prefixes":["/v1"]}]}"#,
    ] {
        let policy = policy(body);
        let mut shown: serde_json::Value = serde_json::from_str(&shown(&policy)).unwrap();
        let members = shown.as_object_mut().unwrap();
        let wanted = ["access", "allowed_domains", "blocked_domains", "rules"];
        members.retain(|name, _| wanted.contains(&name.as_str()));
        assert_eq!(members.len(), wanted.len());
        assert_eq!(self::policy(&shown.to_string()), policy, "{body}");
    }
}

#[test]
fn a_session_shows_neither_blocked_hosts_nor_rules() {
    for (body, text) in [
        (
            r#"{"access":"enabled"}"#,
            r#"{"access":"enabled","allowed_domains":[]}"#,
        ),
        (
            r#"{"access":"restricted"}"#,
            r#"{"access":"disabled","allowed_domains":[]}"#,
        ),
        (
            r#"{"access":"restricted","blocked_domains":["a.com"]}"#,
            r#"{"access":"restricted","allowed_domains":[]}"#,
        ),
        (
            r#"{"access":"restricted","allowed_domains":["a.com"],"rules":[{"host":"a.com","methods":["GET"]}]}"#,
            r#"{"access":"restricted","allowed_domains":["a.com"]}"#,
        ),
    ] {
        let network = Network::from(&policy(body));
        assert_eq!(serde_json::to_string(&network).unwrap(), text);
    }
}

#[test]
fn decisions_have_hosts_and_counts_and_nothing_else() {
    let tally = |host: &str, verdict, reason: &str| Tally {
        host: host.into(),
        port: 443,
        verdict,
        reason: reason.into(),
        count: 2,
        first_at: 1_000,
        last_at: 2_999,
    };
    let list = audit(vec![
        tally("a.com", Verdict::Allowed, ""),
        tally("", Verdict::Denied, "url_malformed"),
    ]);
    let text = r#"{"object":"list","data":[{"object":"agent.session.network.decision","host":"a.com","port":443,"verdict":"allowed","reason":null,"count":2,"first_at":1,"last_at":2},{"object":"agent.session.network.decision","host":"","port":443,"verdict":"denied","reason":"url_malformed","count":2,"first_at":1,"last_at":2}],"first_id":null,"last_id":null,"has_more":false}"#;
    assert_eq!(serde_json::to_string(&list).unwrap(), text);
}
