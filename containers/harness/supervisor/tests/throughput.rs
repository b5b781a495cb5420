//! Very many small deltas on their way from the harness to the link. How fast they are is for `./dev bench` to say.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use cloister_protocol::{AgentSettings, Command, Event, FromSupervisor, Input};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{connect_async, MaybeTlsStream, WebSocketStream};

const DELTAS: usize = 100_000;

/// Stands in for Codex: answers the three requests that open a turn, says what is in a file, then echoes deltas.
const HARNESS: &str = r#"#!/bin/sh
read -r line; echo '{"id":1,"result":{"userAgent":"x/1 ()"}}'
read -r line; read -r line; echo '{"id":2,"result":{"thread":{"id":"T"}}}'
read -r line; echo '{"id":3,"result":{"turn":{"id":"U"}}}'
cat DELTAS
while read -r line; do echo '{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"U","itemId":"last","delta":"x"}}'; done
"#;

struct Link {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// Frames that came together with an earlier one.
    ready: VecDeque<FromSupervisor>,
}

#[tokio::test]
async fn a_hundred_thousand_deltas_pass_in_order_and_a_single_one_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let deltas = dir.path().join("deltas");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&deltas).unwrap());
    for n in 0..DELTAS {
        // An item may not grow for ever.
        let item = n / 1000;
        writeln!(file, r#"{{"method":"item/agentMessage/delta","params":{{"threadId":"T","turnId":"U","itemId":"msg_{item}","delta":"word {n} "}},"emittedAtMs":1800000000000}}"#).unwrap();
    }
    file.flush().unwrap();
    let harness = dir.path().join("codex");
    std::fs::write(
        &harness,
        HARNESS.replace("DELTAS", deltas.to_str().unwrap()),
    )
    .unwrap();
    std::fs::set_permissions(&harness, PermissionsExt::from_mode(0o755)).unwrap();
    let (_supervisor, mut link) = start(&harness, dir.path()).await;

    let (mut count, mut seq) = (0, 0);
    while count < DELTAS {
        match event(&mut link).await {
            (number, Event::TextDelta { delta, .. }) => {
                assert_eq!((number, delta), (seq + 1, format!("word {count} ")));
                (count, seq) = (count + 1, number);
                if count % 1000 == 0 {
                    send(&mut link, &Command::Acknowledge { seq }).await;
                }
            }
            (number, _) => seq = number,
        }
    }

    // One at a time, there and back: none waits for more.
    for n in 0..100 {
        send(
            &mut link,
            &Command::Steer {
                turn_id: "t1".into(),
                input_id: format!("i{n}"),
                input: Vec::new(),
            },
        )
        .await;
        while !matches!(event(&mut link).await, (_, Event::TextDelta { .. })) {}
    }
}

async fn start(harness: &Path, dir: &Path) -> (tokio::process::Child, Link) {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let supervisor = tokio::process::Command::new(env!("CARGO_BIN_EXE_cloister-supervisor"))
        .env("CLOISTER_EPOCH", "1")
        .env("CLOISTER_CODEX", harness)
        .env("CLOISTER_CODEX_HOME", dir.join("home"))
        .env("CLOISTER_LISTEN", format!("127.0.0.1:{port}"))
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut link = loop {
        match connect_async(format!("ws://127.0.0.1:{port}/link")).await {
            Ok((socket, _)) => {
                break Link {
                    socket,
                    ready: VecDeque::new(),
                }
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    send(
        &mut link,
        &Command::Attach {
            epoch: 1,
            acknowledged: 0,
        },
    )
    .await;
    send(
        &mut link,
        &Command::StartTurn {
            turn_id: "t1".into(),
            thread: None,
            agent: Box::new(AgentSettings::default()),
            input: vec![Input::Text("go".into())],
        },
    )
    .await;
    (supervisor, link)
}

async fn send(link: &mut Link, command: &Command) {
    link.socket
        .send(Message::text(serde_json::to_string(command).unwrap()))
        .await
        .unwrap();
}

async fn event(link: &mut Link) -> (u64, Event) {
    loop {
        match link.ready.pop_front() {
            Some(FromSupervisor::Event { seq, event }) => return (seq, event),
            Some(
                FromSupervisor::Attached { .. }
                | FromSupervisor::Pong
                | FromSupervisor::HistorySaved { .. },
            ) => {}
            None => {
                let message = tokio::time::timeout(Duration::from_secs(30), link.socket.next())
                    .await
                    .expect("nothing came");
                let message = message.unwrap().unwrap();
                let frames = message.to_text().unwrap().lines();
                link.ready
                    .extend(frames.map(|frame| serde_json::from_str(frame).unwrap()));
            }
        }
    }
}
