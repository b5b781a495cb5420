//! The supervisor with the real Codex, which `CLOISTER_CODEX` must name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "real_codex/approvals.rs"]
mod approvals;
#[path = "real_codex/compaction.rs"]
mod compaction;
#[path = "real_codex/ends.rs"]
mod ends;
#[path = "real_codex/functions.rs"]
mod functions;
#[path = "real_codex/hanging.rs"]
mod hanging;
#[path = "real_codex/history.rs"]
mod history;
#[path = "real_codex/mcp.rs"]
mod mcp;
#[path = "real_codex/model.rs"]
mod model;
#[path = "real_codex/rig.rs"]
mod rig;
#[path = "real_codex/settings.rs"]
mod settings;
#[path = "real_codex/store.rs"]
mod store;
#[path = "real_codex/subagents.rs"]
mod subagents;

use std::time::Duration;

use cloister_protocol::{
    AgentSettings, Command, Effort, Event, FileChangeKind, FromSupervisor, Input, ItemKind,
    ItemStatus, Outcome, Summary, Verbosity, MAX_COMMAND_BYTES,
};
use futures_util::SinkExt;
use model::Step;
use rig::{agent, appears, completed_items, start, start_as, thread_of, Rig};
use serde_json::Value;
use tokio_tungstenite::tungstenite::Message;

fn say(text: &'static str) -> Vec<Step> {
    vec![Step::Say(text)]
}

/// How a turn ended.
fn outcome(events: &[Event]) -> &Outcome {
    match events.last() {
        Some(Event::TurnEnded { outcome, .. }) => outcome,
        other => panic!("{other:?}"),
    }
}

/// Names of the tools in a request to the model.
fn tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().unwrap().iter();
    let name = |tool: &Value| {
        tool["name"]
            .as_str()
            .or(tool["type"].as_str())
            .map(str::to_owned)
    };
    tools.map(|tool| name(tool).unwrap()).collect()
}

fn shell(command: impl Into<String>) -> Vec<Step> {
    vec![Step::Shell(command.into())]
}

#[tokio::test]
async fn a_turn_with_command_edit_and_answer_and_a_second_one() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let Event::Ready { harness } = link.event().await else {
        panic!("ready comes first")
    };
    assert_eq!(harness, "codex 0.171.0");

    let added = rig.file("a.txt");
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+hello\n*** End Patch\n",
        added.display()
    );
    rig.model.script([
        vec![
            Step::Think("look first"),
            Step::Shell("echo one; sleep 0.3; echo two; exit 3".into()),
        ],
        vec![Step::Patch(patch)],
        say("All done."),
    ]);
    let told = AgentSettings {
        instructions: Some("Be brief, says the developer.".into()),
        effort: Some(Effort::Xhigh),
        summary: Some(Summary::Auto),
        verbosity: Some(Verbosity::High),
        ..agent()
    };
    let events = link.run(start_as(told.clone(), "t1", None, "go")).await;
    assert_eq!(
        events.last(),
        Some(&Event::TurnEnded {
            turn_id: "t1".into(),
            outcome: Outcome::Completed
        })
    );
    assert_eq!(std::fs::read_to_string(&added).unwrap(), "hello\n");

    let items = completed_items(&events);
    assert_eq!(items.len(), 4, "{items:#?}");
    assert_eq!(
        items[0].kind,
        ItemKind::Reasoning {
            summary: vec!["look first".into()]
        }
    );
    let ItemKind::Command {
        command,
        output,
        exit_code,
        duration_ms,
        ..
    } = &items[1].kind
    else {
        panic!()
    };
    assert!(command.contains("echo one"));
    assert_eq!(
        (output.as_deref(), *exit_code),
        (Some("one\ntwo\n"), Some(3))
    );
    assert!(duration_ms.is_some());
    assert_eq!(items[1].status, ItemStatus::Completed);
    let ItemKind::FileChanges { changes } = &items[2].kind else {
        panic!()
    };
    assert_eq!(
        (changes[0].path.as_str(), changes[0].kind),
        (added.to_str().unwrap(), FileChangeKind::Added)
    );
    assert_eq!(
        items[3].kind,
        ItemKind::Message {
            text: "All done.".into(),
            phase: None
        }
    );
    let deltas: String = events
        .iter()
        .filter_map(|e| {
            if let Event::TextDelta { delta, .. } = e {
                Some(delta.as_str())
            } else {
                None
            }
        })
        .collect();
    assert_eq!(deltas, "All done.");
    assert_eq!(
        events
            .iter()
            .filter(|e| matches!(e, Event::Usage { .. }))
            .count(),
        3,
        "one for each model call"
    );

    let request = &rig.model.requests()[0];
    assert_eq!(request["reasoning"]["effort"], "xhigh");
    assert_eq!(request["reasoning"]["summary"], "auto");
    assert_eq!(request["text"]["verbosity"], "high");
    let input = request["input"].to_string();
    assert!(
        input.contains("You are a coding agent.")
            && input.contains("Be brief, says the developer.")
    );
    assert!(!input.contains("Network access is enabled"));
    assert_eq!(
        tools(request),
        [
            "exec_command",
            "write_stdin",
            "update_plan",
            "request_user_input",
            "apply_patch"
        ]
    );

    let thread = thread_of(&events);
    rig.model.script([say("Still here.")]);
    let events = link.run(start_as(told, "t2", Some(&thread), "more")).await;
    assert_eq!(thread_of(&events), thread);
    let input = rig.model.requests()[3]["input"].to_string();
    assert!(
        input.contains("All done.") && input.contains("more"),
        "the second turn knows the first"
    );
    assert!(rig.exec_runs());
}

