//! Records the scenarios with a real Codex.

#[path = "../../../../tests/real_codex/mcp.rs"]
mod mcp;
#[allow(dead_code)]
#[path = "../../../../tests/real_codex/model.rs"]
pub mod model;

use std::process::Stdio;
use std::time::Duration;

use cloister_protocol::{Command, Event};
use serde_json::{json, Value};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin};

use super::super::{Driver, Effect};
use super::plain::plain;
use super::scenarios::{self, Scenario};
use super::{folder, replay};
use crate::settings::Settings;
use model::Model;

/// Lines of Codex that nobody reads and that say nothing about a turn.
const NOISE: [&str; 6] = [
    "account/",
    "configWarning",
    "mcpServer/startupStatus",
    "remoteControl/",
    "thread/readState",
    "thread/settings",
];

#[tokio::test]
async fn record() {
    if std::env::var_os("CLOISTER_RECORD").is_none() {
        return;
    }
    for scenario in scenarios::all() {
        let name = scenario.name;
        let transcript = session(scenario).await;
        std::fs::write(
            folder().join(format!("{name}.events.jsonl")),
            replay(&transcript),
        )
        .unwrap();
        std::fs::write(folder().join(format!("{name}.jsonl")), transcript).unwrap();
    }
}

/// One scenario from beginning to end, as a transcript.
async fn session(scenario: Scenario) -> String {
    let codex =
        std::env::var("CLOISTER_CODEX").expect("CLOISTER_CODEX must name the codex program");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap().to_owned();
    std::fs::create_dir_all(dir.path().join("exec")).unwrap();
    let model = Model::start().await;
    (scenario.model)(&model);
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let exec_url = format!("ws://127.0.0.1:{port}");
    let mut exec = tokio::process::Command::new(&codex);
    let exec = exec.args(["exec-server", "--listen", &exec_url]);
    let exec = exec
        .env("CODEX_HOME", dir.path().join("exec"))
        .env("HOME", dir.path());
    let _exec = exec
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    while tokio::net::TcpStream::connect(("127.0.0.1", port))
        .await
        .is_err()
    {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let settings = Settings {
        codex: codex.into(),
        codex_home: dir.path().join("home"),
        listen: String::new(),
        model_url: model.url.clone(),
        exec_url,
        workspace: path.clone(),
        store_url: String::new(),
        restore: None,
    };
    crate::codex::home::write(&settings).unwrap();
    let mut options = scenario.settings.to_vec();
    if scenario.mcp {
        options.extend(mcp::settings(&mcp::start().await));
    }
    let mut program = tokio::process::Command::new(&settings.codex);
    for option in options {
        program.args(["-c", &option]);
    }
    let program = program
        .arg("app-server")
        .env_clear()
        .env("CODEX_HOME", &settings.codex_home);
    let program = program
        .env("HOME", &settings.codex_home)
        .env("PATH", "/usr/bin:/bin");
    let program = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let child = program.kill_on_drop(true).spawn().unwrap();
    plain(talk(child, &settings.workspace, scenario.play).await, &path)
}

/// Plays the Worker: gives each command when the event before it has come. Gives all lines.
async fn talk(mut child: Child, workspace: &str, play: Vec<scenarios::Cue>) -> Vec<Value> {
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut driver, effects) = Driver::new(workspace, Box::new(|_| None));
    let mut all = Vec::new();
    let mut play = play.into_iter().peekable();
    let mut waiting = effects;
    loop {
        let mut due: Vec<Command> = Vec::new();
        for effect in std::mem::take(&mut waiting) {
            match effect {
                Effect::Send(line) => send(&mut stdin, line).await,
                Effect::Emit(event) => {
                    if let Some(cue) = play.next_if(|cue| cue.after == name(&event)) {
                        due.extend((cue.command)(&event));
                    }
                }
            }
        }
        for command in due {
            all.push(json!({ "command": command }));
            waiting.extend(driver.command(command));
        }
        if !waiting.is_empty() {
            continue;
        }
        if play.peek().is_none() {
            break;
        }
        let line = tokio::time::timeout(Duration::from_secs(60), lines.next_line());
        let line = line
            .await
            .expect("nothing came")
            .unwrap()
            .expect("Codex has ended");
        let value: Value = serde_json::from_str(&line).unwrap();
        waiting = driver.line(line.as_bytes());
        let method = value["method"].as_str().unwrap_or_default();
        if !NOISE.iter().any(|noise| method.starts_with(noise)) {
            all.push(json!({ "codex": value }));
        }
    }
    all
}

async fn send(stdin: &mut ChildStdin, line: String) {
    stdin
        .write_all(format!("{line}\n").as_bytes())
        .await
        .unwrap();
}

/// The name of an event, as in JSON; of a subagent's event, the name of what happened.
fn name(event: &Event) -> String {
    let value = serde_json::to_value(event).unwrap();
    let (name, _) = value.as_object().unwrap().iter().next().unwrap();
    match event {
        Event::Subagent { .. } => {
            let inner = &value[name]["event"];
            let inner = inner.as_str().map(str::to_owned);
            inner.unwrap_or_else(|| {
                value[name]["event"]
                    .as_object()
                    .unwrap()
                    .keys()
                    .next()
                    .unwrap()
                    .clone()
            })
        }
        _ => name.clone(),
    }
}
