//! Subagents: agents that the session's agent has made. Their turns and items are kept, and not shown in the stream.
use super::failure::error_code;
use super::items::{call_status, cut, id_kind, MAX_COMMAND};
use super::lifecycle::{add, finish, ROW_BYTES};
use super::state::{Child, Session};
use super::step::{ItemWrite, Seeds, Step};
use crate::wire::event::{Event, SubagentEvent};
use crate::wire::id::Kind;
use crate::wire::subagent::{AgentContent, Subagent, SubagentObject, SubagentStatus};
use crate::wire::turn::{TurnErrorCode, TurnStatus};
use cloister_protocol::{self as protocol, Outcome, MAX_TEXT_BYTES};

/// Subagents that are known at once, closed ones among them: more than any harness makes in one turn.
const MAX_KNOWN: usize = 128;
/// Turns that one subagent runs at once. Harnesses run one; more is a forgery.
const MAX_TURNS: usize = 4;
/// Bytes of a harness's id.
const MAX_HARNESS_ID: usize = 256;

impl Session {
    /// The public id of an agent that the harness names; none is the session's own.
    pub(super) fn agent_id_of(&self, harness_id: Option<&str>) -> String {
        let child = harness_id
            .and_then(|id| self.child(id))
            .and_then(|number| self.subagents.get(number));
        child.map_or_else(
            || self.public.agent.id.clone(),
            |child| child.public.id.clone(),
        )
    }

    fn child(&self, harness_id: &str) -> Option<u64> {
        self.subagents.find(|child| child.harness_id == harness_id)
    }

    pub(super) fn open_subagent(
        &mut self,
        harness_id: String,
        parent: Option<String>,
        name: Option<String>,
        prompt: Option<String>,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        if self.core.running.is_none()
            || self.child(&harness_id).is_some()
            || harness_id.len() > MAX_HARNESS_ID
        {
            return;
        }
        let closed = |child: &Child| child.public.status == SubagentStatus::Closed;
        if self.subagents.len() >= MAX_KNOWN {
            match self.subagents.find(closed) {
                Some(oldest) => drop(self.subagents.remove(oldest)),
                None => return,
            }
        }
        let instructions = prompt.map(|text| {
            vec![AgentContent::OutputText {
                text: cut(text, MAX_TEXT_BYTES),
            }]
        });
        let public = Subagent {
            id: seeds.id(Kind::Agent),
            object: SubagentObject::Subagent,
            session_id: self.public.id.clone(),
            parent_agent_id: self.agent_id_of(parent.as_deref()),
            name: name.map(|name| cut(name, MAX_COMMAND)),
            instructions,
            status: SubagentStatus::Active,
            opened_at: seeds.seconds(),
            closed_at: None,
        };
        step.subagents.push(public.clone());
        self.subagents.push(Child {
            harness_id,
            public: public.clone(),
            turns: Vec::new(),
        });
        self.emit_subagent(Event::SubagentCreated, &public, step);
        self.emit_subagent(Event::SubagentActive, &public, step);
    }

    pub(super) fn take_subagent_event(
        &mut self,
        harness_id: &str,
        harness_turn: &str,
        event: protocol::SubagentEvent,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        use protocol::SubagentEvent as E;
        let Some(number) = self.child(harness_id) else {
            return;
        };
        match event {
            E::Started => self.begin_child_turn(number, harness_turn, seeds, step),
            // Their items are read when they are final.
            E::ItemStarted(_) => {}
            E::ItemCompleted(item) => {
                let Some((turn_id, subagent)) = self.child_turn(number, harness_turn) else {
                    return;
                };
                let id = seeds.id(id_kind(&item.kind));
                let item = self.item_of(id, turn_id, item.kind, call_status(item.status));
                let size = serde_json::to_vec(&item).map_or(0, |json| json.len());
                self.count_written(size as u64);
                step.items.push(ItemWrite::Append {
                    subagent: Some(subagent),
                    item,
                });
            }
            E::Usage(usage) => {
                if let Some(child) = self.subagents.edit(number) {
                    let turns = child.turns.iter_mut();
                    for (_, turn) in turns.filter(|(id, _)| id == harness_turn) {
                        add(turn.usage.get_or_insert_default(), usage);
                    }
                }
                self.session_used(usage);
            }
            E::Ended(outcome) => {
                let (status, code) = match outcome {
                    Outcome::Completed => (TurnStatus::Completed, None),
                    Outcome::Interrupted => (TurnStatus::Cancelled, None),
                    Outcome::Failed { code } => (TurnStatus::Failed, Some(error_code(code))),
                };
                self.end_child_turns(number, Some(harness_turn), status, code, seeds, step);
            }
        }
    }

