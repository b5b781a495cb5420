#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod actions;
mod approvals;
mod checkpoints;
mod environment;
mod items;
mod lifecycle;
mod limits;
mod log;
mod model;
mod network;
mod order;
mod settings;
mod steering;
mod store;
mod stored;
mod subagents;
mod texts;

use self::order::Order;
use self::store::Store;
use super::*;
use crate::checkpoint::{CheckpointId, Digest, Saved};
use crate::tenant::Tenant;
use crate::wire::item::InputContent;
use crate::wire::session::SessionStatus;
use cloister_protocol::{self as protocol, Event as E, ItemKind, ItemStatus, Json, Outcome};
use serde_json::{json, Value};

const TURN_DEADLINE: u64 = 60_000;
const CANCEL_DEADLINE: u64 = 5_000;
const SAVE_DEADLINE: u64 = 30_000;

/// A session with a clock, a store and a log. Each step is taken twice, in memory and by a session that was just loaded from
/// the store, and must do the same; and the log must make sense.
struct Bench {
    session: Session,
    store: Store,
    order: Order,
    now: u64,
    drawn: u64,
    epoch: u64,
    seq: u64,
    /// Attempts that were announced.
    attempts: u128,
    /// The log, without what the names of events begin with.
    events: Vec<Value>,
    effects: Vec<Effect>,
}

fn session() -> Session {
    let public = json!({
        "id": "sess_1", "object": "agent.session", "created_at": 1, "last_active_at": 1, "status": "idle", "error": null,
        "agent": {
            "id": "agent_1", "name": null, "model": "codex", "instructions": null, "reasoning": {"effort": null, "summary": null},
            "text": {"format": {"type": "text"}, "verbosity": "medium"}, "service_tier": "auto",
            "multi_agent": {"enabled": false, "max_concurrent_subagents": null},
            "tools": [
                {"type": "function", "name": "sum", "description": "adds", "parameters": {"type": "object"}, "defer_loading": false},
                {"type": "function", "name": "mail", "description": "", "parameters": {"type": "object"}, "defer_loading": true,
                    "async": true},
            ],
        },
        "environment": {"type": "none"}, "metadata": {}, "required_actions": [], "usage": null, "vault_ids": [],
    });
    let identity = Identity {
        tenant: Tenant::new("acme").unwrap().hash(),
        environment_id: Some("env_1".into()),
        stream: stream_name([7; 16]),
        exclude: Vec::new(),
    };
    // As it is stored: what is read as a value has no text of its own.
    Session::new(identity, serde_json::from_str(&public.to_string()).unwrap())
}

/// What a session does with inputs that come together; the ids it makes are counted from `drawn`.
fn stepped(
    session: &mut Session,
    now: u64,
    drawn: &mut u64,
    inputs: Vec<Input>,
) -> Result<Step, Refused> {
    let mut random = || {
        *drawn += 1;
        u128::from(*drawn).to_be_bytes()
    };
    let mut seeds = Seeds {
        now,
        random: &mut random,
        turn_deadline: TURN_DEADLINE,
        cancel_deadline: CANCEL_DEADLINE,
        save_deadline: SAVE_DEADLINE,
    };
    let mut step = Step::default();
    let mut inputs = inputs.into_iter();
    let taken = inputs.try_for_each(|input| session.step(input, &mut seeds, &mut step));
    taken.map(|()| step)
}

impl Bench {
    fn new() -> Self {
        let mut bench = Self {
            session: session(),
            store: Store::default(),
            order: Order::default(),
            now: 1_000_000,
            drawn: 0,
            epoch: 1,
            seq: 0,
            attempts: 0,
            events: vec![],
            effects: vec![],
        };
        bench.commit(&Step::default());
        bench
    }

    /// Takes inputs in one transaction; one of them may be refused.
    fn offer_all(&mut self, inputs: Vec<Input>) -> Result<Step, Refused> {
        let mut loaded = self.store.load();
        let before = format!("{:?}", self.session);
        assert_eq!(
            format!("{loaded:?}"),
            before,
            "what is stored is all there is"
        );
        let mut drawn = self.drawn;
        let twin = stepped(&mut loaded, self.now, &mut drawn, inputs.clone());
        let taken = stepped(&mut self.session, self.now, &mut self.drawn, inputs);
        assert_eq!(taken, twin, "a loaded session does the same");
        let Ok(step) = &taken else {
            assert_eq!(
                format!("{:?}", self.session),
                before,
                "a refusal changes nothing"
            );
            return taken;
        };
        self.commit(step);
        taken
    }

    fn commit(&mut self, step: &Step) {
        self.store.save(&self.session.take_changes().unwrap(), step);
        for event in order::events_of(&step.chunks) {
            self.order
                .take(&self.session.identity.stream, &event)
                .unwrap();
            self.events.push(event);
        }
        self.effects.extend(step.effects.clone());
    }

    /// Takes an input that may be refused.
    fn offer(&mut self, input: Input) -> Result<Step, Refused> {
        self.offer_all(vec![input])
    }

    fn step(&mut self, input: Input) -> Step {
        self.offer(input).unwrap()
    }

    fn say(&mut self, text: &str) -> Step {
        self.step(Input::Messages(vec![vec![said(text)]]))
    }

