//! How an agent works, and how a session is changed.
use super::*;
use crate::wire::json::parse_body;
use crate::wire::request::SessionUpdate;
use cloister_protocol::AgentSettings;

/// A session whose public side was changed as JSON.
fn with(change: impl FnOnce(&mut Value)) -> Session {
    let mut public = serde_json::to_value(session().public).unwrap();
    change(&mut public);
    let identity = session().identity;
    Session::new(identity, serde_json::from_str(&public.to_string()).unwrap())
}

fn update(body: &str) -> Input {
    let body = parse_body(body.as_bytes()).unwrap();
    Input::Update(Box::new(SessionUpdate::read(body).unwrap()))
}

#[test]
fn an_agent_without_choices_leaves_them_to_the_model() {
    let settings = with(|public| public["agent"]["tools"] = json!([])).agent_settings();
    let expected = AgentSettings {
        sandbox: true,
        ..AgentSettings::default()
    };
    assert_eq!(settings, expected);
}

#[test]
fn what_the_client_chose_reaches_the_harness() {
    let session = with(|public| {
        let agent = &mut public["agent"];
        agent["instructions"] = json!("Be brief.");
        agent["reasoning"] = json!({"effort": "xhigh", "summary": "concise"});
        agent["text"] = json!({"format": {"type": "json_schema", "schema": {"type": "object"}}, "verbosity": "high"});
        agent["multi_agent"] = json!({"enabled": true, "max_concurrent_subagents": 3});
    });
    let settings = session.agent_settings();
    assert_eq!(settings.instructions.as_deref(), Some("Be brief."));
    assert_eq!(settings.effort, Some(protocol::Effort::Xhigh));
    assert_eq!(settings.summary, Some(protocol::Summary::Concise));
    assert_eq!(settings.verbosity, Some(protocol::Verbosity::High));
    let schema = settings.output_schema.unwrap();
    assert_eq!(schema.as_str(), r#"{"type":"object"}"#);
    assert_eq!(settings.subagents, Some(3));
    let names = settings
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.deferred, f.asynchronous));
    assert_eq!(
        names.collect::<Vec<_>>(),
        [("sum", false, false), ("mail", true, true)]
    );
}

#[test]
fn subagents_must_be_enabled() {
    let multi_agent = json!({"enabled": false, "max_concurrent_subagents": 3});
    let session = with(|public| public["agent"]["multi_agent"] = multi_agent);
    assert_eq!(session.agent_settings().subagents, None);
}

#[test]
fn a_session_that_only_talks_has_no_sandbox() {
    let mut bench = Bench::new();
    bench.session.identity.environment_id = None;
    bench.session.public_changed = true;
    bench.commit(&Step::default());
    assert!(!bench.session.agent_settings().sandbox);
    bench.started();
    bench.finish("m", message("hello"));
    bench.end(Outcome::Completed);
    assert_eq!(bench.last_end(), ("completed", None));
}

#[test]
fn an_update_holds_for_what_comes_next() {
    let mut bench = Bench::new();
    bench.started();
    bench.call("c1", "sum");
    let version = bench.session.version;
    let input = update(
        r#"{"agent": {"model": "other", "reasoning": {"effort": "low"}, "tools": []}, "metadata": {"a": "b"}}"#,
    );
    let step = bench.step(input);
    assert_eq!(step, Step::default(), "no event says so");
    assert_eq!(bench.session.version, version + 1);
    assert_eq!(bench.session.public.agent.model, "other");
    assert_eq!(
        bench.session.agent_settings().effort,
        Some(protocol::Effort::Low)
    );
    assert_eq!(bench.session.public.metadata["a"], "b");
    assert_eq!(
        bench.status(),
        SessionStatus::RequiresAction,
        "the open call stays"
    );
    let step = bench.call("c2", "sum");
    assert_eq!(step.effects.len(), 1, "the function is gone");
    bench.end(Outcome::Completed);
    assert_eq!(bench.newest("idle")["session"]["agent"]["model"], "other");
}
