//! What Codex tells, as events of the protocol.
//!
//! The traps of the stream, each with a row in the tests:
//!
//! * Subagents' turns come on the same connection; only turns that [`Mapper::bind`] has named are passed on.
//! * An item may complete after its turn, even during a later one; it keeps its own turn.
//! * Codex sends output deltas without a bound; per item they are cut to what the item itself may hold.
//! * The user's own messages are dropped, the Worker makes them; so are kinds of items that the protocol does not have.
//! * `error` notifications are progress or repetition: the outcome is in `turn/completed`.

mod cut;
mod failure;
mod item;

use std::collections::{HashMap, VecDeque};

use cloister_protocol::{Event, Outcome, TokenUsage, MAX_OUTPUT_BYTES, MAX_TEXT_BYTES};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire;
use cut::cut;

/// Turns that are remembered for the sake of late items.
const MAX_TURNS: usize = 64;
/// Items whose deltas are counted at a time.
const MAX_OPEN_ITEMS: usize = 1024;

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

    /// The meaning of one notification, if it has one for us. What does not parse has none.
    pub fn map(&mut self, method: &str, params: &RawValue) -> Option<Mapped> {
        match method {
            "turn/started" => {
                let changed: wire::TurnChanged = parse(params)?;
                Some(Mapped::TurnStarted {
                    thread: changed.thread_id,
                    turn: changed.turn.id,
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
                let turn_id = self.ours(&changed.thread_id, &changed.turn_id)?;
                let item = item::item(changed.item, item::Stage::Started)?;
                Some(Mapped::Event(Event::ItemStarted { turn_id, item }))
            }
            "item/completed" => {
                let changed: wire::ItemChanged = parse(params)?;
                let turn_id = self.ours(&changed.thread_id, &changed.turn_id)?;
                let item = item::item(changed.item, item::Stage::Completed)?;
                self.open.remove(&item.id);
                Some(Mapped::Event(Event::ItemCompleted { turn_id, item }))
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
                let turn_id = self.ours(&updated.thread_id, &updated.turn_id)?;
                let last = updated.token_usage.last;
                let usage = TokenUsage {
                    input_tokens: last.input_tokens,
                    cached_tokens: last.cached_input_tokens,
                    output_tokens: last.output_tokens,
                    reasoning_tokens: last.reasoning_output_tokens,
                };
                Some(Mapped::Event(Event::Usage { turn_id, usage }))
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
