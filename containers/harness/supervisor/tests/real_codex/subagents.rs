//! Subagents: threads that Codex opens by itself.

use std::time::Duration;

use cloister_protocol::{
    AgentSettings, Command, Event, FailureCode, Function, ItemKind, ItemStatus, Json, Outcome,
    SubagentCall, SubagentEvent,
};
use serde_json::json;

use crate::model::Step;
use crate::rig::{agent, appears, completed_items, start, start_as, thread_of, Rig};
use crate::{outcome, say, shell, tools};

const TOOLS: &str = "multi_agent_v1";

fn with(subagents: u32) -> AgentSettings {
    AgentSettings {
        subagents: Some(subagents),
        ..agent()
    }
}

fn spawn(prompt: &str) -> Step {
    Step::Call(Some(TOOLS), "spawn_agent", json!({ "message": prompt }))
}

/// Subagents by the order of their opening: id, parent, prompt.
fn opened(events: &[Event]) -> Vec<(String, Option<String>, Option<String>)> {
    let opened = events.iter().filter_map(|event| match event {
        Event::SubagentOpened {
            subagent,
            parent,
            name,
            prompt,
            ..
        } => {
            assert!(name.as_ref().is_some_and(|name| !name.is_empty()));
            Some((subagent.clone(), parent.clone(), prompt.clone()))
        }
        _ => None,
    });
    opened.collect()
}

/// What a subagent did, in short.
fn story(events: &[Event], of: &str) -> Vec<&'static str> {
    let told = events.iter().filter_map(|event| match event {
        Event::Subagent {
            subagent, event, ..
        } if subagent == of => Some(match event {
            SubagentEvent::Started => "started",
            SubagentEvent::ItemStarted(_) => "item",
            SubagentEvent::ItemCompleted(_) => "done",
            SubagentEvent::Usage(_) => "usage",
            SubagentEvent::Ended(Outcome::Completed) => "completed",
            SubagentEvent::Ended(Outcome::Interrupted) => "interrupted",
            SubagentEvent::Ended(Outcome::Failed { .. }) => "failed",
        }),
        _ => None,
    });
    told.collect()
}

fn ended(of: &str) -> impl Fn(&Event) -> bool + use<'_> {
    move |event| matches!(event, Event::Subagent { subagent, event: SubagentEvent::Ended(_), .. } if subagent == of)
}

#[tokio::test]
async fn without_them_there_are_no_such_tools() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([vec![spawn("child")], say("Alone.")]);
    let events = link.run(start("t1", None, "go")).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    assert!(opened(&events).is_empty());
    assert!(!tools(&rig.model.requests()[0]).contains(&TOOLS.to_owned()));
}

/// A thread that is resumed in a new container gets them or loses them as the agent has it by then.
#[tokio::test]
async fn they_may_come_and_go_between_containers() {
    let mut rig = Rig::start().await;
    let mut thread = None;
    for (n, agent) in [agent(), with(2), agent()].into_iter().enumerate() {
        let mut link = rig.attach(1, 0).await;
        rig.model.script([say("Here.")]);
        let has = agent.subagents.is_some();
        let start = start_as(agent, &format!("t{n}"), thread.as_deref(), "go");
        let events = link.run(start).await;
        assert_eq!(outcome(&events), &Outcome::Completed);
        thread = Some(thread_of(&events));
        let request = rig.model.requests().pop().unwrap();
        assert_eq!(tools(&request).contains(&TOOLS.to_owned()), has, "{n}");
        assert_eq!(request["input"].to_string().matches("Here.").count(), n);
        rig.restart().await;
    }
}

