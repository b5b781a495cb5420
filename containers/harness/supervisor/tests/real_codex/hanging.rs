//! A Codex that neither answers nor ends.

use std::process::Command as Process;
use std::time::Duration;

use cloister_protocol::{Command, Event, MAX_COMMAND_BYTES};

use crate::model::Step;
use crate::rig::{agent, start, start_as, Rig, LONG};
use crate::say;

/// An interrupt may take 10 s.
#[tokio::test]
async fn it_is_killed_and_told_to_be_lost() {
    let mut rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([vec![Step::Wait(LONG)]]);
    link.send(&start("t1", None, "go")).await;
    link.until(|e| matches!(e, Event::TurnStarted { .. })).await;
    let codex = rig.codex_pid();
    let stopped = Process::new("kill").args(["-STOP", &codex]).status();
    assert!(stopped.unwrap().success());
    while !is_stopped(&codex) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let turn_id = "t1".to_owned();
    link.send(&Command::Interrupt { turn_id }).await;
    let begun = std::time::Instant::now();
    loop {
        link.send(&Command::Ping).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        if !std::path::Path::new(&format!("/proc/{codex}")).exists() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(25), "it still runs");
    }
    assert!(begun.elapsed() > Duration::from_secs(8));
    let lost = async {
        loop {
            if let cloister_protocol::FromSupervisor::Event { event, seq } = link.frame().await {
                if event == (Event::HarnessLost { exit_code: None }) {
                    return seq;
                }
            }
        }
    };
    let seq = tokio::time::timeout(LONG, lost).await.unwrap();
    link.send(&Command::Acknowledge { seq }).await;
    let status = tokio::time::timeout(LONG, rig.supervisor.wait()).await;
    assert_eq!(status.unwrap().unwrap().code(), Some(0));
}

/// Whether all threads of a process have stopped: the last of them do so a moment after the signal.
fn is_stopped(pid: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let mut stats =
        threads.filter_map(|t| std::fs::read_to_string(t.unwrap().path().join("stat")).ok());
    stats.all(|stat| stat.rsplit(')').next().unwrap().starts_with(" T"))
}

/// The largest command arrives whole; larger than any event may be.
#[tokio::test]
async fn a_command_of_four_megabytes() {
    let rig = Rig::start().await;
    let mut link = rig.attach(1, 0).await;
    rig.model.script([say("Much.")]);
    let text = "x ".repeat((MAX_COMMAND_BYTES - 1000) / 2);
    let start = start_as(agent(), "t1", None, &text);
    let length = serde_json::to_string(&start).unwrap().len();
    assert!((MAX_COMMAND_BYTES - 1000..=MAX_COMMAND_BYTES).contains(&length));
    // Codex itself takes a million characters of input.
    let events = link.run(start).await;
    assert!(matches!(events.last(), Some(Event::TurnEnded { .. })));
}
