//! What an agent may call.
use super::*;
use crate::wire::session::{FunctionTool, Tool};

fn tools(list: Value) -> Result<Vec<Tool>, ApiError> {
    create(with("/agent/tools", list)).map(|wanted| agent(wanted).tools)
}

fn function(name: &str) -> Value {
    json!({"type": "function", "name": name, "description": "d", "parameters": {"type": "object"}})
}

#[test]
fn functions_are_taken_as_they_are() {
    let text = r#"{"agent":{"model":"m","tools":[
        {"type":"function","name":"get_weather-2","description":"","parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{}},"required":["z"]}},
        {"type":"tool_search"},
        {"type":"function","name":"b","description":"d","parameters":{"type":"object"},"defer_loading":true,"async":true}
    ]},"environment":{"type":"openai_hosted"}}"#;
    let read = SessionCreate::read(parse_body(text.as_bytes()).unwrap()).unwrap();
    let made = agent(read).tools;
    // A session does not show that deferred tools are searched for.
    let [Tool::Function(first), Tool::Function(second)] = &made[..] else {
        unreachable!("{made:?}");
    };
    assert_eq!(
        first.parameters.as_str(),
        r#"{"type":"object","properties":{"z":{"type":"string"},"a":{}},"required":["z"]}"#
    );
    assert_eq!(
        second,
        &FunctionTool {
            name: "b".into(),
            description: "d".into(),
            parameters: cloister_protocol::Json::parse(r#"{"type":"object"}"#.into(), 1).unwrap(),
            defer_loading: true,
            asynchronous: true,
        }
    );
    assert_eq!(
        serde_json::to_string(&made).unwrap(),
        r#"[{"type":"function","name":"get_weather-2","description":"","parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{}},"required":["z"]},"defer_loading":false},{"type":"function","name":"b","description":"d","parameters":{"type":"object"},"defer_loading":true,"async":true}]"#
    );
    assert_eq!(tools(json!([])), Ok(vec![]));
    assert_eq!(tools(json!(null)), Ok(vec![]));
}

#[test]
fn what_is_twice_is_refused() {
    let search = json!({"type": "tool_search"});
    let web = json!({"type": "web_search"});
    for (list, text) in [
        (
            json!([function("x"), function("y"), function("x")]),
            "duplicate function tool name: x",
        ),
        (json!([search, search]), "duplicate tool_search tool"),
        (json!([web, web]), "duplicate web_search tool"),
    ] {
        let error = tools(list).unwrap_err();
        assert_eq!((error.status, error.message.as_str()), (400, text));
        assert!(error.param.unwrap().starts_with("agent.tools["));
    }
    assert!(tools(json!([function("x"), function("X")])).is_ok());
}

#[test]
fn tools_that_are_not_built_are_named() {
    for kind in [
        "programmatic_tool_calling",
        "mcp",
        "web_search",
        "computer_use",
        "automations",
    ] {
        let error = tools(json!([function("x"), {"type": kind}])).unwrap_err();
        assert_eq!(
            error.message,
            format!("'agent.tools[1].type': '{kind}' is not supported by this deployment yet.")
        );
        assert_eq!(error.param.as_deref(), Some("agent.tools[1].type"));
    }
}

#[test]
fn bad_tools_are_named_by_their_path() {
    let members = |n: usize| {
        let mut map: serde_json::Map<_, _> = (1..n).map(|i| (format!("k{i}"), json!(1))).collect();
        map.insert("type".into(), json!("object"));
        map
    };
    let with_one = |name: &str, value: Value| {
        let mut one = function("x");
        one.as_object_mut().unwrap().insert(name.into(), value);
        tools(json!([one]))
    };
    assert!(with_one("parameters", json!(members(1_024))).is_ok());
    assert!(with_one("name", json!("n".repeat(128))).is_ok());
    for (name, value) in [
        ("name", json!(null)),
        ("name", json!("")),
        ("name", json!("n".repeat(129))),
        ("name", json!("a b")),
        ("name", json!("a.b")),
        ("name", json!("é")),
        ("name", json!("a\u{0}")),
        ("name", json!("../x")),
        ("description", json!(null)),
        ("description", json!(1)),
        ("description", json!("\u{0}")),
        ("parameters", json!(null)),
        ("parameters", json!([])),
        ("parameters", json!("{}")),
        ("parameters", json!({})),
        ("parameters", json!({"type": "string"})),
        ("parameters", json!({"type": null})),
        ("parameters", json!(members(1_025))),
        ("defer_loading", json!(null)),
        ("defer_loading", json!("true")),
        ("async", json!(null)),
        ("strict", json!(true)),
    ] {
        let error = with_one(name, value.clone()).unwrap_err();
        assert_eq!(
            (error.status, error.param),
            (400, Some(format!("agent.tools[0].{name}"))),
            "{value}"
        );
    }
    for (list, param) in [
        (json!({}), "agent.tools"),
        (json!("x"), "agent.tools"),
        (json!([1]), "agent.tools[0]"),
        (json!([{}]), "agent.tools[0].type"),
        (json!([{"type": "shell"}]), "agent.tools[0].type"),
        (json!([{"type": "tool_search", "x": 1}]), "agent.tools[0].x"),
        (
            json!([{"type": "function", "name": "x"}]),
            "agent.tools[0].description",
        ),
    ] {
        assert_eq!(tools(list).unwrap_err().param.as_deref(), Some(param));
    }
}

#[test]
fn tools_have_a_largest_size() {
    let list = |n: usize| {
        let one = |i: usize| json!({"type": "function", "name": format!("f{i}"), "description": "d".repeat(n), "parameters": {"type": "object"}});
        json!((0..4).map(one).collect::<Vec<_>>())
    };
    assert!(tools(list(780_000)).is_ok());
    let error = tools(list(790_000)).unwrap_err();
    assert_eq!(
        (error.status, error.param.as_deref()),
        (400, Some("agent.tools"))
    );
}
