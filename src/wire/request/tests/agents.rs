//! Saved agents, and sessions that use them.
use super::*;
use crate::wire::{
    agent::SavedAgent,
    session::{Compaction, Experimental, MultiAgent, ReasoningOptions, TextFormat, TextOptions},
};

fn full() -> SavedAgent {
    let body = json!({
        "name": "n", "model": "m", "instructions": "i", "metadata": {"k": "v"},
        "reasoning": {"effort": "low", "summary": "auto"},
        "text": {"format": {"type": "json_schema", "schema": {"type": "object"}}, "verbosity": "high"},
        "service_tier": "priority", "multi_agent": {"enabled": true},
        "tools": [{"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}}, {"type": "tool_search"}],
        "compaction": {"async": true}, "experimental": {"time_awareness": true}
    });
    SavedAgent::new(
        AgentCreate::read(object(&body)).unwrap(),
        "agent_1".into(),
        5,
    )
}

fn update(body: Value) -> Result<AgentUpdate, ApiError> {
    AgentUpdate::read(object(&body))
}

#[test]
fn the_smallest_and_the_fullest_agent() {
    let body = object(&json!({"model": "m"}));
    let small = SavedAgent::new(AgentCreate::read(body).unwrap(), "agent_1".into(), 5);
    assert_eq!(
        serde_json::to_string(&small).unwrap(),
        r#"{"object":"agent","created_at":5,"updated_at":5,"metadata":{},"id":"agent_1","name":null,"model":"m","instructions":null,"reasoning":{"effort":null,"summary":null},"text":{"format":{"type":"text"},"verbosity":"medium"},"service_tier":"auto","multi_agent":{"enabled":false,"max_concurrent_subagents":null},"tools":[]}"#
    );
    let full = full();
    let json = serde_json::to_string(&full).unwrap();
    assert_eq!(
        json,
        r#"{"object":"agent","created_at":5,"updated_at":5,"metadata":{"k":"v"},"id":"agent_1","name":"n","model":"m","instructions":"i","reasoning":{"effort":"low","summary":"auto"},"text":{"format":{"type":"json_schema","schema":{"type":"object"}},"verbosity":"high"},"service_tier":"priority","multi_agent":{"enabled":true,"max_concurrent_subagents":6},"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"defer_loading":false},{"type":"tool_search"}],"compaction":{"async":true},"experimental":{"time_awareness":true}}"#
    );
    for agent in [small, full] {
        let json = serde_json::to_string(&agent).unwrap();
        assert_eq!(SavedAgent::parse(&json), Some(agent));
    }
    for broken in ["", "{}", "[]", &json.replace("\"model\":\"m\",", "")] {
        assert_eq!(SavedAgent::parse(broken), None);
    }
}

/// What is left out stays; null resets; objects and lists replace, and only `experimental` merges.
#[test]
fn updates_keep_replace_and_reset() {
    type Apply = fn(&mut SavedAgent);
    let table: [(Value, Apply); 21] = [
        (json!({}), |_| {}),
        (json!({"name": null}), |a| a.agent.name = None),
        (json!({"name": "x"}), |a| a.agent.name = Some("x".into())),
        (json!({"model": "x"}), |a| a.agent.model = "x".into()),
        (json!({"instructions": null}), |a| {
            a.agent.instructions = None
        }),
        (json!({"metadata": {"a": "b"}}), |a| {
            a.metadata = [("a".to_owned(), "b".to_owned())].into();
        }),
        (json!({"metadata": null}), |a| a.metadata.clear()),
        (json!({"metadata": {}}), |a| a.metadata.clear()),
        (json!({"reasoning": {"effort": "high"}}), |a| {
            a.agent.reasoning = ReasoningOptions {
                effort: Some(Effort::High),
                summary: None,
            };
        }),
        (json!({"reasoning": null}), |a| {
            a.agent.reasoning = ReasoningOptions::default();
        }),
        (json!({"text": {"verbosity": "low"}}), |a| {
            a.agent.text = TextOptions {
                format: TextFormat::Text,
                verbosity: Verbosity::Low,
            };
        }),
        (json!({"text": null}), |a| {
            a.agent.text = TextOptions::default()
        }),
        (json!({"service_tier": null}), |a| {
            a.agent.service_tier = ServiceTier::Auto;
        }),
        (
            json!({"multi_agent": {"enabled": true, "max_concurrent_subagents": 2}}),
            |a| {
                a.agent.multi_agent = MultiAgent {
                    enabled: true,
                    max_concurrent_subagents: Some(2),
                };
            },
        ),
        (
            json!({"multi_agent": {"enabled": false, "max_concurrent_subagents": 2}}),
            |a| a.agent.multi_agent = MultiAgent::default(),
        ),
        (json!({"multi_agent": null}), |a| {
            a.agent.multi_agent = MultiAgent::default();
        }),
        (json!({"tools": null}), |a| a.agent.tools.clear()),
        (json!({"compaction": null}), |a| {
            a.agent.compaction = Some(Compaction::default());
        }),
        (json!({"compaction": {}}), |a| {
            a.agent.compaction = Some(Compaction::default());
        }),
        (json!({"experimental": {}}), |_| {}),
        (json!({"experimental": {"time_awareness": false}}), |a| {
            a.agent.experimental = Some(Experimental::default());
        }),
    ];
    for (body, apply) in table {
        let (mut changed, mut expected) = (full(), full());
        changed.apply(update(body.clone()).unwrap(), 9);
        apply(&mut expected);
        expected.updated_at = 9;
        assert_eq!(changed, expected, "{body}");
    }
}

#[test]
fn what_was_answered_can_be_sent_back() {
    let mut body: Value = serde_json::from_str(&serde_json::to_string(&full()).unwrap()).unwrap();
    for name in ["id", "object", "created_at", "updated_at"] {
        body.as_object_mut().unwrap().remove(name);
    }
    let mut agent = full();
    agent.apply(update(body.clone()).unwrap(), 5);
    assert_eq!(agent, full());
    let again = AgentCreate::read(object(&body)).unwrap();
    assert_eq!(SavedAgent::new(again, "agent_1".into(), 5), full());
}

#[test]
fn bad_agents_are_named_by_their_path() {
    for (body, param) in [
        (json!({"model": null}), "model"),
        (json!({"model": ""}), "model"),
        (json!({"model": 1}), "model"),
        (json!({"model": "m", "name": "n".repeat(129)}), "name"),
        (json!({"model": "m", "name": "\u{0}"}), "name"),
        (json!({"model": "m", "id": "agent_1"}), "id"),
        (json!({"model": "m", "object": "agent"}), "object"),
        (json!({"model": "m", "metadata": {"k": 1}}), "metadata.k"),
        (
            json!({"model": "m", "tools": [{"type": "mcp"}]}),
            "tools[0].type",
        ),
        (json!({"model": "m", "experimental": null}), "experimental"),
        (json!({"model": "m", "compaction": []}), "compaction"),
        (
            json!({"model": "m", "text": {"format": {"type": "xml"}}}),
            "text.format.type",
        ),
    ] {
        for error in [
            AgentCreate::read(object(&body)).unwrap_err(),
            update(body.clone()).unwrap_err(),
        ] {
            assert_eq!((error.status, error.param.as_deref()), (400, Some(param)));
        }
    }
    assert_eq!(
        AgentCreate::read(object(&json!({}))).unwrap_err(),
        ApiError::missing("model")
    );
}

/// A session has a copy, in which what the client supplies takes the place of what was saved.
#[test]
fn sessions_copy_saved_agents() {
    let of = |agent: Value| {
        let wanted = create(
            json!({"agent_id": "agent_1", "agent": agent, "environment": {"type": "openai_hosted"}}),
        )?;
        let AgentChoice::Saved { agent_id, changes } = wanted.agent else {
            unreachable!();
        };
        assert_eq!(agent_id, "agent_1");
        Ok::<_, ApiError>(full().session_agent(changes))
    };
    let unchanged = of(json!(null)).unwrap();
    assert_eq!(of(json!({})), Ok(unchanged.clone()));
    let mut expected = full().agent;
    expected.tools.truncate(1);
    assert_eq!(unchanged, expected);

    let changed = of(json!({"model": "x", "instructions": null, "reasoning": {"effort": "none"}, "text": null, "tools": [],
        "multi_agent": null, "experimental": {}}))
    .unwrap();
    expected.model = "x".into();
    expected.instructions = None;
    expected.reasoning = ReasoningOptions {
        effort: Some(Effort::None),
        summary: None,
    };
    expected.text = TextOptions::default();
    expected.tools.clear();
    expected.multi_agent = MultiAgent::default();
    assert_eq!(changed, expected);

    for (agent, param) in [
        (json!({"model": null}), "agent.model"),
        (json!({"name": "x"}), "agent.name"),
        (json!({"metadata": {}}), "agent.metadata"),
        (json!([]), "agent"),
    ] {
        assert_eq!(of(agent).unwrap_err().param.as_deref(), Some(param));
    }
    let none = json!({"environment": {"type": "openai_hosted"}});
    assert_eq!(create(none).unwrap_err(), ApiError::missing("agent"));
    let no_model =
        json!({"agent": {"instructions": "x"}, "environment": {"type": "openai_hosted"}});
    assert_eq!(
        create(no_model).unwrap_err(),
        ApiError::missing("agent.model")
    );
}
