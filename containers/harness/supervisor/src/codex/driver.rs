//! Decides what Codex and the Worker are told: commands and Codex's lines in, [`Effect`]s out.
//!
//! One turn runs at a time:
//!
//! ```text
//! start_turn ─▶ Opening ──thread/start or /resume──▶ Starting ──turn/start──▶ Running ──turn/completed──▶ turn_ended
//!                  │ interrupt: turn_ended              │ interrupt: kept         │ interrupt: turn/interrupt,
//!                  ▼ when the thread is open            ▼ until the id is known   ▼ then the terminals are cleaned
//! ```
//!
//! * Codex may say `turn/started`, even `turn/completed`, before it answers `turn/start`; whichever comes first names
//!   the turn.
//! * An interrupted turn ends for the Worker only when its processes have been killed: `turn/interrupt` alone leaves
//!   them running. [`Driver::is_holding`] says that an end waits for that, [`Driver::release`] stops waiting.
//! * Repeated commands are ignored, whatever became of the first.

mod recent;
mod turn;

use std::collections::HashMap;

use cloister_protocol::{AgentSettings, Command, Event, FailureCode, Input, Outcome};
use serde_json::value::RawValue;

use super::map::{Mapped, Mapper};
use super::{calls, wire};
use recent::Recent;
use turn::{Interrupt, State, Turn};

/// Commands and steers that wait for Codex.
const MAX_WAITING: usize = 64;

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Give Codex this line.
    Send(String),
    /// Tell the Worker.
    Emit(Event),
}

/// The state of the harness.
#[derive(Debug)]
pub struct Driver {
    workspace: String,
    ready: bool,
    /// Commands that came before Codex was ready.
    early: Vec<Command>,
    next_id: u64,
    calls: HashMap<u64, Call>,
    /// Threads that this Codex has open.
    threads: Recent,
    turn: Option<Turn>,
    turns_seen: Recent,
    inputs_seen: Recent,
    mapper: Mapper,
    effects: Vec<Effect>,
}

/// A request that Codex has not answered, and the turn it is about.
#[derive(Debug)]
enum Call {
    Initialize,
    OpenThread { turn_id: String },
    StartTurn { turn_id: String },
    Steer { input_id: String },
    Interrupt { turn_id: String },
    Clean { turn_id: String },
}

impl Driver {
    /// A driver for a Codex that has just been started, and what to tell it first.
    pub fn new(workspace: &str) -> (Self, Vec<Effect>) {
        let mut driver = Self {
            workspace: workspace.to_owned(),
            ready: false,
            early: Vec::new(),
            next_id: 1,
            calls: HashMap::new(),
            threads: Recent::default(),
            turn: None,
            turns_seen: Recent::default(),
            inputs_seen: Recent::default(),
            mapper: Mapper::default(),
            effects: Vec::new(),
        };
        driver.call(Call::Initialize, "initialize", calls::initialize());
        let effects = std::mem::take(&mut driver.effects);
        (driver, effects)
    }

    /// The Worker commands something.
    pub fn command(&mut self, command: Command) -> Vec<Effect> {
        if self.ready {
            self.obey(command);
        } else if self.early.len() < MAX_WAITING {
            self.early.push(command);
        }
        std::mem::take(&mut self.effects)
    }

    /// Codex says a line. What does not parse is skipped.
    pub fn line(&mut self, line: &[u8]) -> Vec<Effect> {
        if let Ok(message) = serde_json::from_slice::<wire::Message>(line) {
            self.message(message);
        }
        std::mem::take(&mut self.effects)
    }

    /// Whether the end of a turn waits for its processes to be killed.
    pub fn is_holding(&self) -> bool {
        matches!(
            &self.turn,
            Some(Turn {
                state: State::Ended { .. },
                ..
            })
        )
    }

    /// Ends the turn that [is held](Self::is_holding), come what may.
    pub fn release(&mut self) -> Vec<Effect> {
        self.end_if_stopped(true);
        std::mem::take(&mut self.effects)
    }

