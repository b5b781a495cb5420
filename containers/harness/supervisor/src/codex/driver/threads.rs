//! The threads that Codex has open, and what they were opened with.

use std::collections::VecDeque;

use cloister_protocol::{AgentSettings, Function, Verbosity};

/// How many are remembered. A session has one, and one more each time its agent is changed.
const MAX: usize = 16;

/// What Codex takes only when it opens a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    instructions: Option<String>,
    verbosity: Option<Verbosity>,
    functions: Vec<Function>,
    subagents: Option<u32>,
}

impl Fixed {
    /// That part of an agent's settings.
    pub fn of(agent: &AgentSettings) -> Self {
        Self {
            instructions: agent.instructions.clone(),
            verbosity: agent.verbosity,
            functions: agent.functions.clone(),
            subagents: agent.subagents,
        }
    }
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// Codex's id.
    pub id: String,
    /// The file with its history.
    pub path: Option<String>,
    /// What it was opened with.
    pub fixed: Fixed,
}

/// The open threads, the oldest forgotten first.
#[derive(Debug, Default)]
pub struct Threads(VecDeque<Thread>);

impl Threads {
    /// The thread of that id.
    pub fn find(&self, id: &str) -> Option<&Thread> {
        self.0.iter().find(|thread| thread.id == id)
    }

    /// Remembers a thread; what was known of it is replaced.
    pub fn insert(&mut self, thread: Thread) {
        self.0.retain(|known| known.id != thread.id);
        if self.0.len() == MAX {
            self.0.pop_front();
        }
        self.0.push_back(thread);
    }
}