    fn begin_child_turn(
        &mut self,
        number: u64,
        harness_turn: &str,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        let Some(child) = self.subagents.get(number) else {
            return;
        };
        if child.turns.len() >= MAX_TURNS
            || child.turns.iter().any(|(id, _)| id == harness_turn)
            || harness_turn.len() > MAX_HARNESS_ID
            || child.public.status == SubagentStatus::Closed
        {
            return;
        }
        let subagent_id = child.public.id.clone();
        let mut turn = self.new_turn(Some(subagent_id), TurnStatus::InProgress, seeds);
        turn.started_at = Some(seeds.seconds());
        step.turns.push(turn.clone());
        self.count_written(ROW_BYTES);
        if let Some(child) = self.subagents.edit(number) {
            child.turns.push((harness_turn.to_owned(), turn));
        }
    }

    /// Public ids of a running turn and of its subagent.
    fn child_turn(&self, number: u64, harness_turn: &str) -> Option<(String, String)> {
        let child = self.subagents.get(number)?;
        let (_, turn) = child.turns.iter().find(|(id, _)| id == harness_turn)?;
        Some((turn.id.clone(), child.public.id.clone()))
    }

    /// Ends a subagent's turn, or all of them.
    fn end_child_turns(
        &mut self,
        number: u64,
        harness_turn: Option<&str>,
        status: TurnStatus,
        code: Option<TurnErrorCode>,
        seeds: &Seeds<'_>,
        step: &mut Step,
    ) {
        let Some(child) = self.subagents.edit(number) else {
            return;
        };
        let over = |id: &str| harness_turn.is_none_or(|wanted| wanted == id);
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut child.turns)
            .into_iter()
            .partition(|(id, _)| over(id));
        child.turns = kept;
        for (_, mut turn) in gone {
            let usage = turn.usage;
            finish(&mut turn, status, code, usage, seeds);
            step.turns.push(turn);
        }
    }

    pub(super) fn close_subagent(
        &mut self,
        harness_id: &str,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        if let Some(number) = self.child(harness_id) {
            self.close_child(number, TurnStatus::Cancelled, None, seeds, step);
        }
    }

    /// The harness that had them is gone, or is about to be.
    pub(super) fn close_subagents(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        let numbers: Vec<u64> = self.subagents.iter().map(|(number, _)| number).collect();
        for number in numbers {
            let code = Some(TurnErrorCode::InternalError);
            self.close_child(number, TurnStatus::Failed, code, seeds, step);
            // The next harness instance knows none of them.
            self.subagents.remove(number);
        }
    }

    fn close_child(
        &mut self,
        number: u64,
        status: TurnStatus,
        code: Option<TurnErrorCode>,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        self.end_child_turns(number, None, status, code, seeds, step);
        let Some(child) = self.subagents.edit(number) else {
            return;
        };
        if child.public.status == SubagentStatus::Closed {
            return;
        }
        child.public.status = SubagentStatus::Closed;
        child.public.closed_at = Some(seeds.seconds());
        let public = child.public.clone();
        step.subagents.push(public.clone());
        self.emit_subagent(Event::SubagentClosed, &public, step);
    }

    fn emit_subagent(
        &mut self,
        event: impl FnOnce(SubagentEvent) -> Event,
        subagent: &Subagent,
        step: &mut Step,
    ) {
        let subagent = Box::new(subagent.clone());
        self.emit(event(SubagentEvent { subagent }), step);
    }
}
