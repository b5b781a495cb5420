#![allow(clippy::unwrap_used)]
use serde_json::{json, Value};

use cloister_protocol::Json;
use proptest::prelude::*;

use super::*;
use crate::wire::{
    item::{
        CallStatus, CommandExecution, Content, FunctionCall, InputContent, Item, Message,
        OutputStatus, Phase, Reasoning, Role, Summary,
    },
    session::{
        Agent, Environment, HostedEnvironment, MultiAgent, Network, NetworkAccess, Packages,
        ReasoningOptions, ServiceTier, Session, SessionObject, SessionStatus, TextOptions,
        TokenUsage,
    },
    subagent::{AgentContent, Subagent, SubagentObject, SubagentStatus},
    turn::{Turn, TurnObject, TurnStatus},
};

fn session(environment: Environment) -> Box<Session> {
    Box::new(Session {
        id: "sess_1".into(),
        object: SessionObject::Session,
        created_at: 1,
        last_active_at: 2,
        status: SessionStatus::Idle,
        error: None,
        agent: Agent {
            id: "agent_1".into(),
            name: None,
            model: "m".into(),
            instructions: None,
            reasoning: ReasoningOptions::default(),
            text: TextOptions::default(),
            service_tier: ServiceTier::Auto,
            multi_agent: MultiAgent::default(),
            tools: vec![],
            compaction: None,
            experimental: None,
        },
        environment,
        metadata: [("k".to_owned(), "v".to_owned())].into(),
        required_actions: vec![],
        usage: None,
        vault_ids: vec![],
        prompt_cache_options: None,
        review: None,
        spend_control: None,
    })
}

fn hosted() -> Environment {
    Environment::OpenaiHosted(Box::new(HostedEnvironment {
        id: "env_1".into(),
        capability_directories: vec![],
        files: vec![],
        network: Network {
            access: NetworkAccess::Disabled,
            allowed_domains: vec![],
        },
        packages: Packages::default(),
        plugins: vec![],
        skills: vec![],
    }))
}

fn turn() -> Box<Turn> {
    Box::new(Turn {
        id: "turn_1".into(),
        object: TurnObject::Turn,
        session_id: "sess_1".into(),
        agent_id: "agent_1".into(),
        subagent_id: None,
        status: TurnStatus::Queued,
        created_at: 1,
        started_at: None,
        completed_at: None,
        error: None,
        usage: None,
        prompt_cache_options: None,
    })
}

fn ids() -> (String, String) {
    ("sess_1".into(), "turn_1".into())
}

fn item_event(item: Item, output_index: Option<u32>) -> ItemEvent {
    let (session_id, turn_id) = ids();
    ItemEvent {
        session_id,
        turn_id,
        item: Box::new(item),
        output_index,
    }
}

