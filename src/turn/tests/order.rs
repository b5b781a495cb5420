//! What must be true of the order of a session's events.
mod environment;

use self::environment::Environment;
use crate::turn::{place_of, Chunk};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The events of chunks.
pub fn events_of(chunks: &[Chunk]) -> Vec<Value> {
    let frames = chunks.iter().flat_map(|chunk| chunk.frames.lines());
    let data = frames.filter_map(|line| line.strip_prefix("data: "));
    data.map(|json| serde_json::from_str(json).expect("JSON"))
        .collect()
}

/// An event's name, without what is common.
pub fn name_of(event: &Value) -> &str {
    let name = event["type"].as_str().expect("a type");
    name.trim_start_matches("agent.session.")
        .trim_start_matches("agent.output.")
}

/// What is known from the events so far.
#[derive(Debug, Default)]
pub struct Order {
    place: u64,
    /// The turn that runs.
    turn: Option<Running>,
    /// Turns that ended and how, in order.
    pub ended: Vec<(String, String)>,
    /// What must come next, if that is certain; nothing at all is an empty list.
    next: Option<&'static [&'static str]>,
    environment: Environment,
    items: BTreeSet<String>,
    /// Calls whose output is there.
    answered: BTreeSet<String>,
    subagents: BTreeMap<String, String>,
    /// How often there was an event of each name.
    pub seen: BTreeMap<String, usize>,
}

#[derive(Debug, Default)]
struct Running {
    id: String,
    begun: bool,
    indexes: u64,
    /// Output items that are not done, each with its index and its texts.
    open: BTreeMap<String, (u64, Vec<String>)>,
}

type Fault = Result<(), String>;

impl Order {
    /// Takes the next event.
    pub fn take(&mut self, stream: &str, event: &Value) -> Fault {
        let name = name_of(event);
        *self.seen.entry(name.to_owned()).or_default() += 1;
        self.judge(stream, name, event)
            .map_err(|why| format!("{name}: {why}, in {event}"))
    }

    fn judge(&mut self, stream: &str, name: &str, event: &Value) -> Fault {
        let place = place_of(stream, text(&event["event_id"])).ok_or("an id of another log")?;
        self.place += 1;
        check(place == self.place, "not the next place")?;
        let next = self.next.take();
        check(
            next.is_none_or(|next| next.contains(&name)),
            &format!("{next:?} must follow"),
        )?;
        let of_session = matches!(
            name,
            "created" | "in_progress" | "requires_action" | "idle" | "failed"
        );
        if of_session {
            return self.session(name, &event["session"], next.is_some());
        }
        if name == "error" {
            check(next.is_some(), "of nothing")?;
            self.next = Some(&["turn.failed", "turn.cancelled"]);
            return check(event["error"]["message"].is_string(), "its text");
        }
        if let Some(name) = name.strip_prefix("environment.") {
            let turn = self.turn.as_ref();
            self.next = self.environment.take(name, event, self.place, turn)?;
            return Ok(());
        }
        if let Some(kind) = name.strip_prefix("subagent.") {
            return self.subagent(kind, &event["subagent"]);
        }
        let turn_id = text(&event["turn_id"]);
        match name.strip_prefix("turn.").unwrap_or(name) {
            "created" => {
                check(self.turn.is_none(), "another turn runs")?;
                check(
                    !self.ended.iter().any(|(id, _)| id == turn_id),
                    "it has ended",
                )?;
                check(event["turn"]["subagent_id"].is_null(), "of a subagent")?;
                self.turn = Some(Running {
                    id: turn_id.to_owned(),
                    ..Running::default()
                });
                Ok(())
            }
            "in_progress" => {
                self.environment.may_work()?;
                let turn = self.running(turn_id)?;
                check(!turn.begun, "twice")?;
                turn.begun = true;
                check(
                    event["turn"]["status"] == "in_progress",
                    "the turn's status",
                )
            }
            end @ ("completed" | "failed" | "cancelled") => {
                let turn = self.running(turn_id)?;
                check(turn.open.is_empty(), "an item is not done")?;
                check(event["turn"]["status"] == end, "the turn's status")?;
                check(
                    event["turn"]["error"].is_null() != (end == "failed"),
                    "its error",
                )?;
                check(event["turn"]["completed_at"].is_u64(), "its time")?;
                self.ended.push((turn_id.to_owned(), end.to_owned()));
                self.turn = None;
                self.next = Some(if self.environment.has_failed() {
                    &["failed"]
                } else {
                    &["idle"]
                });
                Ok(())
            }
            "item.added" => self.added(turn_id, &event["item"], &event["output_index"]),
            other => self.of_item(turn_id, other, event),
        }
    }

