//! Compaction of the history, as Codex does it by itself.

use cloister_protocol::{Command, Event, Input, ItemKind, Outcome};

use crate::model::Step;
use crate::rig::{agent, completed_items, start, start_as, thread_of, Rig};
use crate::{outcome, say};
use std::time::Duration;

#[tokio::test]
async fn it_yields_no_items_and_refuses_no_turn() {
    let rig = Rig::with(&["model_auto_compact_token_limit=50000".to_owned()]).await;
    let mut link = rig.attach(1, 0).await;
    let summary = vec![Step::Wait(Duration::from_secs(1)), Step::Say("SUMMARY")];
    let full = vec![Step::Shell("echo one".into()), Step::Tokens(60_000)];
    rig.model
        .script([full, summary.clone(), say("Two."), say("Two.")]);
    link.send(&start("t1", None, "go")).await;
    let mut events = link.until(|e| matches!(e, Event::Usage { .. })).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    link.send(&Command::Steer {
        turn_id: "t1".into(),
        input_id: "s1".into(),
        input: vec![Input::Text("and this".into())],
    })
    .await;
    events.extend(link.until(|e| matches!(e, Event::TurnEnded { .. })).await);
    assert_eq!(outcome(&events), &Outcome::Completed);
    let steered = |e: &&Event| matches!(e, Event::Steered { .. } | Event::SteerRefused { .. });
    assert_eq!(events.iter().filter(steered).count(), 1, "{events:#?}");
    let items = completed_items(&events);
    assert_eq!(items.len(), 2, "{items:#?}");
    assert!(matches!(items[0].kind, ItemKind::Command { .. }));
    let requests = rig.model.requests();
    assert!(requests[2]["input"].to_string().contains("SUMMARY"));

    // A thread begun anew has what is left.
    rig.model.clear();
    rig.model.script([say("Three.")]);
    let thread = thread_of(&events);
    let other = cloister_protocol::AgentSettings {
        instructions: Some("Be brief.".into()),
        ..agent()
    };
    let events = link.run(start_as(other, "t2", Some(&thread), "more")).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    let input = rig.model.requests().pop().unwrap()["input"].to_string();
    assert!(
        input.contains("SUMMARY") && !input.contains("echo one"),
        "{input}"
    );
}
