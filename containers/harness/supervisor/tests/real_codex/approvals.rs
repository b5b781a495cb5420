//! Approvals of calls of MCP tools.

use cloister_protocol::{Command, Decision, Event, ItemKind, ItemStatus, Outcome};
use serde_json::json;

use crate::model::Step;
use crate::rig::{completed_items, start, thread_of, Rig};
use crate::{mcp, outcome, say};

fn book() -> Vec<Step> {
    vec![Step::Call(
        Some("mcp__tickets"),
        "book",
        json!({ "what": "a seat" }),
    )]
}

#[tokio::test]
async fn the_client_decides() {
    let rig = Rig::with(&mcp::settings(&mcp::start().await)).await;
    let mut link = rig.attach(1, 0).await;
    let mut thread: Option<String> = None;
    for (n, (decision, status, text)) in [
        (Decision::Approve, ItemStatus::Completed, "booked"),
        (Decision::Deny, ItemStatus::Failed, "rejected"),
        (Decision::Cancel, ItemStatus::Failed, "cancelled"),
    ]
    .into_iter()
    .enumerate()
    {
        rig.model.script([book(), say("Done.")]);
        let turn = format!("t{n}");
        link.send(&start(&turn, thread.as_deref(), "go")).await;
        let mut events = link
            .until(|e| matches!(e, Event::ApprovalRequested { .. }))
            .await;
        let Some(Event::ApprovalRequested {
            turn_id,
            request_id,
            server,
            tool,
            message,
            arguments,
        }) = events.last().cloned()
        else {
            panic!()
        };
        assert_eq!(
            (turn_id, server.as_str(), tool.as_deref()),
            (turn, "tickets", Some("book"))
        );
        assert!(message.contains("book"));
        assert_eq!(arguments.unwrap().as_str(), r#"{"what":"a seat"}"#);
        for decision in [decision, Decision::Approve] {
            let request_id = request_id.clone();
            link.send(&Command::Approval {
                request_id,
                decision,
            })
            .await;
        }
        events.extend(link.until(|e| matches!(e, Event::TurnEnded { .. })).await);
        assert_eq!(outcome(&events), &Outcome::Completed);
        let closed = events.iter().filter(|e| {
            **e == Event::ApprovalClosed {
                request_id: request_id.clone(),
            }
        });
        assert_eq!(closed.count(), 1);
        let item = &completed_items(&events)[0];
        let ItemKind::McpCall {
            server,
            name,
            arguments,
            output,
            error,
        } = &item.kind
        else {
            panic!("{item:?}")
        };
        assert_eq!(
            (server.as_str(), name.as_str(), item.status),
            ("tickets", "book", status)
        );
        assert_eq!(arguments.as_str(), r#"{"what":"a seat"}"#);
        let told = output.as_ref().or(error.as_ref()).unwrap();
        assert!(told.as_str().contains(text), "{told:?}");
        thread = Some(thread_of(&events));
    }
}

#[tokio::test]
async fn an_interrupt_closes_what_is_asked() {
    let rig = Rig::with(&mcp::settings(&mcp::start().await)).await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([book()]);
    link.send(&start("t1", None, "go")).await;
    link.until(|e| matches!(e, Event::ApprovalRequested { .. }))
        .await;
    let turn_id = "t1".to_owned();
    link.send(&Command::Interrupt { turn_id }).await;
    let events = link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    assert_eq!(outcome(&events), &Outcome::Interrupted);
    let closed = events
        .iter()
        .filter(|e| matches!(e, Event::ApprovalClosed { .. }));
    assert_eq!(closed.count(), 1);
}

/// A question of the server itself is declined: nobody is asked, nothing waits.
#[tokio::test]
async fn a_question_of_the_server_is_declined() {
    let rig = Rig::with(&mcp::settings(&mcp::start().await)).await;
    let mut link = rig.attach(1, 0).await;
    let ask = Step::Call(Some("mcp__tickets"), "ask", json!({}));
    rig.model.script([vec![ask], say("Done.")]);
    link.send(&start("t1", None, "go")).await;
    let events = link
        .until(|e| matches!(e, Event::ApprovalRequested { .. }))
        .await;
    let Some(Event::ApprovalRequested { request_id, .. }) = events.last().cloned() else {
        panic!()
    };
    let decision = Decision::Approve;
    link.send(&Command::Approval {
        request_id,
        decision,
    })
    .await;
    let events = link.until(|e| matches!(e, Event::TurnEnded { .. })).await;
    assert_eq!(outcome(&events), &Outcome::Completed);
    assert!(!events
        .iter()
        .any(|e| matches!(e, Event::ApprovalRequested { .. })));
}
