//! What holds for any input.
use proptest::{collection::vec, prelude::*};
use serde_json::Value;

use super::{
    json,
    query::{ArtifactListQuery, EventsQuery, ListQuery, OutOfRange, SessionListQuery},
    request::{
        network_policy, AgentCreate, AgentUpdate, EventsCreate, SessionCreate, SessionUpdate,
    },
    route,
};

/// JSON whose names are often those that the requests have.
fn body() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "agent",
        "model",
        "environment",
        "type",
        "openai_hosted",
        "none",
        "input",
        "events",
        "role",
        "user",
        "content",
        "text",
        "input_text",
        "agent.session.input.message",
        "agent.session.input.cancel",
        "network",
        "access",
        "disabled",
        "restricted",
        "allowed_domains",
        "rules",
        "host",
        "ports",
        "env",
        "setup_commands",
        "command",
        "cwd",
        "metadata",
        "stream",
        "reasoning",
        "effort",
        "low",
        "multi_agent",
        "enabled",
        "tools",
        "function",
        "tool_search",
        "web_search",
        "name",
        "description",
        "parameters",
        "defer_loading",
        "async",
        "object",
        "json_schema",
        "schema",
        "format",
        "agent_id",
        "experimental",
        "time_awareness",
        "compaction",
        "service_tier",
        "spend_control",
        "limit",
        "review",
        "input_image",
        "image_url",
        "agent.session.input.tool_result",
        "turn_id",
        "call_id",
        "success",
        "output",
        "error",
        "agent.session.input.mcp_approval_request_result",
        "request_id",
        "response",
        "mcp_tool_call",
        "decision",
        "approve",
        "max_concurrent_subagents",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((word.clone().prop_map(str::to_owned), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn bodies_are_read_or_refused_with_a_400(value in body()) {
        let text = value.to_string();
        let parsed = json::parse(text.as_bytes()).ok().and_then(|value| serde_json::to_value(value).ok());
        prop_assert_eq!(parsed, serde_json::from_str::<Value>(&text).ok());
        if let Ok(members) = json::parse_body(text.as_bytes()) {
            let errors = [
                SessionCreate::read(members.clone()).err(),
                SessionUpdate::read(members.clone()).err(),
                AgentCreate::read(members.clone()).err(),
                AgentUpdate::read(members.clone()).err(),
                network_policy(members.clone()).err(),
                EventsCreate::read(members).err(),
            ];
            for error in errors.into_iter().flatten() {
                prop_assert_eq!(error.status, 400);
                prop_assert!(error.message.len() < 1_000);
            }
        }
    }

    #[test]
    fn bytes_are_read_as_serde_json_reads_them_or_refused(bytes in vec(prop_oneof![4 => prop::sample::select(b"{}[]\",:\\u0019.eE-+ntrufalse ".to_vec()), 1 => any::<u8>()], 0..40)) {
        if let Ok(value) = json::parse(&bytes) {
            prop_assert_eq!(serde_json::to_value(value).ok(), serde_json::from_slice::<Value>(&bytes).ok());
        }
    }

    #[test]
    fn paths_and_queries_never_panic(method in "GET|POST|DELETE|PUT", path in ".*", tail in "[a-z_/%.0-9]*", query in ".*", pairs in "((limit|order|after|metadata%5Ba%5D|x)=[%a-f0-9]{0,4}&){0,5}") {
        for path in [path, format!("/v1/agents/sessions{tail}"), format!("/v1/agents/sessions/{tail}"), format!("/v1/agents/{tail}")] {
            if let Err(error) = route::find(&method, &path) {
                prop_assert!(matches!(error.status, 404 | 405));
            }
        }
        for query in [query, pairs] {
            for out_of_range in [OutOfRange::Refuse, OutOfRange::Clamp] {
                if let Ok(read) = ListQuery::read(&query, out_of_range) {
                    prop_assert!((1..=100).contains(&read.limit));
                }
            }
            let _ = SessionListQuery::read(&query);
            let _ = ArtifactListQuery::read(&query);
            let _ = EventsQuery::read(&query);
        }
    }
}