    // === commands ===

    fn obey(&mut self, command: Command) {
        match command {
            Command::StartTurn {
                turn_id,
                thread,
                agent,
                input,
            } => self.start(turn_id, thread, agent, input),
            Command::Steer {
                turn_id,
                input_id,
                input,
            } => self.steer(turn_id, input_id, input),
            Command::Interrupt { turn_id } => self.interrupt(&turn_id),
            // The link's own.
            Command::Attach { .. } | Command::Acknowledge { .. } | Command::Ping => {}
        }
    }

    fn start(
        &mut self,
        turn_id: String,
        thread: Option<String>,
        agent: AgentSettings,
        input: Vec<Input>,
    ) {
        if !self.turns_seen.insert(&turn_id) {
            return;
        }
        if self.turn.is_some() {
            // Codex would take the input as a part of the turn that runs.
            let outcome = Outcome::Failed {
                code: FailureCode::InvalidRequest,
            };
            self.effects
                .push(Effect::Emit(Event::TurnEnded { turn_id, outcome }));
            return;
        }
        let turn = |state| Turn {
            id: turn_id.clone(),
            state,
            interrupt: Interrupt::No,
            steers: Vec::new(),
        };
        match thread {
            Some(thread) if self.threads.contains(&thread) => {
                let params = calls::turn_start(&thread, &agent, &input, &self.workspace);
                self.turn = Some(turn(State::Starting { thread }));
                self.call(Call::StartTurn { turn_id }, "turn/start", params);
            }
            Some(thread) => {
                let params = calls::thread_resume(&thread, &agent, &self.workspace);
                self.turn = Some(turn(State::Opening { agent, input }));
                self.call(Call::OpenThread { turn_id }, "thread/resume", params);
            }
            None => {
                let params = calls::thread_start(&agent, &self.workspace);
                self.turn = Some(turn(State::Opening { agent, input }));
                self.call(Call::OpenThread { turn_id }, "thread/start", params);
            }
        }
    }

    fn steer(&mut self, turn_id: String, input_id: String, input: Vec<Input>) {
        if !self.inputs_seen.insert(&input_id) {
            return;
        }
        match &mut self.turn {
            Some(turn) if turn.id == turn_id && turn.interrupt == Interrupt::No => {
                match &turn.state {
                    State::Running { thread, codex } => {
                        let params = calls::turn_steer(thread, codex, &input);
                        self.call(Call::Steer { input_id }, "turn/steer", params);
                        return;
                    }
                    State::Opening { .. } | State::Starting { .. }
                        if turn.steers.len() < MAX_WAITING =>
                    {
                        turn.steers.push((input_id, input));
                        return;
                    }
                    State::Opening { .. } | State::Starting { .. } | State::Ended { .. } => {}
                }
            }
            Some(_) | None => {}
        }
        self.effects
            .push(Effect::Emit(Event::SteerRefused { input_id }));
    }

    fn interrupt(&mut self, turn_id: &str) {
        if let Some(turn) = self
            .turn
            .as_mut()
            .filter(|t| t.id == turn_id && t.interrupt == Interrupt::No)
        {
            turn.interrupt = Interrupt::Wanted;
            self.send_interrupt();
        }
    }

    /// Sends a wanted interrupt, if Codex's id of the turn is known.
    fn send_interrupt(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if let (Interrupt::Wanted, State::Running { thread, codex }) = (turn.interrupt, &turn.state)
        {
            turn.interrupt = Interrupt::Sent;
            let params = calls::turn_interrupt(thread, codex);
            let turn_id = turn.id.clone();
            self.call(Call::Interrupt { turn_id }, "turn/interrupt", params);
        }
    }

    // === what Codex says ===

