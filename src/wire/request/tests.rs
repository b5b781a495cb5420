#![allow(clippy::unwrap_used)]
mod agents;
mod configuration;
mod environment;
mod hostile;
mod inputs;
mod network;
mod tools;
mod updates;

use serde_json::{json, Value};

use super::*;
use crate::policy::EgressPolicy;
use crate::wire::{
    agent::inline_agent,
    item::InputContent,
    json::parse_body,
    session::{Agent, Effort, ServiceTier, SummaryMode, Verbosity},
};

fn object(body: &Value) -> Object {
    parse_body(body.to_string().as_bytes()).unwrap()
}

fn create(body: Value) -> Result<SessionCreate, ApiError> {
    SessionCreate::read(parse_body(body.to_string().as_bytes())?)
}

fn events(body: Value) -> Result<EventsCreate, ApiError> {
    EventsCreate::read(parse_body(body.to_string().as_bytes())?)
}

/// The agent of a session that was made without a saved one.
fn agent(wanted: SessionCreate) -> Agent {
    match wanted.agent {
        AgentChoice::Inline { model, changes } => inline_agent("agent_1".into(), model, changes),
        AgentChoice::Saved { agent_id, .. } => unreachable!("{agent_id}"),
    }
}

/// A good body with a member set.
fn with(pointer: &str, value: Value) -> Value {
    let mut body =
        json!({"agent": {"model": "m"}, "environment": {"type": "openai_hosted"}, "input": "hi"});
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    body.pointer_mut(parent)
        .unwrap()
        .as_object_mut()
        .unwrap()
        .insert(name.to_owned(), value);
    body
}

/// An environment about which nothing was said.
fn plain() -> EnvironmentSpec {
    EnvironmentSpec::Hosted {
        network: None,
        env: BTreeMap::new(),
        setup: Vec::new(),
        exclude: Vec::new(),
    }
}

fn message(text: &str) -> UserMessage {
    UserMessage {
        content: vec![InputContent::InputText { text: text.into() }],
    }
}

#[test]
fn the_smallest_and_the_fullest_session() {
    let small =
        create(json!({"agent": {"model": "m"}, "environment": {"type": "openai_hosted"}})).unwrap();
    assert_eq!(small.environment, plain());
    assert_eq!((&small.input, small.stream), (&None, false));
    assert_eq!(agent(small).service_tier, ServiceTier::Auto);

    let full = create(json!({
        "agent": {"model": "m", "instructions": "", "reasoning": {"effort": "xhigh", "summary": "auto"},
            "text": {"format": {"type": "text"}, "verbosity": "low"}, "service_tier": "default",
            "multi_agent": {"enabled": false, "max_concurrent_subagents": 6}, "tools": [], "compaction": null},
        "agent_id": null,
        "environment": {"type": "openai_hosted", "network": {"access": "disabled", "allowed_domains": [], "blocked_domains": null},
            "packages": null, "env": null, "setup_commands": null, "checkpoint": {"exclude": ["node_modules", "**/*.log"]}},
        "input": [{"role": "user", "content": [{"type": "input_text", "text": " "}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "b"}, {"type": "input_text", "text": "c"}]}],
        "metadata": {"k": "v"}, "vault_ids": [], "stream": true, "stream_options": {"include_obfuscation": true},
        "spend_control": null, "review": "none", "prompt_cache_options": {"ttl": "12h"}
    }))
    .unwrap();
    let made = agent(full.clone());
    assert_eq!(made.reasoning.effort, Some(Effort::Xhigh));
    assert_eq!(made.reasoning.summary, Some(SummaryMode::Auto));
    assert_eq!(made.text.verbosity, Verbosity::Low);
    assert_eq!(
        (full.review, full.spend_control),
        (Some(Review::None), None)
    );
    assert_eq!(
        full.environment,
        EnvironmentSpec::Hosted {
            network: Some(EgressPolicy::deny_all()),
            env: BTreeMap::new(),
            setup: Vec::new(),
            exclude: vec!["node_modules".to_owned(), "**/*.log".to_owned()],
        }
    );
    assert_eq!(full.input.unwrap().len(), 2);
    assert_eq!(
        full.prompt_cache_options,
        Some(PromptCacheOptions {
            ttl: CacheTtl::HalfDay
        })
    );

    let chat =
        create(json!({"agent": {"model": "m"}, "environment": {"type": "none"}, "input": "hi"}))
            .unwrap();
    assert_eq!(
        (chat.environment, chat.input),
        (EnvironmentSpec::None, Some(vec![message("hi")]))
    );
}

