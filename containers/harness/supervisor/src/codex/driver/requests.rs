//! Our requests to Codex, until it answers them.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

/// For what Codex does by itself.
const PROMPT: Duration = Duration::from_secs(30);
/// For an interrupt, which Codex takes at once.
const INTERRUPT: Duration = Duration::from_secs(10);
/// For killing processes in a sandbox that may be gone; Codex looks for it for the better part of a minute.
const CLEAN: Duration = Duration::from_secs(120);
/// For what may wait for the sandbox: a thread opens only when its environment is there, and `environments.toml` allows
/// that twice two minutes.
const SANDBOX: Duration = Duration::from_secs(300);

/// A request, and what it is about.
#[derive(Debug)]
pub enum Call {
    Initialize,
    /// `thread/start`, or `thread/resume` of the thread.
    OpenThread {
        turn_id: String,
        resumed: Option<String>,
    },
    /// `thread/inject_items` into a thread that was begun anew.
    Inject {
        turn_id: String,
        thread: String,
    },
    StartTurn {
        turn_id: String,
    },
    Steer {
        input_id: String,
    },
    /// `turn/interrupt` of our turn or of one of its subagents'.
    Interrupt {
        turn_id: String,
        thread: String,
    },
    /// Kills what the turns of a thread have left running.
    Clean {
        turn_id: String,
    },
    /// Who is this thread?
    Identify {
        thread: String,
    },
}

impl Call {
    fn limit(&self) -> Duration {
        match self {
            Self::OpenThread { .. } => SANDBOX,
            Self::Clean { .. } => CLEAN,
            Self::Initialize => 2 * PROMPT,
            Self::Inject { .. }
            | Self::StartTurn { .. }
            | Self::Steer { .. }
            | Self::Identify { .. } => PROMPT,
            Self::Interrupt { .. } => INTERRUPT,
        }
    }
}

/// The open requests.
#[derive(Debug, Default)]
pub struct Requests {
    last: u64,
    open: HashMap<u64, (Call, Instant)>,
}

impl Requests {
    /// The number of a new request.
    pub fn insert(&mut self, call: Call) -> u64 {
        self.last += 1;
        let due = Instant::now() + call.limit();
        self.open.insert(self.last, (call, due));
        self.last
    }

    /// The request that is answered.
    pub fn take(&mut self, id: u64) -> Option<Call> {
        self.open.remove(&id).map(|(call, _)| call)
    }

    /// Whether Codex has not said of a steer whether it took it.
    pub fn is_steering(&self) -> bool {
        self.open
            .values()
            .any(|(call, _)| matches!(call, Call::Steer { .. }))
    }

    /// When the first of them should have been answered.
    pub fn due(&self) -> Option<Instant> {
        self.open.values().map(|(_, due)| *due).min()
    }

    /// Starts all waits anew: we have not listened for a while.
    pub fn renew(&mut self) {
        let now = Instant::now();
        for (call, due) in self.open.values_mut() {
            *due = now + call.limit();
        }
    }
}