    fn message(&mut self, message: wire::Message) {
        match (message.id, message.method) {
            (Some(id), Some(method)) => self.effects.push(Effect::Send(calls::refuse(id, &method))),
            (Some(id), None) => {
                let call = id
                    .get()
                    .parse()
                    .ok()
                    .and_then(|id: u64| self.calls.remove(&id));
                if let Some(call) = call {
                    self.answer(call, message.result.filter(|_| message.error.is_none()));
                }
            }
            (None, Some(method)) => {
                if let Some(mapped) = message.params.and_then(|p| self.mapper.map(&method, p)) {
                    self.mapped(mapped);
                }
            }
            (None, None) => {}
        }
    }

    /// An answer; no result means an error.
    fn answer(&mut self, call: Call, result: Option<&RawValue>) {
        match call {
            Call::Initialize => {
                let agent = result
                    .and_then(parse::<wire::Initialized>)
                    .map(|r| r.user_agent)
                    .unwrap_or_default();
                self.effects.push(Effect::Send(calls::initialized()));
                self.effects.push(Effect::Emit(Event::Ready {
                    harness: harness_name(&agent),
                }));
                self.ready = true;
                for command in std::mem::take(&mut self.early) {
                    self.obey(command);
                }
            }
            Call::OpenThread { turn_id } => {
                self.thread_opened(&turn_id, result.and_then(parse::<wire::ThreadOpened>))
            }
            Call::StartTurn { turn_id } => match result.and_then(parse::<wire::TurnAccepted>) {
                Some(accepted) => self.bind(&turn_id, &accepted.turn.id),
                None if self.is_starting(&turn_id) => self.fail(FailureCode::InternalError),
                None => {}
            },
            Call::Steer { input_id } => self.effects.push(Effect::Emit(match result {
                Some(_) => Event::Steered { input_id },
                None => Event::SteerRefused { input_id },
            })),
            Call::Interrupt { turn_id } => self.interrupted(&turn_id, result.is_some()),
            Call::Clean { turn_id } => {
                if let Some(turn) = self.turn.as_mut().filter(|t| t.id == turn_id) {
                    // A turn that still runs was not interrupted: once more when it has begun.
                    let running = !matches!(turn.state, State::Ended { .. });
                    turn.interrupt = if running && result.is_none() {
                        Interrupt::Wanted
                    } else {
                        Interrupt::Done
                    };
                    self.end_if_stopped(false);
                }
            }
        }
    }

    fn thread_opened(&mut self, turn_id: &str, opened: Option<wire::ThreadOpened>) {
        let Some(turn) = self.turn.as_mut().filter(|t| t.id == turn_id) else {
            return;
        };
        let State::Opening { agent, input } = &turn.state else {
            return;
        };
        let Some(thread) = opened.map(|o| o.thread.id) else {
            return self.fail(FailureCode::InternalError);
        };
        let params = calls::turn_start(&thread, agent, input, &self.workspace);
        self.threads.insert(&thread);
        if turn.interrupt != Interrupt::No {
            // Nothing has run: no model was asked.
            return self.end(Outcome::Interrupted);
        }
        turn.state = State::Starting { thread };
        self.call(
            Call::StartTurn {
                turn_id: turn_id.to_owned(),
            },
            "turn/start",
            params,
        );
    }

    fn mapped(&mut self, mapped: Mapped) {
        match mapped {
            Mapped::Event(event) => self.effects.push(Effect::Emit(event)),
            Mapped::TurnStarted { thread, turn } => {
                self.bind_starting(&thread, &turn);
                self.send_interrupt();
            }
            Mapped::TurnCompleted {
                thread,
                turn,
                outcome,
            } => {
                self.bind_starting(&thread, &turn);
                let Some(active) = &mut self.turn else { return };
                if !matches!(&active.state, State::Running { codex, .. } if *codex == turn) {
                    return;
                }
                active.state = State::Ended { outcome };
                self.end_if_stopped(false);
            }
        }
    }

    fn is_starting(&self, turn_id: &str) -> bool {
        matches!(&self.turn, Some(Turn { id, state: State::Starting { .. }, .. }) if id == turn_id)
    }

