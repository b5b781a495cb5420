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
//! * An interrupted turn ends for the Worker only when its processes and those of its subagents have been killed:
//!   `turn/interrupt` alone leaves them running. [`Driver::is_holding`] says that an end waits for that,
//!   [`Driver::release`] stops waiting.
//! * An agent whose settings Codex takes only when it opens a thread, and that has changed, gets a new thread with the
//!   history of the old one: see [`rollout`](super::rollout).
//! * Repeated commands are ignored, whatever became of the first.
//! * Every request to Codex has a time by which it is answered: [`Driver::due`].

mod approvals;
mod children;
mod events;
mod opening;
mod recent;
mod requests;
mod stopping;
mod subagents;
mod threads;
mod tools;
mod turn;

use cloister_protocol::{Command, Event, FailureCode, Input, Outcome};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::calls::answers;
use super::map::{Mapped, Mapper};
use super::rollout::Rollout;
use super::{calls, wire};
use approvals::Approvals;
use events::Events;
use recent::Recent;
use requests::{Call, Requests};
use subagents::Subagents;
use threads::Threads;
use tools::Tools;
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

/// Reads the history in a file of Codex; none if that cannot be done.
pub type ReadRollout = Box<dyn Fn(&str) -> Option<Rollout>>;

/// The state of the harness.
pub struct Driver {
    workspace: String,
    read_rollout: ReadRollout,
    ready: bool,
    /// Commands that came before Codex was ready.
    early: Vec<Command>,
    requests: Requests,
    threads: Threads,
    turn: Option<Turn>,
    tools: Tools,
    approvals: Approvals,
    subagents: Subagents,
    turns_seen: Recent,
    inputs_seen: Recent,
    /// Codex's ids of turns that were interrupted: what subagents still begin for them is stopped.
    interrupted: Recent,
    mapper: Mapper,
    events: Events,
    effects: Vec<Effect>,
}

