//! From `start_turn` to a turn that runs.

use cloister_protocol::{AgentSettings, Event, FailureCode, Input, Outcome};
use serde_json::value::RawValue;
use serde_json::Value;

use super::threads::{Fixed, Thread};
use super::{parse, Call, Driver, Interrupt, State, Turn};
use crate::codex::rollout::Rollout;
use crate::codex::{calls, functions, wire};

/// JSON-RPC's code for a request that is not as it should be.
const INVALID_REQUEST: i64 = -32600;

/// Why a turn fails that Codex does not take.
pub fn refusal(error: &wire::CallError) -> FailureCode {
    if error.code == INVALID_REQUEST {
        FailureCode::InvalidRequest
    } else {
        FailureCode::InternalError
    }
}

/// Whether a thread with that history has what Codex takes only at its start. The rest came with `thread/resume`.
fn suits(old: &Rollout, agent: &AgentSettings) -> bool {
    let trimmed = |text: &Option<String>| text.as_deref().map(str::trim).map(str::to_owned);
    old.functions == functions::specs(&agent.functions)
        && old.subagents == agent.subagents.is_some()
        && trimmed(&old.instructions) == trimmed(&agent.instructions)
}

impl Driver {
    pub(super) fn start(
        &mut self,
        turn_id: String,
        thread: Option<String>,
        agent: Box<AgentSettings>,
        input: Vec<Input>,
    ) {
        if !self.turns_seen.insert(&turn_id) {
            return;
        }
        // Codex would take the input as a part of the turn that runs.
        if self.turn.is_some() || functions::are_reserved(&agent.functions) {
            let code = FailureCode::InvalidRequest;
            let outcome = Outcome::Failed { code };
            return self.emit(Event::TurnEnded { turn_id, outcome });
        }
        let functions = agent.functions.clone();
        let fixed = Fixed::of(&agent);
        self.turn = Some(Turn {
            id: turn_id.clone(),
            state: State::Opening {
                agent,
                input,
                history: None,
            },
            interrupt: Interrupt::No,
            stopping: 0,
            steers: Vec::new(),
            functions,
        });
        match thread {
            Some(thread) => match self.threads.find(&thread) {
                Some(known) if known.fixed == fixed => self.start_turn(thread),
                Some(known) => {
                    let old = known
                        .path
                        .as_deref()
                        .and_then(|path| (self.read_rollout)(path));
                    self.begin_anew(old);
                }
                None => self.open(Some(thread)),
            },
            None => self.open(None),
        }
    }

    /// Whether the thread is the session's own agent's.
    pub(super) fn is_own(&self, thread: &str) -> bool {
        self.threads.find(thread).is_some()
    }

    fn open(&mut self, resumed: Option<String>) {
        let Some(turn) = &self.turn else { return };
        let State::Opening { agent, .. } = &turn.state else {
            return;
        };
        let (method, params) = match &resumed {
            Some(thread) => (
                "thread/resume",
                calls::thread_resume(thread, agent, &self.workspace),
            ),
            None => ("thread/start", calls::thread_start(agent, &self.workspace)),
        };
        let turn_id = turn.id.clone();
        self.call(Call::OpenThread { turn_id, resumed }, method, params);
    }

    /// Begins a thread that knows what is in that history.
    fn begin_anew(&mut self, old: Option<Rollout>) {
        let Some(old) = old else {
            return self.fail(FailureCode::InternalError);
        };
        if let Some(State::Opening { history, .. }) = self.turn.as_mut().map(|t| &mut t.state) {
            *history = Some(old.items);
        }
        self.close_subagents();
        self.open(None);
    }

    pub(super) fn thread_opened(
        &mut self,
        turn_id: &str,
        resumed: Option<&str>,
        answer: Result<&RawValue, wire::CallError>,
    ) {
        let Some(turn) = self.turn.as_mut().filter(|t| t.id == turn_id) else {
            return;
        };
        let State::Opening { agent, history, .. } = &mut turn.state else {
            return;
        };
        let opened = match answer {
            Ok(result) => parse::<wire::ThreadOpened>(result),
            // Codex keeps no history of a thread that never ran a turn.
            Err(error) if error.message.starts_with("no rollout found") => {
                return self.fail(FailureCode::ResourceNotFound);
            }
            Err(_) if resumed.is_some() => return self.fail(FailureCode::InternalError),
            Err(error) => return self.fail(refusal(&error)),
        };
        let Some(thread) = opened.map(|opened| opened.thread) else {
            return self.fail(FailureCode::InternalError);
        };
        if turn.interrupt != Interrupt::No {
            // Nothing has run: no model was asked.
            return self.end(Outcome::Interrupted);
        }
        if resumed.is_some() {
            let read = &self.read_rollout;
            let old = thread.path.as_deref().and_then(read);
            if !old.as_ref().is_some_and(|old| suits(old, agent)) {
                return self.begin_anew(old);
            }
        }
        let history = history.take();
        self.threads.insert(Thread {
            id: thread.id.clone(),
            path: thread.path,
            fixed: Fixed::of(agent),
        });
        match history {
            Some(items) if !items.is_empty() => self.inject(turn_id, thread.id, items),
            Some(_) | None => self.start_turn(thread.id),
        }
    }

    fn inject(&mut self, turn_id: &str, thread: String, items: Vec<Value>) {
        let params = calls::inject_items(&thread, items);
        let turn_id = turn_id.to_owned();
        self.call(
            Call::Inject { turn_id, thread },
            "thread/inject_items",
            params,
        );
    }

    pub(super) fn injected(
        &mut self,
        turn_id: &str,
        thread: String,
        answer: Result<&RawValue, wire::CallError>,
    ) {
        let Some(turn) = self.turn.as_ref().filter(|t| t.id == turn_id) else {
            return;
        };
        match answer {
            Err(_) => self.fail(FailureCode::InternalError),
            Ok(_) if turn.interrupt != Interrupt::No => self.end(Outcome::Interrupted),
            Ok(_) => self.start_turn(thread),
        }
    }

    fn start_turn(&mut self, thread: String) {
        let Some(turn) = &mut self.turn else { return };
        let State::Opening { agent, input, .. } = &turn.state else {
            return;
        };
        let params = calls::turn_start(&thread, agent, input, &self.workspace);
        turn.state = State::Starting { thread };
        let turn_id = turn.id.clone();
        self.call(Call::StartTurn { turn_id }, "turn/start", params);
    }

    pub(super) fn is_starting(&self, turn_id: &str) -> bool {
        matches!(&self.turn, Some(Turn { id, state: State::Starting { .. }, .. }) if id == turn_id)
    }

    /// A notification names a turn of this thread: it is the one we are starting.
    pub(super) fn bind_starting(&mut self, in_thread: &str, codex: &str) {
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
    pub(super) fn bind(&mut self, turn_id: &str, codex: &str) {
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
        self.emit(Event::TurnStarted {
            turn_id: turn_id.to_owned(),
            thread: thread.clone(),
        });
        for (input_id, input) in steers {
            let params = calls::turn_steer(&thread, codex, &input);
            self.call(Call::Steer { input_id }, "turn/steer", params);
        }
        self.send_interrupt();
    }
}