/// Codex refuses forced removal by itself, in every wrapping that it can look through.
#[tokio::test]
async fn commands_that_remove_by_force_run() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let commands = [
        "rm -rf DIR; echo gone",
        "cd DIR && rm -rf inner || true",
        "/bin/rm -rf DIR",
        "rm -r --force DIR/inner && ls -A DIR",
        "for d in DIR/*; do rm -rf \"$d\"; done",
        "target=DIR/inner; if test -d \"$target\"; then rm -rf \"$target\"; fi 2>&1",
        "bash -c 'rm -rf DIR'",
        "sh -c 'cd DIR && rm -rf inner'",
        "echo inner | (cd DIR && xargs rm -rf)",
        "rm -rf DIR <<'END'\nnothing\nEND",
        "cd DIR && git init -q . && git clean -fdxq && ! test -e inner",
    ];
    for (n, command) in commands.iter().enumerate() {
        let dir = rig.file(&format!("d{n}"));
        let inner = dir.join("inner");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("file"), "x").unwrap();
        let command = command.replace("DIR", dir.to_str().unwrap());
        rig.model.script([shell(&command), say("Done.")]);
        let events = link.turn(&format!("t{n}"), None, "go").await;
        let items = completed_items(&events);
        let ItemKind::Command {
            command: told,
            output,
            exit_code,
            ..
        } = &items[0].kind
        else {
            panic!("no item of `{command}`: {items:#?}")
        };
        assert_eq!(
            (*exit_code, items[0].status),
            (Some(0), ItemStatus::Completed),
            "{told}: {output:?}"
        );
        assert!(!inner.exists(), "{command}");
        if n == 0 {
            assert_eq!(output.as_deref(), Some("gone\n"));
        }
    }
}

#[tokio::test]
async fn a_new_container_continues_the_thread() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model
        .script([shell("echo from-the-first-turn"), say("First.")]);
    let thread = thread_of(&link.turn("t1", None, "go").await);
    rig.restart().await;
    let mut link = rig.attach(1, 0).await;
    rig.model
        .script([shell("echo from-the-second-turn"), say("Second.")]);
    let events = link.turn("t2", Some(&thread), "more").await;
    assert_eq!(
        events.last(),
        Some(&Event::TurnEnded {
            turn_id: "t2".into(),
            outcome: Outcome::Completed
        })
    );
    assert_eq!(thread_of(&events), thread);
    let items = completed_items(&events);
    assert_eq!(
        items.len(),
        2,
        "nothing of the first turn is told again: {items:#?}"
    );
    assert_eq!(
        events
            .iter()
            .filter(|e| matches!(e, Event::Usage { .. }))
            .count(),
        2
    );
    let input = rig.model.requests()[3]["input"].to_string();
    for text in ["from-the-first-turn", "First.", "from-the-second-turn"] {
        assert!(input.contains(text), "{text}");
    }
}

#[tokio::test]
async fn a_cut_link_loses_and_repeats_nothing() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([
        shell("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done"),
        say("one two three four five six"),
    ]);
    link.send(&start("t1", None, "go")).await;
    let mut events = link.until(|e| matches!(e, Event::OutputDelta { .. })).await;
    let seen = link.seen;
    drop(link);

    // A new link, acknowledging two events less than it has seen: these come again.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut link = rig.attach(1, seen - 2).await;
    let again = [link.event().await, link.event().await];
    assert_eq!(again.as_slice(), &events[events.len() - 2..]);
    events.push(link.event().await);

    // An equal epoch takes the link over while the old one is still there; a lower one is closed.
    let seen = link.seen;
    let mut newer = rig.attach(1, seen).await;
    assert!(link.is_closed().await);
    let mut newest = rig.attach(2, seen).await;
    assert!(newer.is_closed().await);
    let mut lower = rig.connect().await;
    lower
        .send(&Command::Attach {
            epoch: 1,
            acknowledged: seen,
        })
        .await;
    assert!(lower.is_closed().await);

    // The same turn again changes nothing.
    newest.send(&start("t1", None, "go")).await;
    events.extend(newest.until(|e| matches!(e, Event::TurnEnded { .. })).await);
    assert_eq!(
        events.last(),
        Some(&Event::TurnEnded {
            turn_id: "t1".into(),
            outcome: Outcome::Completed
        })
    );
    let items = completed_items(&events);
    let ItemKind::Command { output, .. } = &items[0].kind else {
        panic!()
    };
    assert_eq!(output.as_deref(), Some("1\n2\n3\n4\n5\n6\n7\n8\n"));
    assert_eq!(rig.model.requests().len(), 2);

    // What is acknowledged is gone, and too much is an error that forgets nothing.
    let last = newest.seen;
    newest.send(&Command::Acknowledge { seq: last }).await;
    newest.send(&Command::Ping).await;
    assert_eq!(newest.frame().await, FromSupervisor::Pong);
    newest.send(&Command::Acknowledge { seq: last + 1 }).await;
    assert!(newest.is_closed().await);
}