    /// A notification names a turn of this thread: it is the one we are starting.
    fn bind_starting(&mut self, in_thread: &str, codex: &str) {
        if let Some(Turn {
            id,
            state: State::Starting { thread },
            ..
        }) = &self.turn
        {
            if thread == in_thread {
                let id = id.clone();
                self.bind(&id, codex);
            }
        }
    }

    /// Codex's id of the turn is known: it runs.
    fn bind(&mut self, turn_id: &str, codex: &str) {
        let Some(turn) = self.turn.as_mut().filter(|t| t.id == turn_id) else {
            return;
        };
        let State::Starting { thread } = &turn.state else {
            return;
        };
        let thread = thread.clone();
        self.mapper.bind(&thread, codex, turn_id);
        let steers = std::mem::take(&mut turn.steers);
        turn.state = State::Running {
            thread: thread.clone(),
            codex: codex.to_owned(),
        };
        let started = Event::TurnStarted {
            turn_id: turn_id.to_owned(),
            thread: thread.clone(),
        };
        self.effects.push(Effect::Emit(started));
        for (input_id, input) in steers {
            let params = calls::turn_steer(&thread, codex, &input);
            self.call(Call::Steer { input_id }, "turn/steer", params);
        }
        self.send_interrupt();
    }

    // === the end of a turn ===

    /// Codex has answered `turn/interrupt`. Its processes live on until they are cleaned away.
    fn interrupted(&mut self, turn_id: &str, accepted: bool) {
        let Some(turn) = self.turn.as_mut().filter(|t| t.id == turn_id) else {
            return;
        };
        match &turn.state {
            // Too early for Codex; `turn/started` will come.
            State::Running { .. } if !accepted => turn.interrupt = Interrupt::Wanted,
            State::Running { .. } | State::Ended { .. } => self.clean(),
            State::Opening { .. } | State::Starting { .. } => {}
        }
    }

    /// Kills what the thread's turns have left running.
    fn clean(&mut self) {
        let (Some(turn), Some(thread)) = (&self.turn, self.mapper.last_thread()) else {
            return;
        };
        let (turn_id, params) = (turn.id.clone(), calls::clean_terminals(thread));
        self.call(
            Call::Clean { turn_id },
            "thread/backgroundTerminals/clean",
            params,
        );
    }

    /// Ends the turn if Codex is done with it and nothing of it has to be stopped any more.
    fn end_if_stopped(&mut self, whatever: bool) {
        let Some(turn) = &self.turn else { return };
        if let State::Ended { outcome } = &turn.state {
            if whatever || matches!(turn.interrupt, Interrupt::No | Interrupt::Done) {
                let outcome = outcome.clone();
                self.end(outcome);
            } else if turn.interrupt == Interrupt::Wanted {
                // It ended by itself before it could be interrupted, but may have left something running.
                self.clean();
            }
        }
    }

    fn fail(&mut self, code: FailureCode) {
        self.end(Outcome::Failed { code });
    }

    fn end(&mut self, outcome: Outcome) {
        let Some(turn) = self.turn.take() else { return };
        for (input_id, _) in turn.steers {
            self.effects
                .push(Effect::Emit(Event::SteerRefused { input_id }));
        }
        self.effects.push(Effect::Emit(Event::TurnEnded {
            turn_id: turn.id,
            outcome,
        }));
    }

    fn call(&mut self, call: Call, method: &str, params: serde_json::Value) {
        let id = self.next_id;
        self.next_id += 1;
        self.calls.insert(id, call);
        self.effects
            .push(Effect::Send(calls::request(id, method, params)));
    }
}

fn parse<'a, T: serde::Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// `codex <version>` from `<client>/<version> (…)`.
fn harness_name(user_agent: &str) -> String {
    let version = user_agent
        .split('/')
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .unwrap_or_default();
    let plain = |v: &&str| {
        v.len() <= 32
            && v.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b))
    };
    format!(
        "codex {}",
        Some(version)
            .filter(plain)
            .filter(|v| !v.is_empty())
            .unwrap_or("unknown")
    )
}

#[cfg(test)]
mod tests;
