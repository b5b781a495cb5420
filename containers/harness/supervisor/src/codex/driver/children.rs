//! What happens in the threads of subagents.

use cloister_protocol::{Event, Outcome, SubagentEvent};

use super::subagents::Changes;
use super::{Call, Driver, Effect, Turn};
use crate::codex::map::{cut, MAX_ID_BYTES};
use crate::codex::{calls, wire};

impl Driver {
    /// Something in our own turn. Calls about subagents are told with what is known of these.
    pub(super) fn own_event(&mut self, mut event: Event) {
        let changes = match &mut event {
            Event::ItemStarted { item, .. } | Event::ItemCompleted { item, .. } => {
                if let Some(thread) = self.turn.as_ref().and_then(Turn::thread) {
                    self.approvals.item(thread, item);
                }
                self.subagents.call(item.status, &mut item.kind)
            }
            _ => Changes::default(),
        };
        self.changed(changes, |driver| driver.emit(event));
    }

    /// Something in another thread: only subagents count.
    pub(super) fn child_event(&mut self, thread: String, turn: String, mut event: SubagentEvent) {
        if self.subagents.find(&thread).is_none() {
            return;
        }
        let changes = match &mut event {
            SubagentEvent::ItemStarted(item) | SubagentEvent::ItemCompleted(item) => {
                self.approvals.item(&thread, item);
                self.subagents.call(item.status, &mut item.kind)
            }
            SubagentEvent::Started | SubagentEvent::Usage(_) | SubagentEvent::Ended(_) => {
                Changes::default()
            }
        };
        self.changed(changes, |driver| driver.child(thread, turn, event));
    }

    /// Tells of new subagents, then of the call itself, then of closed ones.
    fn changed(&mut self, changes: Changes, call: impl FnOnce(&mut Self)) {
        for thread in changes.opened {
            self.announce(&thread);
        }
        call(self);
        for subagent in changes.closed {
            self.emit(Event::SubagentClosed { subagent });
        }
    }

    pub(super) fn child_started(&mut self, thread: String, turn: String, root: Option<String>) {
        let thread = cut(thread, MAX_ID_BYTES);
        let turn = cut(turn, MAX_ID_BYTES);
        let root = root.filter(|root| *root != turn);
        // Work that began with one of our turns is a subagent's, even if the call that opened it has not been told yet.
        let descends = root.as_deref().is_some_and(|root| self.mapper.knows(root));
        if descends && self.subagents.insert(&thread, None, None) {
            self.announce(&thread);
        }
        let Some(agent) = self.subagents.find(&thread) else {
            return;
        };
        agent.turn = Some(turn.clone());
        if root.is_some_and(|root| self.interrupted.contains(&root)) {
            self.stop(thread.clone(), Some(&turn));
        }
        self.child(thread, turn, SubagentEvent::Started);
    }

    pub(super) fn child_ended(&mut self, thread: String, turn: String, outcome: Outcome) {
        let Some(agent) = self.subagents.find(&thread) else {
            return;
        };
        agent.turn = None;
        self.child(thread, turn, SubagentEvent::Ended(outcome));
    }

    fn child(&mut self, subagent: String, turn: String, event: SubagentEvent) {
        self.emit(Event::Subagent {
            subagent,
            turn,
            event,
        });
    }

    /// A new subagent is told of when Codex has said who it is.
    fn announce(&mut self, thread: &str) {
        let event = self.opened(thread, None, None);
        self.events.open(thread, event);
        let params = calls::thread_read(thread);
        let thread = thread.to_owned();
        self.call(Call::Identify { thread }, "thread/read", params);
    }

    pub(super) fn identified(&mut self, thread: &str, read: Option<wire::Thread>) {
        let (parent, name) = read
            .map(|read| (read.parent_thread_id, read.agent_nickname))
            .unwrap_or_default();
        let name = name.map(|name| cut(name, MAX_ID_BYTES));
        let event = self.opened(thread, parent.as_deref(), name);
        let effects = &mut self.effects;
        self.events
            .settle(thread, event, |event| effects.push(Effect::Emit(event)));
    }

    fn opened(&mut self, thread: &str, parent: Option<&str>, name: Option<String>) -> Event {
        let (parent, prompt) = self.subagents.identify(thread, parent);
        let turn_id = self.turn.as_ref().map(|turn| turn.id.clone());
        let turn_id = turn_id.or_else(|| self.mapper.last_turn().map(str::to_owned));
        Event::SubagentOpened {
            turn_id: turn_id.unwrap_or_default(),
            subagent: thread.to_owned(),
            parent,
            name,
            prompt,
        }
    }
}