#[tokio::test]
async fn children_and_grandchildren() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let add = Function {
        name: "add".into(),
        description: "Adds.".into(),
        parameters: Json::parse(r#"{"type":"object"}"#.into(), 9).unwrap(),
        deferred: false,
        asynchronous: false,
    };
    let agent = AgentSettings {
        functions: vec![add],
        ..with(4)
    };
    rig.model
        .script_for("grandchild", [shell("echo grand"), say("Grandchild done.")]);
    let children = [
        vec![Step::Call(None, "add", json!({}))],
        vec![spawn("grandchild")],
        shell("sleep 1; echo child"),
        say("Child done."),
    ];
    rig.model.script_for("child", children);
    rig.model.script([vec![spawn("child")], say("Root done.")]);
    let mut events = link.run(start_as(agent.clone(), "t1", None, "go")).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    assert!(
        !events.iter().any(|e| matches!(e, Event::ToolCall { .. })),
        "the client is not asked"
    );

    // The child outlives the turn, and what it does is still told.
    let child = opened(&events)[0].0.clone();
    events.extend(link.until(ended(&child)).await);
    let all = opened(&events);
    let grandchild = all[1].0.clone();
    if !events.iter().any(ended(&grandchild)) {
        events.extend(link.until(ended(&grandchild)).await);
    }
    assert_eq!(
        all,
        [
            (child.clone(), None, Some("child".into())),
            (
                grandchild.clone(),
                Some(child.clone()),
                Some("grandchild".into())
            ),
        ]
    );
    let expected = [
        "started",
        "usage",
        "item",
        "done",
        "usage",
        "item",
        "done",
        "usage",
        "item",
        "done",
        "usage",
        "completed",
    ];
    let mut told = story(&events, &child);
    told.sort_unstable();
    let mut sorted = expected;
    sorted.sort_unstable();
    assert_eq!(told, sorted);
    assert_eq!(story(&events, &child)[0], "started");
    assert_eq!(story(&events, &grandchild).last(), Some(&"completed"));

    let items = completed_items(&events);
    let ItemKind::SubagentCall {
        call,
        sender,
        receivers,
        prompt,
        model,
        effort,
    } = &items[0].kind
    else {
        panic!("{items:#?}")
    };
    assert_eq!(
        (*call, sender, model, effort),
        (SubagentCall::Create, &None, &None, &None)
    );
    assert_eq!(
        (receivers.as_slice(), prompt.as_deref()),
        ([child.clone()].as_slice(), Some("child"))
    );
    let place = |wanted: &dyn Fn(&Event) -> bool| events.iter().position(wanted).unwrap();
    let opening = place(&|e| matches!(e, Event::SubagentOpened { .. }));
    assert!(
        opening < place(&|e| matches!(e, Event::ItemCompleted { .. })),
        "it is known first"
    );

    // Later turns: talk to it, wait, close it. Whatever it opened is closed too.
    let thread = thread_of(&events);
    let to = |tool, arguments| Step::Call(Some(TOOLS), tool, arguments);
    rig.model.script([
        vec![to(
            "resume_agent",
            json!({ "id": "019adf00-0000-7000-8000-000000000000" }),
        )],
        vec![to(
            "wait_agent",
            json!({ "targets": [child], "timeout_ms": 10_000 }),
        )],
        vec![to("close_agent", json!({ "target": child }))],
        vec![to(
            "send_input",
            json!({ "target": child, "message": "again" }),
        )],
        say("Closed."),
    ]);
    let events = link.run(start_as(agent, "t2", Some(&thread), "more")).await;
    let calls: Vec<_> = completed_items(&events)
        .into_iter()
        .filter_map(|item| match item.kind {
            ItemKind::SubagentCall { call, .. } => Some((call, item.status)),
            _ => None,
        })
        .collect();
    assert_eq!(
        calls,
        [
            (SubagentCall::Resume, ItemStatus::Failed),
            (SubagentCall::Wait, ItemStatus::Completed),
            (SubagentCall::Close, ItemStatus::Completed),
            (SubagentCall::SendInput, ItemStatus::Failed),
        ]
    );
    let closed: Vec<_> = events
        .iter()
        .filter_map(|e| match e {
            Event::SubagentClosed { subagent } => Some(subagent.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(closed, [grandchild, child]);
}

#[tokio::test]
async fn no_more_than_allowed() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let wait = vec![Step::Wait(Duration::from_secs(1)), Step::Say("Done.")];
    for child in ["a", "b"] {
        rig.model.script_for(child, [wait.clone()]);
    }
    rig.model
        .script([["a", "b", "c"].map(spawn).to_vec(), say("Root done.")]);
    let events = link.run(start_as(with(2), "t1", None, "go")).await;
    assert_eq!(opened(&events).len(), 2);
    let failed = completed_items(&events).into_iter();
    assert_eq!(
        failed
            .filter(|item| item.status == ItemStatus::Failed)
            .count(),
        1
    );
}

/// An interrupt of the turn stops children and grandchildren, and their commands.
#[tokio::test]
async fn an_interrupt_stops_all_of_them() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let command = |name: &str| {
        let (begun, alive) = (
            rig.file(&format!("{name}-begun")),
            rig.file(&format!("{name}-alive")),
        );
        shell(format!(
            "touch {}; sleep 4; touch {}",
            begun.display(),
            alive.display()
        ))
    };
    rig.model.script_for("grandchild", [command("grandchild")]);
    rig.model
        .script_for("child", [vec![spawn("grandchild")], command("child")]);
    rig.model.script([vec![spawn("child")], command("root")]);
    link.send(&start_as(with(4), "t1", None, "go")).await;
    for name in ["root", "child", "grandchild"] {
        appears(&rig.file(&format!("{name}-begun"))).await;
    }
    let turn_id = "t1".to_owned();
    link.send(&Command::Interrupt { turn_id }).await;
    link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    assert_eq!(outcome(&link.replay), &Outcome::Interrupted);
    for (subagent, ..) in opened(&link.replay) {
        assert_eq!(
            story(&link.replay, &subagent)
                .iter()
                .filter(|e| **e == "interrupted")
                .count(),
            1
        );
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    for name in ["root", "child", "grandchild"] {
        assert!(
            !rig.file(&format!("{name}-alive")).exists(),
            "{name} went on"
        );
    }
}

/// A child that fails does not fail its parent.
#[tokio::test]
async fn a_failing_child() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let failed = json!({ "response": { "id": "r", "object": "response", "status": "failed", "output": [],
        "error": { "code": "context_length_exceeded", "message": "no" } } });
    rig.model
        .script_for("child", [vec![Step::Event("response.failed", failed)]]);
    rig.model.script([
        vec![spawn("child")],
        vec![Step::Wait(Duration::from_secs(1)), Step::Say("Done.")],
        say("Told."),
    ]);
    let events = link.run(start_as(with(1), "t1", None, "go")).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    let code = FailureCode::ContextLengthExceeded;
    let failed = SubagentEvent::Ended(Outcome::Failed { code });
    assert!(events
        .iter()
        .any(|e| matches!(e, Event::Subagent { event, .. } if *event == failed)));
}