    fn running(&mut self, turn_id: &str) -> Result<&mut Running, String> {
        let turn = self.turn.as_mut().filter(|turn| turn.id == turn_id);
        turn.ok_or_else(|| "its turn does not run".to_owned())
    }

    fn session(&mut self, name: &str, session: &Value, expected: bool) -> Fault {
        let actions = session["required_actions"].as_array().ok_or("actions")?;
        let mut turns = actions.iter().map(|action| text(&action["turn_id"]));
        let running = self.turn.as_ref().map(|turn| turn.id.as_str());
        check(
            turns.all(|turn| Some(turn) == running),
            "an action of another turn",
        )?;
        match name {
            "idle" | "failed" => {
                check(expected, "no turn ended")?;
                check(actions.is_empty(), "actions without a turn")?;
                check(
                    session["error"].is_string() == (name == "failed"),
                    "its error",
                )?;
                if name == "failed" {
                    self.next = Some(&[]);
                }
            }
            "created" => check(self.place == 1, "not the first")?,
            "requires_action" => check(!actions.is_empty(), "no action is required")?,
            _ => check(running.is_some(), "no turn runs")?,
        }
        check(
            session["status"] == name || name == "created",
            "the session's status",
        )
    }

    fn subagent(&mut self, name: &str, subagent: &Value) -> Fault {
        let before = match name {
            "created" => None,
            "active" => Some("created"),
            _ => Some("active"),
        };
        let known = self
            .subagents
            .insert(text(&subagent["id"]).to_owned(), name.to_owned());
        check(known.as_deref() == before, "out of order")?;
        check(
            (subagent["status"] == "closed") == (name == "closed"),
            "its status",
        )
    }

    fn added(&mut self, turn_id: &str, item: &Value, index: &Value) -> Fault {
        check(item["turn_id"] == turn_id, "another turn's item")?;
        check(
            self.items.insert(text(&item["id"]).to_owned()),
            "added twice",
        )?;
        let late = item["type"] == "function_call_output";
        if late {
            let call = text(&item["call_id"]).to_owned();
            check(self.answered.insert(call), "a call answered twice")?;
        }
        if index.is_null() {
            let of_user = item["role"] == "user";
            check(late || of_user, "output without an index")?;
            check(
                late || self.running(turn_id).is_ok(),
                "its turn does not run",
            )?;
            return check(item["status"] != "in_progress", "its status");
        }
        self.environment.may_work()?;
        let turn = self.running(turn_id)?;
        check(index.as_u64() == Some(turn.indexes), "not the next index")?;
        turn.indexes += 1;
        check(item["status"] == "in_progress", "its status")?;
        let open = (turn.indexes - 1, vec![]);
        turn.open.insert(text(&item["id"]).to_owned(), open);
        Ok(())
    }

    /// An event of an output item that is open.
    fn of_item(&mut self, turn_id: &str, name: &str, event: &Value) -> Fault {
        let turn = self.running(turn_id)?;
        let done = name == "item.done";
        let item_id = text(if done {
            &event["item"]["id"]
        } else {
            &event["item_id"]
        })
        .to_owned();
        let (index, texts) = turn.open.get_mut(&item_id).ok_or("its item is not open")?;
        check(
            event["output_index"].as_u64() == Some(*index),
            "another item's index",
        )?;
        let part = event.get("summary_index").or(event.get("content_index"));
        let part = part.and_then(Value::as_u64).unwrap_or_default() as usize;
        if name.ends_with("part.added") {
            check(texts.len() == part, "not the next part")?;
            texts.push(String::new());
            return check(event["part"]["text"] == "", "text from the beginning");
        }
        if done {
            let shown = match text(&event["item"]["type"]) {
                "message" => event["item"]["content"].as_array(),
                _ => event["item"]["summary"].as_array(),
            };
            let parts = shown.into_iter().flatten().map(|part| text(&part["text"]));
            check(
                parts.eq(texts.iter()),
                "what was shown before is not what it is",
            )?;
            check(event["item"]["status"] != "in_progress", "its status")?;
            turn.open.remove(&item_id);
            return Ok(());
        }
        if name.starts_with("command") {
            return check(!text(&event["delta"]).is_empty(), "an empty delta");
        }
        let sum = texts.get_mut(part).ok_or("its part is not there")?;
        match name.rsplit('.').next() {
            Some("delta") => {
                sum.push_str(text(&event["delta"]));
                check(!text(&event["delta"]).is_empty(), "an empty delta")
            }
            _ => {
                let shown = event.get("text").unwrap_or(&event["part"]["text"]);
                check(text(shown) == sum, "deltas do not add up")
            }
        }
    }
}

fn check(holds: bool, why: &str) -> Fault {
    holds.then_some(()).ok_or_else(|| why.to_owned())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