/// The exact text of an event.
fn assert_wire(event: Event, json: &str) {
    let kind = event.name();
    assert!(
        json.starts_with(&format!(r#"{{"type":"{kind}","event_id":"evt_1","#)),
        "{json}"
    );
    let mut out = "before".to_owned();
    event.frame("evt_1", &mut out);
    assert_eq!(out, format!("beforeevent: {kind}\ndata: {json}\n\n"));
    serde_json::from_str::<Value>(json).unwrap();
}

const SESSION_NONE: &str = r#"{"id":"sess_1","object":"agent.session","created_at":1,"last_active_at":2,"status":"idle","error":null,"agent":{"id":"agent_1","name":null,"model":"m","instructions":null,"reasoning":{"effort":null,"summary":null},"text":{"format":{"type":"text"},"verbosity":"medium"},"service_tier":"auto","multi_agent":{"enabled":false,"max_concurrent_subagents":null},"tools":[]},"environment":{"type":"none"},"metadata":{"k":"v"},"required_actions":[],"usage":null,"vault_ids":[]}"#;

const TURN: &str = r#"{"id":"turn_1","object":"agent.session.turn","session_id":"sess_1","agent_id":"agent_1","subagent_id":null,"status":"queued","created_at":1,"started_at":null,"completed_at":null,"error":null,"usage":null}"#;

#[test]
fn session_events() {
    let make: [fn(SessionEvent) -> Event; 6] = [
        Event::SessionCreated,
        Event::SessionInProgress,
        Event::SessionRequiresAction,
        Event::SessionIdle,
        Event::SessionFailed,
        Event::SessionBudgetReached,
    ];
    for (make, name) in make.into_iter().zip([
        "created",
        "in_progress",
        "requires_action",
        "idle",
        "failed",
        "budget_reached",
    ]) {
        let event = make(SessionEvent {
            session: session(Environment::None),
        });
        assert_wire(
            event,
            &format!(
                r#"{{"type":"agent.session.{name}","event_id":"evt_1","session":{SESSION_NONE}}}"#
            ),
        );
    }
    let text = serde_json::to_string(&session(hosted())).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        json["environment"],
        json!({"type":"openai_hosted","id":"env_1","capability_directories":[],"files":[],
            "network":{"access":"disabled","allowed_domains":[]},"packages":{"npm":[],"python":[],"system":[]},
            "plugins":[],"skills":[]})
    );
    assert_eq!(
        serde_json::from_str::<Session>(&text).unwrap(),
        *session(hosted())
    );
}

#[test]
fn turn_events() {
    let make: [fn(TurnEvent) -> Event; 2] = [Event::TurnCreated, Event::TurnInProgress];
    for (make, name) in make.into_iter().zip(["created", "in_progress"]) {
        let (session_id, turn_id) = ids();
        assert_wire(
            make(TurnEvent {
                session_id,
                turn_id,
                turn: turn(),
            }),
            &format!(
                r#"{{"type":"agent.session.turn.{name}","event_id":"evt_1","session_id":"sess_1","turn_id":"turn_1","turn":{TURN}}}"#
            ),
        );
    }
    let make: [fn(TurnEndEvent) -> Event; 3] = [
        Event::TurnCompleted,
        Event::TurnFailed,
        Event::TurnCancelled,
    ];
    for (make, name) in make.into_iter().zip(["completed", "failed", "cancelled"]) {
        let (session_id, turn_id) = ids();
        assert_wire(
            make(TurnEndEvent {
                session_id,
                turn_id,
                turn: turn(),
                usage: Some(TokenUsage::default()),
            }),
            &format!(
                r#"{{"type":"agent.session.turn.{name}","event_id":"evt_1","session_id":"sess_1","turn_id":"turn_1","turn":{TURN},"usage":{{"input_tokens":0,"input_tokens_details":{{"cached_tokens":0}},"output_tokens":0,"output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":0}}}}"#
            ),
        );
    }
}

#[test]
fn item_events() {
    let user = Message::of_user(
        "msg_1".into(),
        "turn_1".into(),
        vec![InputContent::InputText {
            text: "hi\n\u{2028}".into(),
        }],
    );
    let agent = Message {
        id: "msg_2".into(),
        turn_id: "turn_1".into(),
        role: Role::Assistant,
        status: OutputStatus::InProgress,
        phase: Some(Phase::FinalAnswer),
        content: vec![Content::OutputText {
            text: String::new(),
        }],
    };
    let reasoning = Reasoning {
        id: "rs_1".into(),
        turn_id: "turn_1".into(),
        status: Some(OutputStatus::Incomplete),
        summary: vec![Summary::SummaryText { text: "s".into() }],
    };
    let command = CommandExecution {
        id: "exec_1".into(),
        turn_id: "turn_1".into(),
        command: "ls".into(),
        cwd: None,
        output: None,
        exit_code: None,
        duration_ms: None,
        status: CallStatus::InProgress,
    };
    let head = r#""event_id":"evt_1","session_id":"sess_1","turn_id":"turn_1","item":"#;
    for (item, json) in [
        (Item::Message(user), "{\"type\":\"message\",\"id\":\"msg_1\",\"turn_id\":\"turn_1\",\"role\":\"user\",\"status\":\"completed\",\"phase\":null,\"content\":[{\"type\":\"input_text\",\"text\":\"hi\\n\u{2028}\"}]}"),
        (Item::Message(agent), r#"{"type":"message","id":"msg_2","turn_id":"turn_1","role":"assistant","status":"in_progress","phase":"final_answer","content":[{"type":"output_text","text":""}]}"#),
        (Item::Reasoning(reasoning), r#"{"type":"reasoning","id":"rs_1","turn_id":"turn_1","status":"incomplete","summary":[{"type":"summary_text","text":"s"}]}"#),
        (Item::CommandExecution(command), r#"{"type":"command_execution","id":"exec_1","turn_id":"turn_1","command":"ls","cwd":null,"output":null,"exit_code":null,"duration_ms":null,"status":"in_progress"}"#),
    ] {
        assert_wire(
            Event::ItemAdded(item_event(item.clone(), None)),
            &format!(r#"{{"type":"agent.session.turn.item.added",{head}{json},"output_index":null}}"#),
        );
        assert_wire(
            Event::ItemDone(item_event(item, Some(3))),
            &format!(r#"{{"type":"agent.session.turn.item.done",{head}{json},"output_index":3}}"#),
        );
    }
}

#[test]
fn part_text_and_output_events() {
    let head = r#""event_id":"evt_1","session_id":"sess_1","turn_id":"turn_1","item_id":"i","output_index":0,"#;
    let base = || {
        (
            String::from("sess_1"),
            String::from("turn_1"),
            String::from("i"),
        )
    };
    let part = || {
        let (session_id, turn_id, item_id) = base();
        let part = Content::OutputText { text: "t".into() };
        ContentPartEvent {
            session_id,
            turn_id,
            item_id,
            output_index: 0,
            content_index: 1,
            part,
        }
    };
    let text_part = r#""content_index":1,"part":{"type":"output_text","text":"t"}"#;
    let t = "agent.session.turn";
    assert_wire(
        Event::ContentPartAdded(part()),
        &format!(r#"{{"type":"{t}.content_part.added",{head}{text_part}}}"#),
    );
    assert_wire(
        Event::ContentPartDone(part()),
        &format!(r#"{{"type":"{t}.content_part.done",{head}{text_part}}}"#),
    );

    let (session_id, turn_id, item_id) = base();
    let delta = OutputTextDeltaEvent {
        session_id,
        turn_id,
        item_id,
        output_index: 0,
        content_index: 1,
        delta: "d".into(),
    };
    assert_wire(
        Event::OutputTextDelta(delta),
        &format!(r#"{{"type":"{t}.output_text.delta",{head}"content_index":1,"delta":"d"}}"#),
    );
    let (session_id, turn_id, item_id) = base();
    let done = OutputTextDoneEvent {
        session_id,
        turn_id,
        item_id,
        output_index: 0,
        content_index: 1,
        text: "d".into(),
    };
    assert_wire(
        Event::OutputTextDone(done),
        &format!(r#"{{"type":"{t}.output_text.done",{head}"content_index":1,"text":"d"}}"#),
    );

    let summary = || Summary::SummaryText { text: "s".into() };
    let summary_json = r#""summary_index":2,"part":{"type":"summary_text","text":"s"}"#;
    let (session_id, turn_id, item_id) = base();
    let added = SummaryPartEvent {
        session_id,
        turn_id,
        item_id,
        output_index: 0,
        summary_index: 2,
        part: summary(),
    };
    assert_wire(
        Event::SummaryPartAdded(added),
        &format!(r#"{{"type":"{t}.reasoning_summary_part.added",{head}{summary_json}}}"#),
    );
    let (session_id, turn_id, item_id) = base();
    let done = SummaryPartDoneEvent {
        session_id,
        turn_id,
        item_id,
        output_index: 0,
        summary_index: 2,
        part: summary(),
        status: None,
    };
    assert_wire(
        Event::SummaryPartDone(done),
        &format!(
            r#"{{"type":"{t}.reasoning_summary_part.done",{head}{summary_json},"status":null}}"#
        ),
    );
    let (session_id, turn_id, item_id) = base();
    let delta = SummaryTextDeltaEvent {
        session_id,
        turn_id,
        item_id,
        output_index: 0,
        summary_index: 2,
        delta: "d".into(),
    };
    assert_wire(
        Event::SummaryTextDelta(delta),
        &format!(
            r#"{{"type":"{t}.reasoning_summary_text.delta",{head}"summary_index":2,"delta":"d"}}"#
        ),
    );
    let (session_id, turn_id, item_id) = base();
    let done = SummaryTextDoneEvent {
        session_id,
        turn_id,
        item_id,
        output_index: 0,
        summary_index: 2,
        text: "d".into(),
    };
    assert_wire(
        Event::SummaryTextDone(done),
        &format!(
            r#"{{"type":"{t}.reasoning_summary_text.done",{head}"summary_index":2,"text":"d"}}"#
        ),
    );

    let (session_id, turn_id, item_id) = base();
    let delta = CommandOutputDeltaEvent {
        session_id,
        turn_id,
        item_id,
        output_index: 0,
        delta: "o".into(),
    };
    assert_wire(
        Event::CommandOutputDelta(delta),
        &format!(r#"{{"type":"agent.output.command_execution_output.delta",{head}"delta":"o"}}"#),
    );
}

#[test]
fn environment_and_error_events() {
    type Make = fn(EnvironmentEvent) -> Event;
    let makes: [(Make, &str, EnvironmentStatus); 7] = [
        (
            Event::EnvironmentPending,
            "pending",
            EnvironmentStatus::Pending,
        ),
        (Event::EnvironmentReady, "ready", EnvironmentStatus::Ready),
        (
            Event::EnvironmentConnected,
            "connected",
            EnvironmentStatus::Connected,
        ),
        (
            Event::EnvironmentDisconnected,
            "disconnected",
            EnvironmentStatus::Disconnected,
        ),
        (
            Event::EnvironmentSuspended,
            "suspended",
            EnvironmentStatus::Suspended,
        ),
        (
            Event::EnvironmentExpired,
            "expired",
            EnvironmentStatus::Expired,
        ),
        (
            Event::EnvironmentFailed,
            "failed",
            EnvironmentStatus::Failed,
        ),
    ];
    for (make, name, status) in makes {
        let environment = EnvironmentState {
            id: "env_1".into(),
            kind: EnvironmentKind::OpenaiHosted,
            status,
            error: None,
        };
        assert_wire(
            make(EnvironmentEvent {
                session_id: "sess_1".into(),
                turn_id: None,
                environment,
            }),
            &format!(
                r#"{{"type":"agent.session.environment.{name}","event_id":"evt_1","session_id":"sess_1","turn_id":null,"environment":{{"id":"env_1","type":"openai_hosted","status":"{name}","error":null}}}}"#
            ),
        );
    }
    let error = StreamError {
        kind: "environment_error".into(),
        code: Some("sandbox_error".into()),
        message: "m".into(),
        param: None,
    };
    assert_wire(
        Event::Error(ErrorEvent {
            session_id: "sess_1".into(),
            error,
        }),
        r#"{"type":"error","event_id":"evt_1","session_id":"sess_1","error":{"type":"environment_error","code":"sandbox_error","message":"m","param":null}}"#,
    );
}

#[test]
fn reset_and_subagent_events() {
    assert_wire(
        Event::EnvironmentReset(EnvironmentResetEvent {
            session_id: "sess_1".into(),
            turn_id: Some("turn_1".into()),
            environment_id: "env_1".into(),
            reset_count: 2,
        }),
        r#"{"type":"agent.session.environment.reset","event_id":"evt_1","session_id":"sess_1","turn_id":"turn_1","environment_id":"env_1","reset_count":2}"#,
    );
    let make: [fn(SubagentEvent) -> Event; 3] = [
        Event::SubagentCreated,
        Event::SubagentActive,
        Event::SubagentClosed,
    ];
    for (make, name) in make.into_iter().zip(["created", "active", "closed"]) {
        let subagent = Subagent {
            id: "agent_2".into(),
            object: SubagentObject::Subagent,
            session_id: "sess_1".into(),
            parent_agent_id: "agent_1".into(),
            name: None,
            instructions: Some(vec![AgentContent::OutputText { text: "do".into() }]),
            status: SubagentStatus::Active,
            opened_at: 3,
            closed_at: None,
        };
        let json = serde_json::to_string(&subagent).unwrap();
        assert_eq!(serde_json::from_str::<Subagent>(&json).unwrap(), subagent);
        let event = make(SubagentEvent {
            subagent: Box::new(subagent),
        });
        assert_wire(
            event,
            &format!(
                r#"{{"type":"agent.session.subagent.{name}","event_id":"evt_1","subagent":{{"id":"agent_2","object":"agent.session.subagent","session_id":"sess_1","parent_agent_id":"agent_1","name":null,"instructions":[{{"type":"output_text","text":"do"}}],"status":"active","opened_at":3,"closed_at":null}}}}"#
            ),
        );
    }
}

/// A harness may send JSON with line breaks between its parts; a line of the stream must not end there.
#[test]
fn line_breaks_in_foreign_json_stay_within_the_frame() {
    for arguments in [
        "{\n\n\"a\":\"\\n\"}",
        "{\r\"a\":\"\\n\"\r}",
        "{\r\n\n\"a\":\n\n\"\\n\"\r}",
    ] {
        let call = FunctionCall {
            id: "i".into(),
            turn_id: "t".into(),
            call_id: "c".into(),
            name: "f".into(),
            arguments: Json::parse(arguments.into(), 9).unwrap(),
            status: CallStatus::InProgress,
        };
        let mut out = String::new();
        Event::ItemAdded(item_event(Item::FunctionCall(call), Some(0))).frame("evt_1", &mut out);
        assert_eq!(out.matches('\n').count(), 3);
        assert!(!out.contains('\r'));
        let data = out.lines().nth(1).unwrap().strip_prefix("data: ").unwrap();
        let value: Value = serde_json::from_str(data).unwrap();
        assert_eq!(value["item"]["arguments"], json!({"a": "\n"}));
    }
}

proptest! {
    #[test]
    fn text_is_spelled_as_serde_json_spells_it(delta in any::<String>(), control in "[\\x00-\\x20\\x7f\"\\\\é\u{2028}]*", index in any::<u32>()) {
        for delta in [delta, control] {
            let event = Event::OutputTextDelta(OutputTextDeltaEvent {
                session_id: "sess_1".into(),
                turn_id: "turn_1".into(),
                item_id: delta.clone(),
                output_index: index,
                content_index: 0,
                delta: delta.clone(),
            });
            let text = serde_json::to_string(&delta).unwrap();
            let mut out = String::new();
            event.frame("evt_1", &mut out);
            let name = event.name();
            prop_assert_eq!(out, format!("event: {name}\ndata: {{\"type\":\"{name}\",\"event_id\":\"evt_1\",\"session_id\":\"sess_1\",\"turn_id\":\"turn_1\",\"item_id\":{text},\"output_index\":{index},\"content_index\":0,\"delta\":{text}}}\n\n"));
        }
    }
}
