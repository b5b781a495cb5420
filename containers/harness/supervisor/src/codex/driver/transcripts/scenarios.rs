//! What is recorded.

use std::time::Duration;

use cloister_protocol::{AgentSettings, Command, Decision, Event, Function, Input, Json};
use serde_json::json;

use super::record::model::{Model, Step};

/// A session: what the model and the Worker do.
pub struct Scenario {
    pub name: &'static str,
    /// More settings of Codex.
    pub settings: Vec<String>,
    /// With an MCP server that asks.
    pub mcp: bool,
    pub model: fn(&Model),
    pub play: Vec<Cue>,
}

/// A command, if any, and the name of the event that it follows.
pub struct Cue {
    pub after: &'static str,
    pub command: fn(&Event) -> Option<Command>,
}

/// Names of all scenarios.
pub fn names() -> Vec<&'static str> {
    all().iter().map(|scenario| scenario.name).collect()
}

fn cue(after: &'static str, command: fn(&Event) -> Option<Command>) -> Cue {
    Cue { after, command }
}

fn nothing(_: &Event) -> Option<Command> {
    None
}

fn start(agent: AgentSettings) -> Option<Command> {
    Some(Command::StartTurn {
        turn_id: "turn_1".into(),
        thread: None,
        agent: Box::new(agent),
        input: vec![Input::Text("go".into())],
    })
}

fn agent() -> AgentSettings {
    AgentSettings {
        sandbox: true,
        ..AgentSettings::default()
    }
}

/// The agent starts when the harness is ready, and the turn ends by itself.
fn one_turn(name: &'static str, model: fn(&Model)) -> Scenario {
    Scenario {
        name,
        settings: Vec::new(),
        mcp: false,
        model,
        play: vec![cue("ready", |_| start(agent())), cue("turn_ended", nothing)],
    }
}

fn say(text: &'static str) -> Vec<Step> {
    vec![Step::Say(text)]
}

fn failure(code: &str) -> Vec<Step> {
    let response = json!({ "id": "r", "object": "response", "status": "failed", "output": [],
        "error": { "code": code, "message": "no" } });
    vec![Step::Event(
        "response.failed",
        json!({ "response": response }),
    )]
}

fn failed(name: &'static str, model: fn(&Model)) -> Scenario {
    Scenario {
        settings: vec![
            "model_providers.gateway.request_max_retries=1".into(),
            "model_providers.gateway.stream_max_retries=1".into(),
        ],
        ..one_turn(name, model)
    }
}

/// All of them.
pub fn all() -> Vec<Scenario> {
    let mut all = tools();
    all.extend([
        one_turn("plain", |m| m.script([say("Hello there.")])),
        one_turn("command_and_patch", |m| {
            let patch = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch\n";
            let command = "echo one; sleep 0.3; echo two; exit 3";
            m.script([
                vec![Step::Think("look first"), Step::Shell(command.into())],
                vec![Step::Patch(patch.into())],
                say("All done."),
            ]);
        }),
        one_turn("incomplete_deltas", |m| {
            let command = "for i in 1 2 3 4; do echo t$i; sleep 0.2; done";
            m.script([vec![Step::Shell(command.into())], say("Done.")]);
        }),
        one_turn("plan", |m| {
            let plan = json!({ "plan": [{ "step": "look", "status": "in_progress" }] });
            m.script([vec![Step::Call(None, "update_plan", plan)], say("Planned.")]);
        }),
        Scenario {
            settings: vec!["model_auto_compact_token_limit=50000".into()],
            ..one_turn("compaction", |m| {
                let full = vec![Step::Shell("echo one".into()), Step::Tokens(60_000)];
                m.script([full, say("SUMMARY"), say("Done.")]);
            })
        },
        late_completion(),
        failed("error_context", |m| {
            m.script([failure("context_length_exceeded")])
        }),
        failed("error_quota", |m| m.script([failure("insufficient_quota")])),
        failed("error_rate", |m| {
            m.script(vec![failure("rate_limit_exceeded"); 9])
        }),
        failed("error_cyber", |m| m.script([failure("cyber_policy")])),
        failed("error_flex", |m| m.script([failure("flex_unavailable")])),
        failed("error_model", |m| m.script([failure("model_not_found")])),
        failed("error_misalignment", |m| {
            m.script([failure("misalignment_policy_violation")])
        }),
        failed("error_overloaded", |m| {
            m.script([failure("server_is_overloaded")])
        }),
        failed("error_other", |m| m.script([failure("invalid_prompt")])),
        failed("error_401", |m| m.script(vec![vec![Step::Status(401)]; 9])),
        failed("error_500", |m| m.script(vec![vec![Step::Status(500)]; 9])),
    ]);
    all
}

/// The command's end comes after the turn's, and a second turn follows.
fn late_completion() -> Scenario {
    Scenario {
        play: vec![
            cue("ready", |_| start(agent())),
            cue("item_started", |_| {
                Some(Command::Interrupt {
                    turn_id: "turn_1".into(),
                })
            }),
            cue("turn_ended", nothing),
            cue("item_completed", nothing),
        ],
        ..one_turn("late_completion", |m| {
            m.script([vec![Step::Shell("sleep 30".into())]])
        })
    }
}

fn tools() -> Vec<Scenario> {
    vec![
        Scenario {
            play: vec![
                cue("ready", |_| {
                    let parameters = Json::parse(r#"{"type":"object"}"#.into(), 9).unwrap();
                    let (name, description) = ("add".into(), "Adds.".into());
                    let add = Function {
                        name,
                        description,
                        parameters,
                        deferred: false,
                        asynchronous: false,
                    };
                    start(AgentSettings {
                        functions: vec![add],
                        ..agent()
                    })
                }),
                cue("tool_call", |event| {
                    let Event::ToolCall {
                        turn_id, call_id, ..
                    } = event.clone()
                    else {
                        return None;
                    };
                    let output = vec![Input::Text("3".into())];
                    Some(Command::ToolResult {
                        turn_id,
                        call_id,
                        success: true,
                        output,
                    })
                }),
                cue("turn_ended", nothing),
            ],
            ..one_turn("function_call", |m| {
                m.script([
                    vec![Step::Call(None, "add", json!({ "a": 1, "b": 2 }))],
                    say("Three."),
                ]);
            })
        },
        Scenario {
            mcp: true,
            play: vec![
                cue("ready", |_| start(agent())),
                cue("approval_requested", |event| {
                    let Event::ApprovalRequested { request_id, .. } = event.clone() else {
                        return None;
                    };
                    let decision = Decision::Approve;
                    Some(Command::Approval {
                        request_id,
                        decision,
                    })
                }),
                cue("turn_ended", nothing),
            ],
            ..one_turn("mcp_approval", |m| {
                let book = Step::Call(Some("mcp__tickets"), "book", json!({ "what": "a seat" }));
                m.script([vec![book], say("Booked.")]);
            })
        },
        Scenario {
            play: vec![
                cue("ready", |_| {
                    start(AgentSettings {
                        subagents: Some(2),
                        ..agent()
                    })
                }),
                cue("turn_ended", nothing),
                cue("ended", nothing),
            ],
            ..one_turn("subagent", |m| {
                let spawn = Step::Call(
                    Some("multi_agent_v1"),
                    "spawn_agent",
                    json!({ "message": "child" }),
                );
                m.script_for(
                    "child",
                    [
                        vec![
                            Step::Wait(Duration::from_secs(1)),
                            Step::Shell("echo hi".into()),
                        ],
                        say("Child done."),
                    ],
                );
                m.script([vec![spawn], say("Root done.")]);
            })
        },
    ]
}
