//! What Codex tells, as events of the protocol.
//!
//! The traps of the stream, each with a row in the tests:
//!
//! * Subagents' turns come on the same connection; what is not about a turn that [`Mapper::bind`] has named is
//!   [`Mapped::Foreign`], without its deltas.
//! * An item may complete after its turn, even during a later one; it keeps its own turn.
//! * Codex sends output deltas without a bound; per item they are cut to what the item itself may hold.
//! * Codex tells the usage of a call again, or none at all, around a compaction: a usage counts if the total has grown.
//! * The user's own messages are dropped, the Worker makes them; so are kinds of items that the protocol does not have.
//! * `error` notifications are progress or repetition: the outcome is in `turn/completed`.

mod cut;
mod failure;
mod item;
mod json;
mod subagent;
mod web;

use std::collections::{HashMap, VecDeque};

use cloister_protocol::{
    Event, Outcome, SubagentEvent, TokenUsage, MAX_OUTPUT_BYTES, MAX_TEXT_BYTES,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire;
pub use cut::cut;
pub use item::MAX_ID_BYTES;
pub use json::{bounded, bounded_or_null};

/// Turns that are remembered for the sake of late items.
const MAX_TURNS: usize = 64;
/// Items whose deltas are counted at a time.
const MAX_OPEN_ITEMS: usize = 1024;
/// Threads whose usage is remembered.
const MAX_TOTALS: usize = 256;

/// What a notification means.
#[derive(Debug, PartialEq)]
pub enum Mapped {
    /// Something the Worker should know.
    Event(Event),
    /// Codex has begun the turn.
    TurnStarted {
        /// Codex's id of the thread.
        thread: String,
        /// Codex's id of the turn.
        turn: String,
        /// Codex's id of the turn that all of the work began with.
        root: Option<String>,
    },
    /// Something happens in a turn that is not ours: a subagent's, perhaps.
    Foreign {
        /// Codex's id of the thread.
        thread: String,
        /// Codex's id of the turn.
        turn: String,
        /// What.
        event: SubagentEvent,
    },
    /// A request of Codex no longer waits for an answer.
    Resolved {
        /// Its id, verbatim.
        request: String,
    },
    /// The turn is over for Codex.
    TurnCompleted {
        /// Codex's id of the thread.
        thread: String,
        /// Codex's id of the turn.
        turn: String,
        /// How it ended.
        outcome: Outcome,
    },
}

/// Knows which of Codex's turns are ours.
#[derive(Debug, Default)]
pub struct Mapper {
    turns: VecDeque<Turn>,
    /// Bytes of deltas so far, by item.
    open: HashMap<String, usize>,
    /// All tokens so far, by thread.
    totals: HashMap<String, wire::Tokens>,
}

#[derive(Debug)]
struct Turn {
    thread: String,
    codex: String,
    ours: String,
}

impl Mapper {
    /// From now on, what concerns Codex's turn `codex` of `thread` is about our turn `ours`.
    pub fn bind(&mut self, thread: &str, codex: &str, ours: &str) {
        if self.turns.len() == MAX_TURNS {
            self.turns.pop_front();
        }
        self.turns.push_back(Turn {
            thread: thread.to_owned(),
            codex: codex.to_owned(),
            ours: ours.to_owned(),
        });
    }

    /// Codex's thread of the newest turn.
    pub fn last_thread(&self) -> Option<&str> {
        self.turns.back().map(|turn| turn.thread.as_str())
    }

    /// Our id of the newest turn.
    pub fn last_turn(&self) -> Option<&str> {
        self.turns.back().map(|turn| turn.ours.as_str())
    }

    /// Whether Codex's turn is one of ours.
    pub fn knows(&self, codex: &str) -> bool {
        self.turns.iter().any(|turn| turn.codex == codex)
    }

    /// The meaning of one notification, if it has one for us. What does not parse has none.
    pub fn map(&mut self, method: &str, params: &RawValue) -> Option<Mapped> {
        match method {
            "turn/started" => {
                let changed: wire::TurnChanged = parse(params)?;
                Some(Mapped::TurnStarted {
                    thread: changed.thread_id,
                    turn: changed.turn.id,
                    root: changed.turn.root_turn_id,
                })
            }
            "turn/completed" => {
                let wire::TurnChanged { thread_id, turn } = parse(params)?;
                let outcome = outcome(&turn);
                Some(Mapped::TurnCompleted {
                    thread: thread_id,
                    turn: turn.id,
                    outcome,
                })
            }
            "item/started" => {
                let changed: wire::ItemChanged = parse(params)?;
                let item = item::item(wire::Item::parse(changed.item)?, item::Stage::Started)?;
                let (thread, turn) = (changed.thread_id, changed.turn_id);
                Some(match self.ours(&thread, &turn) {
                    Some(turn_id) => Mapped::Event(Event::ItemStarted { turn_id, item }),
                    None => foreign(thread, turn, SubagentEvent::ItemStarted(item)),
                })
            }
            "item/completed" => {
                let changed: wire::ItemChanged = parse(params)?;
                let item = item::item(wire::Item::parse(changed.item)?, item::Stage::Completed)?;
                let (thread, turn) = (changed.thread_id, changed.turn_id);
                Some(match self.ours(&thread, &turn) {
                    Some(turn_id) => {
                        self.open.remove(&item.id);
                        Mapped::Event(Event::ItemCompleted { turn_id, item })
                    }
                    None => foreign(thread, turn, SubagentEvent::ItemCompleted(item)),
                })
            }
            "item/agentMessage/delta" => {
                let (turn_id, item_id, delta, _) = self.delta(params, MAX_TEXT_BYTES)?;
                Some(Mapped::Event(Event::TextDelta {
                    turn_id,
                    item_id,
                    delta,
                }))
            }
            "item/reasoning/summaryTextDelta" => {
                let (turn_id, item_id, delta, part) = self.delta(params, MAX_TEXT_BYTES)?;
                Some(Mapped::Event(Event::ReasoningDelta {
                    turn_id,
                    item_id,
                    part: part?,
                    delta,
                }))
            }
            "item/commandExecution/outputDelta" => {
                let (turn_id, item_id, delta, _) = self.delta(params, MAX_OUTPUT_BYTES)?;
                Some(Mapped::Event(Event::OutputDelta {
                    turn_id,
                    item_id,
                    delta,
                }))
            }
            "thread/tokenUsage/updated" => {
                let updated: wire::UsageUpdated = parse(params)?;
                let wire::TokenUsage { last, total } = updated.token_usage;
                if self.totals.len() >= MAX_TOTALS {
                    self.totals.clear();
                }
                let nothing = last.input_tokens == 0 && last.output_tokens == 0;
                let known = self.totals.get(&updated.thread_id) == Some(&total);
                if nothing || known {
                    return None;
                }
                self.totals.insert(updated.thread_id.clone(), total);
                let usage = TokenUsage {
                    input_tokens: last.input_tokens,
                    cached_tokens: last.cached_input_tokens,
                    output_tokens: last.output_tokens,
                    reasoning_tokens: last.reasoning_output_tokens,
                };
                let (thread, turn) = (updated.thread_id, updated.turn_id);
                Some(match self.ours(&thread, &turn) {
                    Some(turn_id) => Mapped::Event(Event::Usage { turn_id, usage }),
                    None => foreign(thread, turn, SubagentEvent::Usage(usage)),
                })
            }
            "serverRequest/resolved" => {
                let resolved: wire::RequestResolved = parse(params)?;
                Some(Mapped::Resolved {
                    request: resolved.request_id.get().to_owned(),
                })
            }
            _ => None,
        }
    }

    /// Our id of a turn, if it is ours.
    fn ours(&self, thread: &str, codex: &str) -> Option<String> {
        let turn = self
            .turns
            .iter()
            .rev()
            .find(|t| t.codex == codex && t.thread == thread)?;
        Some(turn.ours.clone())
    }

    /// A delta of one of our turns, as far as its item may still grow to `max` bytes.
    fn delta(
        &mut self,
        params: &RawValue,
        max: usize,
    ) -> Option<(String, String, String, Option<u32>)> {
        let delta: wire::Delta = parse(params)?;
        let turn_id = self.ours(&delta.thread_id, &delta.turn_id)?;
        let item_id = item::id(delta.item_id);
        if self.open.len() >= MAX_OPEN_ITEMS && !self.open.contains_key(&item_id) {
            return None;
        }
        let sent = self.open.entry(item_id.clone()).or_default();
        let text = cut(delta.delta, max.saturating_sub(*sent));
        *sent += text.len();
        (!text.is_empty()).then_some((turn_id, item_id, text, delta.summary_index))
    }
}

fn foreign(thread: String, turn: String, event: SubagentEvent) -> Mapped {
    Mapped::Foreign {
        thread,
        turn,
        event,
    }
}

fn parse<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

fn outcome(turn: &wire::Turn) -> Outcome {
    match turn.status.as_str() {
        "completed" => Outcome::Completed,
        "interrupted" => Outcome::Interrupted,
        _ => {
            let info = turn
                .error
                .as_ref()
                .and_then(|e| e.codex_error_info.as_ref());
            Outcome::Failed {
                code: failure::code(info),
            }
        }
    }
}

#[cfg(test)]
mod tests;
