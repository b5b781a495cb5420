//! The exec server: started, and started again when it has died.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cloister_protocol::trust::VARIABLES;
use cloister_protocol::{EXEC_PORT, WORKSPACE};

/// The program.
const PROGRAM: &str = "/opt/codex/bin/codex";
/// First and longest pause before a new start.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// A server that has lived this long may be started without a pause when it dies.
const STABLE: Duration = Duration::from_secs(30);

/// The server, running or to be started.
#[derive(Debug)]
pub struct ExecServer {
    pid: Option<u32>,
    started: Instant,
    start_at: Instant,
    pause: Duration,
}

impl ExecServer {
    /// One to be started at once.
    pub fn new(now: Instant) -> Self {
        Self {
            pid: None,
            started: now,
            start_at: now,
            pause: PAUSES.0,
        }
    }

    /// Its process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// It has died.
    pub fn died(&mut self, now: Instant) {
        self.pid = None;
        if now.duration_since(self.started) >= STABLE {
            self.pause = PAUSES.0;
        }
        self.start_at = now + self.pause;
        self.pause = (self.pause * 2).min(PAUSES.1);
    }

    /// Starts it if it is time to; true if it was tried.
    pub fn start_if_due(&mut self, now: Instant) -> bool {
        if self.pid.is_some() || now < self.start_at {
            return false;
        }
        self.started = now;
        match command().spawn() {
            Ok(child) => self.pid = Some(child.id()),
            Err(_) => self.died(now),
        }
        true
    }
}

/// Commands inherit this environment: what the container was given, without our own settings,
/// and where the border's certificate authority is.
fn command() -> Command {
    let mut command = Command::new(PROGRAM);
    command.args([
        "exec-server",
        "--listen",
        &format!("ws://0.0.0.0:{EXEC_PORT}"),
    ]);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"CLOISTER_") {
            command.env_remove(name);
        }
    }
    if std::env::var_os("HOME").is_none() {
        command.env("HOME", "/root");
    }
    for (name, value) in VARIABLES {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    // What it prints may hold parts of commands.
    command
        .current_dir(WORKSPACE)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_forgotten() {
        let mut now = Instant::now();
        let mut server = ExecServer::new(now);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            server.died(now);
            pauses.push((server.start_at - now).as_millis());
        }
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        now += STABLE;
        server.died(now);
        assert_eq!((server.start_at - now).as_millis(), 100);
    }
}
