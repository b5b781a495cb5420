//! What the session's object stores, in memory.
use crate::checkpoint::Garbage;
use crate::turn::{
    ArtifactWrite, CellKind, CellWrite, Chunk, Effect, ItemWrite, Session, Step, TextWrite,
};
use crate::wire::item::Item;
use crate::wire::subagent::Subagent;
use crate::wire::turn::Turn;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct Store {
    pub cells: BTreeMap<(CellKind, u64), String>,
    pub texts: Vec<TextWrite>,
    pub log: Vec<Chunk>,
    /// Each with the subagent whose it is.
    pub items: Vec<(Option<String>, Item)>,
    pub turns: Vec<Turn>,
    pub subagents: Vec<Subagent>,
    pub outbox: BTreeMap<u64, Effect>,
    pub artifacts: Vec<ArtifactWrite>,
    pub garbage: Vec<Garbage>,
    numbered: u64,
}

impl Store {
    pub fn save(&mut self, cells: &[CellWrite], step: &Step) {
        for CellWrite { kind, number, json } in cells {
            match json {
                Some(json) => {
                    self.cells.insert((*kind, *number), json.clone());
                }
                None => {
                    self.cells.remove(&(*kind, *number));
                    if *kind == CellKind::Open {
                        self.texts.retain(|text| text.open != *number);
                    }
                }
            }
        }
        self.texts.extend(step.texts.iter().cloned());
        for turn in &step.turns {
            put(&mut self.turns, turn, |turn| &turn.id);
        }
        for subagent in &step.subagents {
            put(&mut self.subagents, subagent, |subagent| &subagent.id);
        }
        for write in &step.items {
            match write {
                ItemWrite::Append { subagent, item } => {
                    assert!(self.item(item.id()).is_none(), "{} twice", item.id());
                    self.items.push((subagent.clone(), item.clone()));
                }
                ItemWrite::Update(item) => {
                    let mut stored = self.items.iter_mut();
                    let stored = stored.find(|(_, stored)| stored.id() == item.id());
                    stored.expect("a stored item").1 = item.clone();
                }
                ItemWrite::Remove(id) => self.items.retain(|(_, item)| item.id() != id),
            }
        }
        for effect in &step.effects {
            self.numbered += 1;
            self.outbox.insert(self.numbered, effect.clone());
        }
        self.artifacts.extend(step.artifacts.iter().cloned());
        self.garbage.extend(step.garbage.iter().cloned());
        self.log.extend(step.chunks.iter().cloned());
    }

    /// The session, read again.
    pub fn load(&self) -> Session {
        let cells = self.cells.iter();
        let cells = cells.map(|((kind, number), json)| (*kind, *number, json.clone()));
        let loaded = Session::load(cells, self.texts.iter().cloned());
        loaded.expect("readable cells").expect("a session")
    }

    pub fn item(&self, id: &str) -> Option<&Item> {
        let mut items = self.items.iter().map(|(_, item)| item);
        items.find(|item| item.id() == id)
    }

    pub fn turn(&self, id: &str) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.id == id)
    }
}

fn put<T: Clone>(rows: &mut Vec<T>, row: &T, id: impl Fn(&T) -> &String) {
    match rows.iter_mut().find(|stored| id(stored) == id(row)) {
        Some(stored) => *stored = row.clone(),
        None => rows.push(row.clone()),
    }
}
