//! How turns fail, and how programs end.

use std::path::Path;
use std::process::Command as Process;
use std::time::Duration;

use cloister_protocol::{Command, Event, FailureCode, Outcome};

use crate::model::Step;
use crate::rig::{thread_of, Rig, LONG};

#[tokio::test]
async fn failures() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    let mut thread = None;
    // Codex calls a plain 400 "other"; the gateway knows better what it has refused.
    for (turn_id, status, code) in [
        ("t1", 400, FailureCode::InternalError),
        ("t2", 401, FailureCode::AuthenticationError),
        ("t3", 429, FailureCode::RateLimitExceeded),
        ("t4", 500, FailureCode::ServerError),
    ] {
        // As many as Codex may ask for.
        rig.model.script(vec![vec![Step::Status(status)]; 100]);
        let events = link.turn(turn_id, thread.as_deref(), "go").await;
        let outcome = Outcome::Failed { code };
        assert_eq!(
            events.last(),
            Some(&Event::TurnEnded {
                turn_id: turn_id.into(),
                outcome
            }),
            "{status}"
        );
        rig.model.clear();
        thread = Some(thread_of(&events));
    }
    // A thread that does not exist: the turn fails so that the Worker may begin another.
    let events = link
        .turn("t9", Some("019adf00-0000-7000-8000-000000000000"), "go")
        .await;
    let outcome = Outcome::Failed {
        code: FailureCode::ResourceNotFound,
    };
    assert_eq!(
        events.last(),
        Some(&Event::TurnEnded {
            turn_id: "t9".into(),
            outcome
        })
    );
}

#[tokio::test]
async fn the_end_of_codex_is_told() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    link.event().await;
    let killed = Process::new("kill")
        .args(["-9", &rig.codex_pid()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(link.event().await, Event::HarnessLost { exit_code: None });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(
        rig.supervisor.try_wait().unwrap().is_none(),
        "it waits for the acknowledgement"
    );
    let seq = link.seen;
    link.send(&Command::Acknowledge { seq }).await;
    let status = tokio::time::timeout(LONG, rig.supervisor.wait())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn sigterm_ends_everything() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    link.event().await;
    let codex = rig.codex_pid();
    let pid = rig.supervisor.id().unwrap().to_string();
    Process::new("kill").args(["-TERM", &pid]).status().unwrap();
    let status = tokio::time::timeout(Duration::from_secs(3), rig.supervisor.wait())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(!Path::new(&format!("/proc/{codex}")).exists());
}

/// In its container the kernel ends everything with process 1; elsewhere Codex ends by itself when its input does.
#[tokio::test]
async fn codex_does_not_outlive_the_supervisor() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    link.event().await;
    let codex = rig.codex_pid();
    rig.supervisor.kill().await.unwrap();
    for _ in 0..100 {
        // Without a reaper it may stay as a zombie, which has no command line.
        let line = std::fs::read(format!("/proc/{codex}/cmdline")).unwrap_or_default();
        if line.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it still runs");
}
