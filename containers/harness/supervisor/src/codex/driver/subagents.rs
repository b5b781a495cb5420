//! The subagents of a session: threads that Codex opens by itself.
//!
//! A thread becomes known by the call that opened it or by its first turn, whichever is told first. Its name and its parent
//! have to be asked for; until Codex says them, [`Events`](super::events::Events) keeps what comes after.

use std::collections::VecDeque;

use cloister_protocol::{ItemKind, ItemStatus, SubagentCall};

/// Subagents that are known at a time.
const MAX: usize = 64;

/// One subagent.
#[derive(Debug)]
pub struct Subagent {
    /// Codex's id of the thread.
    pub thread: String,
    /// The subagent that opened it; none for the session's own agent.
    pub parent: Option<String>,
    /// Codex's id of the turn that runs.
    pub turn: Option<String>,
    /// What it was told first.
    prompt: Option<String>,
    closed: bool,
}

/// The subagents.
#[derive(Debug, Default)]
pub struct Subagents {
    known: Vec<Subagent>,
    /// Sender and prompt of calls that open one.
    opening: VecDeque<(String, String)>,
}

impl Subagents {
    /// The subagent of that thread, if it is open.
    pub fn find(&mut self, thread: &str) -> Option<&mut Subagent> {
        self.known
            .iter_mut()
            .find(|agent| agent.thread == thread && !agent.closed)
    }

    /// Threads of the open subagents, and the turns that run in them.
    pub fn open(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let open = self.known.iter().filter(|agent| !agent.closed);
        open.map(|agent| (agent.thread.as_str(), agent.turn.as_deref()))
    }

    /// The turn has ended: calls of it that have not been told to open one never will.
    pub fn forget_openings(&mut self) {
        self.opening.clear();
    }

    /// Takes a thread for a subagent. False if it is one already, or if there are too many.
    pub fn insert(&mut self, thread: &str, parent: Option<String>, prompt: Option<String>) -> bool {
        if self.find(thread).is_some() {
            return false;
        }
        self.known.retain(|agent| agent.thread != thread);
        if self.known.len() >= MAX {
            let Some(index) = self.known.iter().position(|agent| agent.closed) else {
                return false;
            };
            self.known.remove(index);
        }
        self.known.push(Subagent {
            thread: thread.to_owned(),
            parent,
            turn: None,
            prompt,
            closed: false,
        });
        true
    }

    /// Codex has said who a thread is: the parent and the prompt of the subagent.
    pub fn identify(
        &mut self,
        thread: &str,
        parent: Option<&str>,
    ) -> (Option<String>, Option<String>) {
        let told = self.find(thread).is_none_or(|agent| agent.prompt.is_some());
        let prompt = parent.filter(|_| !told).and_then(|parent| {
            let index = self.opening.iter().position(|(sender, _)| sender == parent);
            index
                .and_then(|index| self.opening.remove(index))
                .map(|(_, prompt)| prompt)
        });
        let parent = parent.filter(|parent| self.find(parent).is_some());
        let parent = parent.map(str::to_owned);
        let Some(agent) = self.find(thread) else {
            return (None, None);
        };
        agent.parent = agent.parent.take().or(parent);
        agent.prompt = agent.prompt.take().or(prompt);
        (agent.parent.clone(), agent.prompt.clone())
    }

    /// Puts into a call what is known of the threads it names, and says what it does to them.
    pub fn call(&mut self, status: ItemStatus, kind: &mut ItemKind) -> Changes {
        let mut changes = Changes::default();
        let ItemKind::SubagentCall {
            call,
            sender,
            receivers,
            prompt,
            ..
        } = kind
        else {
            return changes;
        };
        let thread = sender.take().unwrap_or_default();
        *sender = self.find(&thread).map(|agent| agent.thread.clone());
        let opens = match call {
            SubagentCall::Create | SubagentCall::Resume => true,
            SubagentCall::SendInput
            | SubagentCall::Wait
            | SubagentCall::Interrupt
            | SubagentCall::Close => false,
        };
        if opens && status == ItemStatus::InProgress && self.opening.len() < MAX {
            if let Some(prompt) = prompt {
                self.opening.push_back((thread.clone(), prompt.clone()));
            }
        }
        if opens && status != ItemStatus::InProgress {
            let told = prompt.as_deref().unwrap_or_default();
            let index = self
                .opening
                .iter()
                .position(|o| o.0 == thread && o.1 == told);
            index.and_then(|index| self.opening.remove(index));
        }
        if status == ItemStatus::Completed && opens {
            for receiver in receivers.iter() {
                if self.insert(receiver, sender.clone(), prompt.clone()) {
                    changes.opened.push(receiver.clone());
                }
            }
        }
        receivers.retain(|receiver| self.known.iter().any(|agent| agent.thread == *receiver));
        if status == ItemStatus::Completed && *call == SubagentCall::Close {
            for receiver in receivers.iter() {
                self.close(receiver, &mut changes.closed);
            }
        }
        changes
    }

    /// Closes every subagent; gives those that were open.
    pub fn close_all(&mut self) -> Vec<String> {
        let all = std::mem::take(&mut self.known).into_iter();
        all.filter(|agent| !agent.closed)
            .map(|agent| agent.thread)
            .collect()
    }

    /// Closes a subagent and, before it, those that it opened.
    fn close(&mut self, thread: &str, closed: &mut Vec<String>) {
        let Some(agent) = self.find(thread) else {
            return;
        };
        agent.closed = true;
        let children = self
            .known
            .iter()
            .filter(|agent| !agent.closed && agent.parent.as_deref() == Some(thread));
        let children: Vec<String> = children.map(|agent| agent.thread.clone()).collect();
        for child in children {
            self.close(&child, closed);
        }
        closed.push(thread.to_owned());
    }
}

/// What a call did to subagents.
#[derive(Debug, Default)]
pub struct Changes {
    /// Threads that are new, or open again.
    pub opened: Vec<String>,
    /// Threads that were closed.
    pub closed: Vec<String>,
}
