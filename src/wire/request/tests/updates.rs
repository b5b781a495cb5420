//! Changes of sessions.
use super::*;
use crate::wire::session::{
    Environment, FunctionTool, ReasoningOptions, Session, SessionObject, SessionStatus, Tool,
};

fn session() -> Session {
    let wanted = create(json!({
        "agent": {"model": "m", "instructions": "i", "reasoning": {"effort": "low", "summary": "auto"}, "service_tier": "flex",
            "tools": [{"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}}]},
        "environment": {"type": "none"}, "input": "hi", "metadata": {"k": "v"},
        "prompt_cache_options": {"ttl": "30m"}, "spend_control": {"limit": null}
    }))
    .unwrap();
    Session {
        id: "sess_1".into(),
        object: SessionObject::Session,
        created_at: 1,
        last_active_at: 1,
        status: SessionStatus::Idle,
        error: None,
        environment: Environment::None,
        metadata: wanted.metadata.clone(),
        required_actions: vec![],
        usage: None,
        vault_ids: vec![],
        prompt_cache_options: wanted.prompt_cache_options,
        review: wanted.review,
        spend_control: wanted.spend_control,
        agent: agent(wanted),
    }
}

fn update(body: Value) -> Result<SessionUpdate, ApiError> {
    SessionUpdate::read(object(&body))
}

#[test]
fn each_field_changes_what_it_names() {
    type Apply = fn(&mut Session);
    let table: [(Value, Apply); 17] = [
        (json!({"agent": {}}), |_| {}),
        (json!({"agent": {"model": "n"}}), |s| {
            s.agent.model = "n".into();
        }),
        (json!({"agent": {"reasoning": {}}}), |_| {}),
        (json!({"agent": {"reasoning": {"effort": "max"}}}), |s| {
            s.agent.reasoning = ReasoningOptions {
                effort: Some(Effort::Max),
                summary: Some(SummaryMode::Auto),
            };
        }),
        (json!({"agent": {"reasoning": {"effort": null}}}), |s| {
            s.agent.reasoning.effort = None;
        }),
        (json!({"agent": {"service_tier": "fast"}}), |s| {
            s.agent.service_tier = ServiceTier::Fast;
        }),
        (json!({"agent": {"service_tier": null}}), |s| {
            s.agent.service_tier = ServiceTier::Auto;
        }),
        (json!({"agent": {"tools": null}}), |s| {
            s.agent.tools = vec![];
        }),
        (
            json!({"agent": {"tools": [{"type": "tool_search"}, {"type": "function", "name": "g", "description": "", "parameters": {"type": "object"}}]}}),
            |s| {
                s.agent.tools = vec![Tool::Function(FunctionTool {
                    name: "g".into(),
                    description: String::new(),
                    parameters: cloister_protocol::Json::parse(r#"{"type":"object"}"#.into(), 1)
                        .unwrap(),
                    defer_loading: false,
                    asynchronous: false,
                })];
            },
        ),
        (json!({"metadata": {"a": "b"}}), |s| {
            s.metadata = [("a".to_owned(), "b".to_owned())].into();
        }),
        (json!({"metadata": null}), |s| s.metadata.clear()),
        (json!({"prompt_cache_options": {"ttl": "12h"}}), |s| {
            s.prompt_cache_options = Some(PromptCacheOptions {
                ttl: CacheTtl::HalfDay,
            });
        }),
        (json!({"prompt_cache_options": {}}), |s| {
            s.prompt_cache_options = None;
        }),
        (json!({"prompt_cache_options": null}), |s| {
            s.prompt_cache_options = None;
        }),
        (json!({"review": "none"}), |s| s.review = Some(Review::None)),
        (json!({"spend_control": null}), |s| s.spend_control = None),
        (json!({"spend_control": {"limit": null}}), |s| {
            s.spend_control = Some(SpendControl::default());
        }),
    ];
    for (body, apply) in table {
        let read = update(body.clone()).unwrap();
        // It is sent to the session as JSON.
        let sent = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<SessionUpdate>(&sent).unwrap(), read);
        let (mut changed, mut expected) = (session(), session());
        read.apply(&mut changed);
        apply(&mut expected);
        assert_eq!(changed, expected, "{body}");
    }
}

#[test]
fn an_update_says_something() {
    for body in ["", "{}", "null", " "] {
        let error = SessionUpdate::read(parse_body(body.as_bytes()).unwrap()).unwrap_err();
        assert_eq!(
            (error.status, error.message.as_str(), error.param),
            (400, "At least one update field is required", None)
        );
    }
}

#[test]
fn what_cannot_be_changed_is_unknown() {
    for (body, param) in [
        (json!({"instructions": "x"}), "instructions"),
        (json!({"environment": {"type": "none"}}), "environment"),
        (json!({"agent_id": "agent_1"}), "agent_id"),
        (json!({"vault_ids": []}), "vault_ids"),
        (json!({"agent": null}), "agent"),
        (json!({"agent": []}), "agent"),
        (json!({"agent": {"model": null}}), "agent.model"),
        (json!({"agent": {"model": ""}}), "agent.model"),
        (
            json!({"agent": {"instructions": "x"}}),
            "agent.instructions",
        ),
        (json!({"agent": {"text": {}}}), "agent.text"),
        (json!({"agent": {"name": "x"}}), "agent.name"),
        (json!({"agent": {"multi_agent": null}}), "agent.multi_agent"),
        (json!({"agent": {"reasoning": null}}), "agent.reasoning"),
        (
            json!({"agent": {"reasoning": {"summary": "auto"}}}),
            "agent.reasoning.summary",
        ),
        (
            json!({"agent": {"reasoning": {"effort": "huge"}}}),
            "agent.reasoning.effort",
        ),
        (json!({"agent": {"tools": [{}]}}), "agent.tools[0].type"),
        (json!({"metadata": []}), "metadata"),
        (json!({"review": null}), "review"),
        (json!({"review": "auto_review"}), "review"),
        (
            json!({"spend_control": {"limit": 5}}),
            "spend_control.limit",
        ),
        (
            json!({"prompt_cache_options": {"ttl": null}}),
            "prompt_cache_options.ttl",
        ),
        (json!({"stream": true}), "stream"),
    ] {
        let error = update(body).unwrap_err();
        assert_eq!((error.status, error.param.as_deref()), (400, Some(param)));
    }
}