impl Driver {
    /// A driver for a Codex that has just been started, and what to tell it first.
    pub fn new(workspace: &str, read_rollout: ReadRollout) -> (Self, Vec<Effect>) {
        let mut driver = Self {
            workspace: workspace.to_owned(),
            read_rollout,
            ready: false,
            early: Vec::new(),
            requests: Requests::default(),
            threads: Threads::default(),
            turn: None,
            tools: Tools::default(),
            approvals: Approvals::default(),
            subagents: Subagents::default(),
            turns_seen: Recent::default(),
            inputs_seen: Recent::default(),
            interrupted: Recent::default(),
            mapper: Mapper::default(),
            events: Events::default(),
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

    /// When Codex should have answered the request that has waited longest. After that it hangs.
    pub fn due(&self) -> Option<Instant> {
        self.requests.due()
    }

    /// Codex could not be heard for a while; its answers are due later.
    pub fn renew_due(&mut self) {
        self.requests.renew();
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
            Command::ToolResult {
                turn_id,
                call_id,
                success,
                output,
            } => {
                if self.turn.as_ref().is_some_and(|turn| turn.id == turn_id) {
                    let answer = self.tools.result(&call_id, success, &output);
                    self.effects.extend(answer.map(Effect::Send));
                }
            }
            Command::Approval {
                request_id,
                decision,
            } => {
                let answer = self.approvals.decide(&request_id, decision);
                self.effects.extend(answer.map(Effect::Send));
            }
            Command::Interrupt { turn_id } => self.interrupt(&turn_id),
            // The link's own.
            Command::Attach { .. }
            | Command::Acknowledge { .. }
            | Command::SaveHistory { .. }
            | Command::Ping => {}
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
        self.emit(Event::SteerRefused { input_id });
    }

    // === what Codex says ===

    fn message(&mut self, message: wire::Message) {
        match (message.id, message.method) {
            (Some(id), Some(method)) => self.request(id, &method, message.params),
            (Some(id), None) => {
                let call = id.get().parse().ok().and_then(|id| self.requests.take(id));
                if let Some(call) = call {
                    let answer = match (message.result, message.error) {
                        (Some(result), None) => Ok(result),
                        (_, error) => Err(error.and_then(parse).unwrap_or_default()),
                    };
                    self.answer(call, answer);
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

    /// A request of Codex. What is not for the client is refused.
    fn request(&mut self, id: &RawValue, method: &str, params: Option<&RawValue>) {
        match method {
            "item/tool/call" => {
                if let Some(call) = params.and_then(parse::<wire::ToolCall>) {
                    return self.tool_call(id, call);
                }
            }
            "mcpServer/elicitation/request" => {
                let asked = params.and_then(parse::<wire::Elicitation>);
                let event = asked.and_then(|asked| {
                    let turn = self.turn.as_ref()?;
                    let ours = matches!(&turn.state, State::Running { thread, codex }
                        if *thread == asked.thread_id && asked.turn_id.as_ref().is_none_or(|t| t == codex));
                    let running = matches!(turn.state, State::Running { .. });
                    let asks = ours || running && self.subagents.find(&asked.thread_id).is_some();
                    asks.then(|| self.approvals.ask(&turn.id, asked, id))?
                });
                if let Some(event) = event {
                    return self.emit(event);
                }
            }
            _ => {}
        }
        self.effects.push(Effect::Send(answers::refuse(id, method)));
    }

    fn tool_call(&mut self, id: &RawValue, call: wire::ToolCall) {
        let called = match &self.turn {
            Some(Turn {
                id: turn_id,
                state: State::Running { thread, codex },
                functions,
                ..
            }) if *thread == call.thread_id && *codex == call.turn_id => {
                self.tools.call(turn_id, functions, call, id)
            }
            // A subagent's, or too late.
            Some(_) | None => tools::refused(id, "Not available here."),
        };
        self.effects.extend(called.answer.map(Effect::Send));
        if let Some(event) = called.event {
            self.emit(event);
        }
    }

    fn answer(&mut self, call: Call, answer: Result<&RawValue, wire::CallError>) {
        match call {
            Call::Initialize => {
                let agent = answer
                    .ok()
                    .and_then(parse::<wire::Initialized>)
                    .map(|r| r.user_agent)
                    .unwrap_or_default();
                self.effects.push(Effect::Send(calls::initialized()));
                self.emit(Event::Ready {
                    harness: harness_name(&agent),
                });
                self.ready = true;
                for command in std::mem::take(&mut self.early) {
                    self.obey(command);
                }
            }
            Call::OpenThread { turn_id, resumed } => {
                self.thread_opened(&turn_id, resumed.as_deref(), answer);
            }
            Call::Inject { turn_id, thread } => self.injected(&turn_id, thread, answer),
            Call::StartTurn { turn_id } => match answer.map(parse::<wire::TurnAccepted>) {
                Ok(Some(accepted)) => self.bind(&turn_id, &accepted.turn.id),
                Ok(None) if self.is_starting(&turn_id) => self.fail(FailureCode::InternalError),
                Err(error) if self.is_starting(&turn_id) => self.fail(opening::refusal(&error)),
                Ok(None) | Err(_) => {}
            },
            Call::Steer { input_id } => {
                self.emit(match answer {
                    Ok(_) => Event::Steered { input_id },
                    Err(_) => Event::SteerRefused { input_id },
                });
                self.end_if_stopped(false);
            }
            Call::Interrupt { turn_id, thread } => {
                self.interrupt_answered(&turn_id, thread, answer.is_ok());
            }
            Call::Clean { turn_id } => self.cleaned(&turn_id, answer.is_ok()),
            Call::Identify { thread } => {
                let read = answer.ok().and_then(parse::<wire::ThreadOpened>);
                self.identified(&thread, read.map(|read| read.thread));
            }
        }
    }

    fn mapped(&mut self, mapped: Mapped) {
        match mapped {
            Mapped::Event(event) => self.own_event(event),
            Mapped::TurnStarted { thread, turn, root } => {
                if self.is_own(&thread) {
                    self.bind_starting(&thread, &turn);
                    self.send_interrupt();
                } else {
                    self.child_started(thread, turn, root);
                }
            }
            Mapped::TurnCompleted {
                thread,
                turn,
                outcome,
            } => {
                if !self.is_own(&thread) {
                    return self.child_ended(thread, turn, outcome);
                }
                self.bind_starting(&thread, &turn);
                let Some(active) = &mut self.turn else { return };
                if !matches!(&active.state, State::Running { codex, .. } if *codex == turn) {
                    return;
                }
                active.state = State::Ended { outcome };
                self.end_if_stopped(false);
            }
            Mapped::Foreign {
                thread,
                turn,
                event,
            } => self.child_event(thread, turn, event),
            Mapped::Resolved { request } => {
                if let Some(event) = self.approvals.resolved(&request) {
                    self.emit(event);
                }
            }
        }
    }

    // === the end of a turn ===

    fn fail(&mut self, code: FailureCode) {
        self.end(Outcome::Failed { code });
    }

    fn end(&mut self, outcome: Outcome) {
        let Some(turn) = self.turn.take() else { return };
        self.tools.clear();
        self.subagents.forget_openings();
        for event in self.approvals.clear() {
            self.emit(event);
        }
        for (input_id, _) in turn.steers {
            self.emit(Event::SteerRefused { input_id });
        }
        self.emit(Event::TurnEnded {
            turn_id: turn.id,
            outcome,
        });
    }

    // === ways out ===

    fn emit(&mut self, event: Event) {
        let effects = &mut self.effects;
        self.events
            .push(event, |event| effects.push(Effect::Emit(event)));
    }

    fn call(&mut self, call: Call, method: &str, params: serde_json::Value) {
        let id = self.requests.insert(call);
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
#[cfg(test)]
mod transcripts;
