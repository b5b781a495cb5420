//! The session's object: a session in memory, its store, and effects on their way.
use super::super::order::{self, Order};
use super::super::{session, stepped, Store};
use super::harness::Answer;
use crate::checkpoint::Checkpoint;
use crate::turn::{Effect, Input, Refused, Session, Step};
use std::collections::BTreeMap;

/// Tries of an effect.
const MAX_TRIES: u32 = 5;

pub struct Object {
    pub session: Session,
    pub store: Store,
    pub order: Order,
    pub now: u64,
    drawn: u64,
    /// Effects that this incarnation has sent and not heard of.
    pub under_way: Vec<u64>,
    tries: BTreeMap<u64, u32>,
    pub incarnation: u32,
    pub committed: Option<Checkpoint>,
    /// What happened, for people.
    pub notes: Vec<String>,
}

impl Object {
    pub fn new() -> Self {
        let mut object = Self {
            session: session(),
            store: Store::default(),
            order: Order::default(),
            now: 1_000_000,
            drawn: 0,
            under_way: vec![],
            tries: BTreeMap::new(),
            incarnation: 0,
            committed: None,
            notes: vec![],
        };
        let mut step = Step::default();
        object.session.created(&mut step);
        object.collect(&step).expect("a new session");
        object
    }

    /// Takes inputs in one transaction.
    pub fn take(&mut self, inputs: Vec<Input>) -> Result<Result<(), Refused>, String> {
        let failed = self.session.has_failed();
        match stepped(&mut self.session, self.now, &mut self.drawn, inputs) {
            Ok(step) if failed && step != Step::default() => {
                Err(format!("something follows in a failed session: {step:?}"))
            }
            Ok(step) if self.session.has_failed() && !step.effects.is_empty() => {
                Err(format!("a session fails, and goes on: {:?}", step.effects))
            }
            Ok(step) => self.collect(&step).map(Ok),
            Err(refused) => {
                self.notes.push(format!("refused, {refused:?}"));
                self.session = self.store.load();
                Ok(Err(refused))
            }
        }
    }

    fn collect(&mut self, step: &Step) -> Result<(), String> {
        let cells = self
            .session
            .take_changes()
            .map_err(|error| error.to_string())?;
        self.store.save(&cells, step);
        let before = self.order.ended.len();
        for event in order::events_of(&step.chunks) {
            self.notes.push(told(&event));
            self.order.take(&self.session.identity.stream, &event)?;
        }
        for effect in &step.effects {
            self.notes.push(format!("→ {effect:?}"));
        }
        for row in &step.garbage {
            self.notes.push(format!("garbage: {}", row.prefix));
        }
        let ended = self.order.ended[before..].to_vec();
        self.check_commit(step, &ended)
    }

    /// Loses what is in memory.
    pub fn crash(&mut self) -> Result<(), String> {
        let loaded = self.store.load();
        let (before, after) = (format!("{:?}", self.session), format!("{loaded:?}"));
        if before != after {
            return Err(format!("stored is {after}, and it was {before}"));
        }
        self.session = loaded;
        self.under_way.clear();
        self.incarnation += 1;
        Ok(())
    }

    /// Effects to send now. Those behind the end of the containers wait for it.
    pub fn dispatch(&mut self) -> Vec<(u64, Effect)> {
        let mut sent = vec![];
        let session = &self.session;
        self.store.outbox.retain(|_, effect| session.wants(effect));
        for (id, effect) in &self.store.outbox {
            if !self.under_way.contains(id) {
                self.under_way.push(*id);
                *self.tries.entry(*id).or_default() += 1;
                sent.push((*id, effect.clone()));
            }
            if matches!(effect, Effect::Destroy { .. }) {
                break;
            }
        }
        sent
    }

    /// The answer to an effect, or that there is none.
    pub fn answered(&mut self, id: u64, answer: Option<Answer>) -> Result<(), String> {
        self.under_way.retain(|other| *other != id);
        if answer.is_none() && self.tries[&id] < MAX_TRIES {
            return Ok(());
        }
        let Some(effect) = self.store.outbox.remove(&id) else {
            return Ok(());
        };
        let input = match (effect, answer) {
            (Effect::Run { turn_id, .. }, Some(Answer::Started { new_sandbox })) => {
                Input::Started {
                    turn_id,
                    new_sandbox,
                }
            }
            (Effect::Run { turn_id, .. }, Some(Answer::Refused { fault })) => {
                Input::NotStarted { turn_id, fault }
            }
            (Effect::Run { turn_id, .. }, Some(Answer::Done) | None) => {
                let fault = None;
                Input::NotStarted { turn_id, fault }
            }
            (Effect::Steer { input_id, .. }, Some(Answer::Refused { .. })) => {
                Input::NotSteered { input_id }
            }
            // Unknown: it is the running turn's, or, if that ends without having it, the next one's.
            (Effect::Steer { .. }, _)
            | (
                Effect::ToolResult { .. }
                | Effect::Approval { .. }
                | Effect::Interrupt { .. }
                | Effect::Destroy { .. },
                _,
            ) => return Ok(()),
        };
        self.take(vec![input]).map(drop)
    }
}

fn told(event: &serde_json::Value) -> String {
    let mut name = order::name_of(event).to_owned();
    let texts = [
        &event["item"]["content"][0]["text"],
        &event["turn"]["error"]["code"],
    ];
    for text in texts.into_iter().filter_map(|text| text.as_str()) {
        name = format!("{name} “{text}”");
    }
    name
}