#[tokio::test]
async fn an_interrupt_kills_what_runs() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let (begun, alive) = (rig.file("begun"), rig.file("alive"));
    let command = format!(
        "touch {}; sleep 3; touch {}",
        begun.display(),
        alive.display()
    );
    rig.model.script([shell(command)]);
    link.send(&start("t1", None, "go")).await;
    let mut events = link.until(|e| matches!(e, Event::ItemStarted { .. })).await;
    appears(&begun).await;
    for _ in 0..2 {
        link.send(&Command::Interrupt {
            turn_id: "t1".into(),
        })
        .await;
    }
    events.extend(link.until(|e| matches!(e, Event::TurnEnded { .. })).await);
    assert_eq!(
        events.last(),
        Some(&Event::TurnEnded {
            turn_id: "t1".into(),
            outcome: Outcome::Interrupted
        })
    );

    // The command's own end may come after the turn's; then it still belongs to that turn.
    if completed_items(&events).is_empty() {
        events.extend(
            link.until(|e| matches!(e, Event::ItemCompleted { .. }))
                .await,
        );
    }
    let item = &completed_items(&events)[0];
    assert_eq!(item.status, ItemStatus::Failed, "{item:?}");
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(!alive.exists(), "the command went on");

    let thread = thread_of(&events);
    rig.model.script([say("Here.")]);
    let events = link.turn("t2", Some(&thread), "more").await;
    assert_eq!(
        events.last(),
        Some(&Event::TurnEnded {
            turn_id: "t2".into(),
            outcome: Outcome::Completed
        })
    );
}

/// D7: an interrupt between our `turn/start` and Codex's answer.
#[tokio::test]
async fn an_interrupt_right_after_the_start() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([say("First.")]);
    let events = link.turn("t1", None, "go").await;
    let thread = thread_of(&events);
    for (n, thread) in [None, Some(thread.as_str())].into_iter().enumerate() {
        let turn_id = format!("i{n}");
        rig.model.script([vec![
            Step::Wait(Duration::from_secs(5)),
            Step::Say("too late"),
        ]]);
        link.send(&start(&turn_id, thread, "go")).await;
        link.send(&Command::Interrupt {
            turn_id: turn_id.clone(),
        })
        .await;
        let events = tokio::time::timeout(
            Duration::from_secs(4),
            link.until(|e| matches!(e, Event::TurnEnded { .. })),
        );
        let events = events.await.expect("the turn runs on");
        assert_eq!(
            events.last(),
            Some(&Event::TurnEnded {
                turn_id,
                outcome: Outcome::Interrupted
            })
        );
    }
}

#[tokio::test]
async fn steering() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([shell("sleep 1"), say("Both.")]);
    link.send(&start("t1", None, "go")).await;
    let steer = |turn_id: &str, input_id: &str| Command::Steer {
        turn_id: turn_id.into(),
        input_id: input_id.into(),
        input: vec![Input::Text("and this too".into())],
    };
    link.send(&steer("t1", "s1")).await;
    link.send(&steer("t1", "s1")).await;
    link.send(&steer("other", "s2")).await;
    let events = link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    assert_eq!(
        events
            .iter()
            .filter(|e| **e
                == Event::Steered {
                    input_id: "s1".into()
                })
            .count(),
        1
    );
    assert!(events.contains(&Event::SteerRefused {
        input_id: "s2".into()
    }));
    assert!(rig.model.requests().last().unwrap()["input"]
        .to_string()
        .contains("and this too"));
    link.send(&steer("t1", "s3")).await;
    assert_eq!(
        link.event().await,
        Event::SteerRefused {
            input_id: "s3".into()
        }
    );
}

#[tokio::test]
async fn c14_frames_that_break_the_protocol_close_the_link() {
    let rig = Rig::start().await;
    let frames = [
        Message::text("{"),
        Message::text(r#""explode""#),
        Message::text(r#"{"acknowledge":{"seq":0,"more":1}}"#),
        Message::text(r#"{"attach":{"epoch":9,"acknowledged":0}}"#),
        Message::binary(br#""ping""#.to_vec()),
        Message::text(" ".repeat(MAX_COMMAND_BYTES + 1)),
    ];
    for (n, frame) in frames.into_iter().enumerate() {
        let mut link = rig.attach(1, 0).await;
        // The supervisor may close it before all of the frame is written.
        let _ = link.socket.send(frame).await;
        assert!(link.is_closed().await, "frame {n}");
    }
    let mut link = rig.connect().await;
    link.send(&Command::Ping).await;
    assert!(link.is_closed().await, "attach comes first");
    rig.attach(1, 0).await;
}