/// E7: nothing in a body is ignored.
#[test]
fn e7_unknown_and_unbuilt_fields_are_refused_by_name() {
    for (pointer, value, text) in [
        ("/callback", json!("x"), "Unknown parameter: 'callback'."),
        (
            "/agent/name",
            json!("x"),
            "Unknown parameter: 'agent.name'.",
        ),
        (
            "/agent/reasoning",
            json!({"effrt": "low"}),
            "Unknown parameter: 'agent.reasoning.effrt'.",
        ),
        (
            "/environment/image",
            json!("x"),
            "Unknown parameter: 'environment.image'.",
        ),
        (
            "/environment/checkpoint",
            json!({"include": []}),
            "Unknown parameter: 'environment.checkpoint.include'.",
        ),
        (
            "/environment/network",
            json!({"access": "disabled", "ports": []}),
            "Unknown parameter: 'environment.network.ports'.",
        ),
        (
            "/environment/setup_commands",
            json!([{"command": "true", "shell": "sh"}]),
            "Unknown parameter: 'environment.setup_commands[0].shell'.",
        ),
        (
            "/environment/packages",
            json!({}),
            "'environment.packages' is not supported by this deployment yet.",
        ),
        (
            "/environment/environment_id",
            json!("e"),
            "'environment.environment_id' is not supported by this deployment yet.",
        ),
        (
            "/environment/desktop",
            json!({"enabled": false}),
            "'environment.desktop' is not supported by this deployment yet.",
        ),
        (
            "/environment/type",
            json!("self_hosted"),
            "'environment.type': 'self_hosted' is not supported by this deployment yet.",
        ),
        (
            "/vault_ids",
            json!(["v"]),
            "'vault_ids' is not supported by this deployment yet.",
        ),
        (
            "/review",
            json!("auto_review"),
            "'review': 'auto_review' is not supported by this deployment yet.",
        ),
        (
            "/spend_control",
            json!({"limit": 5}),
            "'spend_control.limit' is not supported by this deployment yet.",
        ),
    ] {
        let error = create(with(pointer, value)).unwrap_err();
        assert_eq!(
            (error.status, error.message.as_str()),
            (400, text),
            "{pointer}"
        );
    }
}

