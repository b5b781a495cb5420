//! The Codex process: JSON lines in and out, nothing else of it is read or logged.

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{kill_process, Pid, Signal};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::signal::unix::{signal, SignalKind};
use tokio::sync::{mpsc, watch};

use crate::reaper::{collect, Ended};
use crate::settings::Settings;

/// Longer lines are dropped. Command output, the largest thing we need, is cut at 1 MiB by Codex.
const MAX_LINE_BYTES: usize = 16 << 20;
/// Lines that may wait for Codex to read them.
const MAX_WAITING_LINES: usize = 256;
/// How long Codex may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// A running Codex.
pub struct Codex {
    pid: Pid,
    ended: watch::Receiver<Option<Ended>>,
    input: Option<mpsc::Sender<String>>,
    /// What it says.
    pub lines: Lines<BufReader<ChildStdout>>,
}

/// Codex no longer takes input.
#[derive(Debug)]
pub struct Stuck;

impl Codex {
    /// Starts it with an environment of its own.
    pub fn start(settings: &Settings) -> io::Result<Self> {
        let deaths = signal(SignalKind::child())?;
        let child = Command::new(&settings.codex)
            .args(["app-server", "--strict-config"])
            .env_clear()
            .env("CODEX_HOME", &settings.codex_home)
            .env("HOME", &settings.codex_home)
            .env("PATH", "/bin")
            .env("RUST_LOG", "off")
            .current_dir(&settings.codex_home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // It could carry anything a command printed.
            .stderr(Stdio::null())
            .spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (Some(pid), Some(stdin), Some(stdout)) = (pid, child.stdin, child.stdout) else {
            return Err(io::Error::other("no pipe"));
        };
        let (stdin, stdout) = (ChildStdin::from_std(stdin)?, ChildStdout::from_std(stdout)?);
        let (told, ended) = watch::channel(None);
        tokio::task::spawn_local(collect(deaths, pid, told));
        let (input, waiting) = mpsc::channel(MAX_WAITING_LINES);
        tokio::task::spawn_local(write_lines(stdin, waiting));
        let lines = Lines::new(BufReader::with_capacity(64 << 10, stdout), MAX_LINE_BYTES);
        Ok(Self {
            pid,
            ended,
            input: Some(input),
            lines,
        })
    }

    /// Gives it one line.
    pub fn send(&self, line: String) -> Result<(), Stuck> {
        let input = self.input.as_ref().ok_or(Stuck)?;
        input.try_send(line).map_err(|_| Stuck)
    }

    /// Asks it to end by closing its input, and kills it if it does not.
    pub async fn stop(&mut self) -> Ended {
        self.input = None;
        if let Ok(ended) = tokio::time::timeout(GRACE, self.wait()).await {
            return ended;
        }
        // An error means that it has just ended.
        let _ = kill_process(self.pid, Signal::KILL);
        self.wait().await
    }

    async fn wait(&mut self) -> Ended {
        let ended = self
            .ended
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|ended| *ended);
        ended.unwrap_or(Ended { exit_code: None })
    }
}

/// Hands lines to Codex in order; ends, and so closes its input, with the sender or with Codex.
async fn write_lines(mut stdin: ChildStdin, mut waiting: mpsc::Receiver<String>) {
    while let Some(mut line) = waiting.recv().await {
        line.push('\n');
        if stdin.write_all(line.as_bytes()).await.is_err() {
            break;
        }
    }
}

/// Lines of bounded length.
pub struct Lines<R> {
    reader: R,
    max: usize,
    line: Vec<u8>,
    buffered: usize,
    /// The rest of the current line is dropped.
    dropping: bool,
    /// Lines dropped because of their length.
    pub dropped: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Reads from `reader` lines of up to `max` bytes.
    pub fn new(reader: R, max: usize) -> Self {
        Self {
            reader,
            max,
            line: Vec::new(),
            buffered: 0,
            dropping: false,
            dropped: 0,
        }
    }

    /// Whether something has been read that [`next`](Self::next) has not looked at yet.
    pub fn has_more(&self) -> bool {
        self.buffered > 0
    }

    /// The next line without its end, or none at the end of the stream. May be cancelled at any point without loss.
    pub async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let bytes = self.reader.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', bytes);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > self.max {
                self.dropping = true;
                self.line = Vec::new();
            }
            if !self.dropping {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.buffered = bytes.len() - used;
            self.reader.consume(used);
            if end.is_none() {
                continue;
            }
            if std::mem::take(&mut self.dropping) {
                self.dropped += 1;
                continue;
            }
            return Ok(Some(std::mem::take(&mut self.line)));
        }
    }
}

#[cfg(test)]
mod tests;
