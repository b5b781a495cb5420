//! A supervisor with a real Codex, a scripted model and a real exec server, all on loopback.

use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use cloister_protocol::{AgentSettings, Command, Event, FromSupervisor, Input, Item, VERSION};
use futures_util::{SinkExt, StreamExt};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::Child;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{connect_async, MaybeTlsStream, WebSocketStream};

use super::model::Model;
use super::store::Store;

/// Nothing in these tests takes longer unless it hangs.
pub const LONG: Duration = Duration::from_secs(30);

/// Everything that runs; dropped, it ends.
pub struct Rig {
    pub model: Model,
    pub store: Store,
    pub supervisor: Child,
    exec: Child,
    codex: PathBuf,
    exec_url: String,
    url: String,
    dir: TempDir,
}

impl Rig {
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// With more of Codex's own settings, as `key=value` in TOML.
    pub async fn with(settings: &[String]) -> Self {
        let mut codex = PathBuf::from(
            std::env::var_os("CLOISTER_CODEX").expect("CLOISTER_CODEX must name the codex program"),
        );
        let dir = tempfile::tempdir().unwrap();
        if !settings.is_empty() {
            let settings: String = settings.iter().map(|s| format!(" -c '{s}'")).collect();
            let script = format!("#!/bin/sh\nexec {}{settings} \"$@\"\n", codex.display());
            codex = dir.path().join("codex");
            std::fs::write(&codex, script).unwrap();
            std::fs::set_permissions(&codex, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let model = Model::start().await;
        for folder in ["workspace", "exec"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let exec_port = free_port();
        let exec = tokio::process::Command::new(&codex)
            .args([
                "exec-server",
                "--listen",
                &format!("ws://127.0.0.1:{exec_port}"),
            ])
            .env("CODEX_HOME", dir.path().join("exec"))
            // Its shells are login shells: the profile of whoever runs the tests is not theirs.
            .env("HOME", dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        open(exec_port).await;
        let exec_url = format!("ws://127.0.0.1:{exec_port}");
        let store = Store::start().await;
        let spawned = supervisor(&codex, dir.path(), &model.url, &exec_url, &store.url, None);
        let mut rig = Self {
            model,
            store,
            supervisor: spawned.0,
            exec,
            codex,
            exec_url,
            url: String::new(),
            dir,
        };
        rig.listens(spawned.1).await;
        rig
    }

    /// A new supervisor, as in a new container: of Codex's folder it finds only the native history.
    pub async fn restart(&mut self) {
        let pid = self.supervisor.id().unwrap().to_string();
        std::process::Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap();
        self.supervisor.wait().await.unwrap();
        let home = self.home();
        let saved = self.dir.path().join("saved");
        std::fs::rename(home.join("sessions"), &saved).unwrap();
        std::fs::remove_dir_all(&home).unwrap();
        std::fs::create_dir(&home).unwrap();
        std::fs::rename(saved, home.join("sessions")).unwrap();
        let port = self.spawn(None);
        self.listens(port).await;
    }

    /// Kills the supervisor and Codex in the middle of whatever they do, as the end of their container does, and starts a
    /// supervisor that finds nothing but the grant. Gives the port where it should listen.
    pub async fn replace(&mut self, restore: Option<&str>) -> u16 {
        if let Some(pid) = self.supervisor.id() {
            let pids = format!("{} {pid}", self.codex_pid());
            std::process::Command::new("kill")
                .arg("-KILL")
                .args(pids.split_whitespace())
                .status()
                .unwrap();
            self.supervisor.wait().await.unwrap();
        }
        std::fs::remove_dir_all(self.home()).unwrap();
        self.spawn(restore)
    }

    fn spawn(&mut self, restore: Option<&str>) -> u16 {
        let port;
        (self.supervisor, port) = supervisor(
            &self.codex,
            self.dir.path(),
            &self.model.url,
            &self.exec_url,
            &self.store.url,
            restore,
        );
        port
    }

    /// Waits until the supervisor listens.
    pub async fn listens(&mut self, port: u16) {
        open(port).await;
        self.url = format!("ws://127.0.0.1:{port}/link");
    }

    /// Codex's own folder.
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// A file of the workspace.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join("workspace").join(name)
    }

    /// Process id of Codex.
    pub fn codex_pid(&self) -> String {
        let pid = self.supervisor.id().unwrap();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        children.trim().to_owned()
    }

    /// Opens a link that has seen everything up to `acknowledged`.
    pub async fn attach(&self, epoch: u64, acknowledged: u64) -> Link {
        let mut link = self.connect().await;
        link.send(&Command::Attach {
            epoch,
            acknowledged,
        })
        .await;
        let FromSupervisor::Attached {
            protocol: VERSION, ..
        } = link.frame().await
        else {
            panic!("not attached")
        };
        link.seen = acknowledged;
        link
    }

    /// Opens a WebSocket that has not attached.
    pub async fn connect(&self) -> Link {
        let (socket, _) = connect_async(&self.url).await.unwrap();
        Link {
            socket,
            seen: 0,
            replay: Vec::new(),
            ready: VecDeque::new(),
        }
    }

    /// Whether the exec server still runs.
    pub fn exec_runs(&mut self) -> bool {
        self.exec.try_wait().unwrap().is_none()
    }
}

/// The Worker's side of a link. Checks that no number is missing or repeated.
pub struct Link {
    pub socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// Highest number seen.
    pub seen: u64,
    /// All events so far.
    pub replay: Vec<Event>,
    /// Frames that came together with an earlier one.
    ready: VecDeque<FromSupervisor>,
}

impl Link {
    pub async fn send(&mut self, command: &Command) {
        self.socket
            .send(Message::text(serde_json::to_string(command).unwrap()))
            .await
            .unwrap();
    }

    pub async fn frame(&mut self) -> FromSupervisor {
        while self.ready.is_empty() {
            let message = tokio::time::timeout(LONG, self.socket.next())
                .await
                .expect("nothing came")
                .unwrap()
                .unwrap();
            let frames = message.to_text().unwrap().lines();
            self.ready
                .extend(frames.map(|frame| serde_json::from_str(frame).unwrap()));
        }
        self.ready.pop_front().unwrap()
    }

    /// Whether the supervisor closes the link; what still comes is skipped.
    pub async fn is_closed(&mut self) -> bool {
        let closed = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    Some(Ok(_)) => {}
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(5), closed)
            .await
            .is_ok()
    }

    pub async fn event(&mut self) -> Event {
        match self.frame().await {
            FromSupervisor::Event { seq, event } => self.take(seq, event),
            other => panic!("not an event: {other:?}"),
        }
    }

    fn take(&mut self, seq: u64, event: Event) -> Event {
        assert_eq!(seq, self.seen + 1, "numbers rise by one");
        self.seen = seq;
        self.replay.push(event.clone());
        event
    }

    pub async fn ask_to_save(&mut self, grant: &str) {
        let grant = grant.to_owned();
        self.send(&Command::SaveHistory { grant }).await;
    }

    /// The next answer to `save_history`: the grant, and whether all is stored. Events may come before.
    pub async fn saved(&mut self) -> (String, bool) {
        loop {
            match self.frame().await {
                FromSupervisor::HistorySaved { grant, success } => return (grant, success),
                FromSupervisor::Event { seq, event } => {
                    self.take(seq, event);
                }
                other => panic!("not asked for: {other:?}"),
            }
        }
    }

    /// Saves the history, which has to work.
    pub async fn save(&mut self, grant: &str) {
        self.ask_to_save(grant).await;
        assert_eq!(self.saved().await, (grant.to_owned(), true));
    }

    /// All events up to the first that `last` accepts.
    pub async fn until(&mut self, last: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.event().await;
            let done = last(&event);
            events.push(event);
            if done {
                return events;
            }
        }
    }

    /// All events of a turn that is started with `text`.
    pub async fn turn(&mut self, turn_id: &str, thread: Option<&str>, text: &str) -> Vec<Event> {
        self.run(start(turn_id, thread, text)).await
    }

    /// All events of the turn that the command starts.
    pub async fn run(&mut self, start: Command) -> Vec<Event> {
        self.send(&start).await;
        self.until(|e| matches!(e, Event::TurnEnded { .. })).await
    }
}

pub fn start(turn_id: &str, thread: Option<&str>, text: &str) -> Command {
    start_as(agent(), turn_id, thread, text)
}

/// An image of one pixel.
pub const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub fn start_as(agent: AgentSettings, turn_id: &str, thread: Option<&str>, text: &str) -> Command {
    Command::StartTurn {
        turn_id: turn_id.to_owned(),
        thread: thread.map(str::to_owned),
        agent: Box::new(agent),
        input: vec![Input::Text(text.to_owned())],
    }
}

/// An agent with a sandbox and nothing else.
pub fn agent() -> AgentSettings {
    AgentSettings {
        sandbox: true,
        ..AgentSettings::default()
    }
}

pub fn completed_items(events: &[Event]) -> Vec<Item> {
    let item = |event: &Event| match event {
        Event::ItemCompleted { item, .. } => Some(item.clone()),
        _ => None,
    };
    events.iter().filter_map(item).collect()
}

pub fn thread_of(events: &[Event]) -> String {
    let thread = |event: &Event| match event {
        Event::TurnStarted { thread, .. } => Some(thread.clone()),
        _ => None,
    };
    events.iter().find_map(thread).expect("a turn has started")
}

fn supervisor(
    codex: &Path,
    dir: &Path,
    model_url: &str,
    exec_url: &str,
    store_url: &str,
    restore: Option<&str>,
) -> (Child, u16) {
    let port = free_port();
    let child = tokio::process::Command::new(env!("CARGO_BIN_EXE_cloister-supervisor"))
        .env("CLOISTER_EPOCH", "1")
        .env("CLOISTER_CODEX", codex)
        .env("CLOISTER_CODEX_HOME", dir.join("home"))
        .env("CLOISTER_LISTEN", format!("127.0.0.1:{port}"))
        .env("CLOISTER_MODEL_URL", model_url)
        .env("CLOISTER_EXEC_URL", exec_url)
        .env("CLOISTER_WORKSPACE", dir.join("workspace"))
        .env("CLOISTER_STORE_URL", store_url)
        .envs(restore.map(|grant| ("CLOISTER_RESTORE", grant)))
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    (child, port)
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

async fn open(port: u16) {
    for _ in 0..600 {
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("port {port} stays closed");
}

/// Waits until `path` is there.
pub async fn appears(path: &Path) {
    for _ in 0..600 {
        if path.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never appeared");
}