#[test]
fn bad_values_are_named_by_their_path() {
    for (pointer, value, param) in [
        ("/agent", json!(null), "agent"),
        ("/agent", json!([]), "agent"),
        ("/agent", json!({}), "agent.model"),
        ("/agent/model", json!(""), "agent.model"),
        ("/agent/model", json!(null), "agent.model"),
        ("/agent/model", json!("a\u{0}"), "agent.model"),
        (
            "/agent/reasoning",
            json!({"effort": "huge"}),
            "agent.reasoning.effort",
        ),
        (
            "/agent/reasoning",
            json!({"effort": 1}),
            "agent.reasoning.effort",
        ),
        ("/agent/multi_agent", json!({}), "agent.multi_agent.enabled"),
        (
            "/agent/multi_agent",
            json!({"enabled": false, "max_concurrent_subagents": 0}),
            "agent.multi_agent.max_concurrent_subagents",
        ),
        (
            "/agent/multi_agent",
            json!({"enabled": false, "max_concurrent_subagents": 4_294_967_296_u64}),
            "agent.multi_agent.max_concurrent_subagents",
        ),
        (
            "/agent/text",
            json!({"format": {}}),
            "agent.text.format.type",
        ),
        (
            "/agent/text",
            json!({"format": {"type": "json_schema"}}),
            "agent.text.format.schema",
        ),
        (
            "/agent/text",
            json!({"format": {"type": "json_schema", "schema": {"type": "array"}}}),
            "agent.text.format.schema",
        ),
        (
            "/agent/text",
            json!({"format": {"type": "json_schema", "schema": {"type": ["object"]}}}),
            "agent.text.format.schema",
        ),
        (
            "/agent/text",
            json!({"format": {"type": "json_schema", "schema": null}}),
            "agent.text.format.schema",
        ),
        (
            "/agent/text",
            json!({"format": {"type": "text", "schema": {}}}),
            "agent.text.format.schema",
        ),
        ("/agent/service_tier", json!("slow"), "agent.service_tier"),
        ("/agent/experimental", json!(null), "agent.experimental"),
        (
            "/agent/experimental",
            json!({"time_awareness": null}),
            "agent.experimental.time_awareness",
        ),
        (
            "/agent/experimental",
            json!({"other": true}),
            "agent.experimental.other",
        ),
        (
            "/agent/compaction",
            json!({"async": 1}),
            "agent.compaction.async",
        ),
        (
            "/agent/multi_agent",
            json!({"enabled": null}),
            "agent.multi_agent.enabled",
        ),
        ("/agent/metadata", json!({}), "agent.metadata"),
        ("/agent_id", json!(""), "agent_id"),
        ("/agent_id", json!("a".repeat(65)), "agent_id"),
        ("/agent_id", json!(7), "agent_id"),
        ("/spend_control", json!({}), "spend_control.limit"),
        ("/spend_control", json!({"limit": 0}), "spend_control.limit"),
        ("/spend_control", json!(5), "spend_control"),
        ("/environment", json!(null), "environment"),
        ("/environment", json!({}), "environment.type"),
        (
            "/environment",
            json!({"type": "docker"}),
            "environment.type",
        ),
        (
            "/environment/network",
            json!({}),
            "environment.network.access",
        ),
        (
            "/environment/network",
            json!({"access": "disabled", "allowed_domains": ["a"]}),
            "environment.network.allowed_domains",
        ),
        ("/input", json!(""), "input"),
        ("/input", json!([]), "input"),
        ("/input", json!(7), "input"),
        ("/input", json!({}), "input"),
        ("/input", json!("\u{0}"), "input"),
        ("/input", json!(["x"]), "input[0]"),
        (
            "/input",
            json!([{"role": "assistant", "content": []}]),
            "input[0].role",
        ),
        (
            "/input",
            json!([{"role": "user", "content": "text"}]),
            "input[0].content",
        ),
        (
            "/input",
            json!([{"role": "user", "content": []}]),
            "input[0].content",
        ),
        ("/input", json!([{"role": "user"}]), "input[0].content"),
        (
            "/input",
            json!([{"role": "user", "content": [{"type": "input_text", "text": ""}]}]),
            "input[0].content[0].text",
        ),
        ("/metadata", json!({"k": 1}), "metadata.k"),
        ("/stream", json!("true"), "stream"),
        ("/stream_options", json!({}), "stream_options"),
        (
            "/prompt_cache_options",
            json!({"ttl": "1h"}),
            "prompt_cache_options.ttl",
        ),
        ("/review", json!(null), "review"),
    ] {
        let error = create(with(pointer, value.clone())).unwrap_err();
        assert_eq!(
            (error.status, error.param.as_deref()),
            (400, Some(param)),
            "{pointer} {value}"
        );
    }
    assert_eq!(
        create(json!({})).unwrap_err(),
        ApiError::missing("environment")
    );
    assert_eq!(
        create(json!(null)).unwrap_err(),
        ApiError::missing("environment")
    );
}

#[test]
fn text_has_a_longest_length() {
    assert!(create(with("/input", json!("é".repeat(MAX_TEXT)))).is_ok());
    let error = create(with("/input", json!("é".repeat(MAX_TEXT + 1)))).unwrap_err();
    assert_eq!(error.message, "Invalid 'input': string too long. Expected a string with maximum length 1048576, but got a string with length 1048577 instead.");
}

#[test]
fn some_sessions_need_input() {
    let base = |kind: &str, stream: bool| json!({"agent": {"model": "m"}, "environment": {"type": kind}, "stream": stream, "input": null});
    assert!(create(base("openai_hosted", false)).is_ok());
    assert_eq!(
        create(base("openai_hosted", true)).unwrap_err().message,
        "streaming session creation requires initial input"
    );
    for stream in [false, true] {
        let error = create(base("none", stream)).unwrap_err();
        assert_eq!(
            error.message,
            "conversation-only sessions currently require initial input"
        );
    }
}

#[test]
fn idempotency_keys_have_1_to_256_characters() {
    assert_eq!(idempotency_key(None), Ok(None));
    for length in [1, 256] {
        assert!(idempotency_key(Some(&"k".repeat(length))).is_ok());
    }
    for length in [0, 257] {
        assert_eq!(
            idempotency_key(Some(&"k".repeat(length)))
                .unwrap_err()
                .status,
            400
        );
    }
}
