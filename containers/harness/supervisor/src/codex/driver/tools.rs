//! Calls of the client's functions: Codex asks, the Worker is told, its result answers Codex.
//!
//! Codex asks for several at once. The model's own id of a call may come again in a later turn, so that calls are named
//! after Codex's turn and counted within it.

use cloister_protocol::{Event, Function, Input};
use serde_json::value::RawValue;

use crate::codex::calls::answers;
use crate::codex::map::bounded_or_null;
use crate::codex::{functions, wire};

/// Calls that wait for the client at a time.
const MAX_OPEN: usize = 256;
/// What the model is told of an asynchronous call.
const ACCEPTED: &str =
    "The call was accepted. Its result will follow as a message; go on without it.";

/// The calls of the turn that runs.
#[derive(Debug, Default)]
pub struct Tools {
    count: u64,
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    call_id: String,
    request: Box<RawValue>,
}

/// What a call comes to.
#[derive(Debug)]
pub struct Called {
    /// For Codex, if it is answered already.
    pub answer: Option<String>,
    /// For the Worker, if it is to do something.
    pub event: Option<Event>,
}

impl Tools {
    /// The turn has ended, and its calls with it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// A call of one of `functions`, in our turn.
    pub fn call(
        &mut self,
        turn_id: &str,
        functions: &[Function],
        call: wire::ToolCall,
        request: &RawValue,
    ) -> Called {
        let Some(function) = functions::find(functions, call.namespace.as_deref(), &call.tool)
        else {
            return refused(request, "There is no such function.");
        };
        if self.open.len() >= MAX_OPEN {
            return refused(request, "Too many calls are open.");
        }
        let codex_turn = call.turn_id.bytes().filter(u8::is_ascii_alphanumeric);
        let codex_turn: String = codex_turn.take(32).map(char::from).collect();
        let call_id = format!("call_{codex_turn}_{}", self.count);
        self.count += 1;
        let answer = function
            .asynchronous
            .then(|| answers::tool_result(request, true, &[Input::Text(ACCEPTED.into())]));
        if answer.is_none() {
            self.open.push(Open {
                call_id: call_id.clone(),
                request: request.to_owned(),
            });
        }
        let event = Event::ToolCall {
            turn_id: turn_id.to_owned(),
            call_id,
            name: call.tool,
            arguments: bounded_or_null(call.arguments),
        };
        Called {
            answer,
            event: Some(event),
        }
    }

    /// The client's result, as an answer to Codex. None for a call that is not open.
    pub fn result(&mut self, call_id: &str, success: bool, output: &[Input]) -> Option<String> {
        let index = self.open.iter().position(|open| open.call_id == call_id)?;
        let open = self.open.swap_remove(index);
        Some(answers::tool_result(&open.request, success, output))
    }
}

/// A call that nobody is asked to do.
pub fn refused(request: &RawValue, why: &str) -> Called {
    Called {
        answer: Some(answers::tool_result(
            request,
            false,
            &[Input::Text(why.into())],
        )),
        event: None,
    }
}