    /// The harness reports.
    fn harness(&mut self, event: E) -> Step {
        let input = self.reported(event);
        self.step(input)
    }

    /// The harness's next event, as an input.
    fn reported(&mut self, event: E) -> Input {
        self.seq += 1;
        Input::Harness {
            epoch: self.epoch,
            seq: self.seq,
            event: Box::new(event),
        }
    }

    fn turn(&self) -> String {
        self.session.running_turn().unwrap().to_owned()
    }

    /// The turn that waits for a harness is taken by one.
    fn start(&mut self) -> String {
        let turn_id = self.turn();
        self.harness(E::TurnStarted {
            turn_id: turn_id.clone(),
            thread: "t".into(),
        });
        turn_id
    }

    /// A turn that runs.
    fn started(&mut self) -> String {
        self.say("go");
        self.start()
    }

    fn begin(&mut self, id: &str, kind: ItemKind) -> Step {
        let turn_id = self.turn();
        let item = item(id, ItemStatus::InProgress, kind);
        self.harness(E::ItemStarted { turn_id, item })
    }

    fn finish(&mut self, id: &str, kind: ItemKind) -> Step {
        let turn_id = self.turn();
        let item = item(id, ItemStatus::Completed, kind);
        self.harness(E::ItemCompleted { turn_id, item })
    }

    fn text(&mut self, id: &str, delta: &str) -> Step {
        self.harness(E::TextDelta {
            turn_id: self.turn(),
            item_id: id.into(),
            delta: delta.into(),
        })
    }

    fn call(&mut self, call_id: &str, name: &str) -> Step {
        self.harness(E::ToolCall {
            turn_id: self.turn(),
            call_id: call_id.into(),
            name: name.into(),
            arguments: json_of(r#"{"a":1}"#),
        })
    }

    /// The running turn is over, and its checkpoint is made.
    fn end(&mut self, outcome: Outcome) -> Step {
        let saved = saved(self.saving());
        self.end_saved(saved, outcome)
    }

    /// The harness has finished the running turn, and its checkpoint is begun, maybe once more.
    fn saving(&mut self) -> CheckpointId {
        self.attempts += 1;
        let checkpoint = CheckpointId::new(self.attempts.to_be_bytes());
        self.step(Input::Saving {
            turn_id: self.turn(),
            checkpoint: checkpoint.clone(),
        });
        checkpoint
    }

    /// The running turn ends with a checkpoint.
    fn end_saved(&mut self, saved: Saved, outcome: Outcome) -> Step {
        let (turn_id, saved) = (self.turn(), Box::new(saved));
        let inputs = vec![Input::Saved { turn_id, saved }, self.ended(outcome)];
        self.offer_all(inputs).unwrap()
    }

    /// The harness's end of the running turn, as an input.
    fn ended(&mut self, outcome: Outcome) -> Input {
        let turn_id = self.turn();
        self.reported(E::TurnEnded { turn_id, outcome })
    }

    /// Names of all events from `from` on, the common beginnings left out.
    fn names(&self, from: usize) -> Vec<&str> {
        self.events[from..].iter().map(order::name_of).collect()
    }

    /// The newest event of a name.
    fn newest(&self, name: &str) -> &Value {
        let mut events = self.events.iter().rev();
        events.find(|event| order::name_of(event) == name).unwrap()
    }

    /// How the newest turn that ended did, and why.
    fn last_end(&self) -> (&str, Option<&str>) {
        let mut events = self.events.iter().rev();
        let end = events.find(|event| event.get("usage").is_some()).unwrap();
        let turn = &end["turn"];
        (
            turn["status"].as_str().unwrap(),
            turn["error"]["code"].as_str(),
        )
    }

    fn status(&self) -> SessionStatus {
        self.session.public.status
    }

    /// How the stored turn stands.
    fn stored_turn(&self, turn_id: &str) -> String {
        let turn = self.store.turn(turn_id).unwrap();
        word(&turn.status)
    }
}

/// A whole checkpoint.
fn saved(id: CheckpointId) -> Saved {
    Saved {
        manifest: Digest::of(id.as_str().as_bytes()),
        workspace: Some(id.clone()),
        id,
        artifacts: vec![],
        dropped: vec![],
        sandbox_lost: false,
    }
}

/// The turn could not be brought to a harness, and the next one may be.
fn not_started(turn_id: String) -> Input {
    let fault = None;
    Input::NotStarted { turn_id, fault }
}

/// A value's word on the wire.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}

fn said(text: &str) -> InputContent {
    InputContent::InputText { text: text.into() }
}

fn json_of(text: &str) -> Json {
    Json::parse(text.into(), usize::MAX).unwrap()
}

fn item(id: &str, status: ItemStatus, kind: ItemKind) -> protocol::Item {
    protocol::Item {
        id: id.into(),
        status,
        kind,
    }
}

fn message(text: &str) -> ItemKind {
    ItemKind::Message {
        text: text.into(),
        phase: None,
    }
}

fn command(output: Option<&str>) -> ItemKind {
    ItemKind::Command {
        command: "ls".into(),
        cwd: None,
        output: output.map(str::to_owned),
        exit_code: output.map(|_| 0),
        duration_ms: output.map(|_| 3),
    }
}
