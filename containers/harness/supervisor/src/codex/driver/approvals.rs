//! Requests for approval that wait for the client.
//!
//! Codex hands on what an MCP server asks by itself, and the server may make it look like Codex's own question. A question
//! counts if it is the first about a call that has begun and is about nothing else.

use cloister_protocol::{Decision, Event, Item, ItemKind, ItemStatus, Json};
use serde_json::value::RawValue;

use crate::codex::calls::{self, answers};
use crate::codex::map::{bounded, cut, MAX_ID_BYTES};
use crate::codex::wire;

/// Requests that wait at a time.
const MAX_OPEN: usize = 64;
/// What is asked.
const MAX_MESSAGE_BYTES: usize = 4 << 10;

/// The open requests.
#[derive(Debug, Default)]
pub struct Approvals {
    count: u64,
    open: Vec<Open>,
    /// Calls that have begun and have not been asked about.
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    thread: String,
    item: String,
    server: String,
    tool: String,
    arguments: Json,
}

#[derive(Debug)]
struct Open {
    request_id: String,
    request: Box<RawValue>,
    answered: bool,
}

impl Approvals {
    /// An item of a thread has begun or ended.
    pub fn item(&mut self, thread: &str, item: &Item) {
        let ItemKind::McpCall {
            server,
            name,
            arguments,
            ..
        } = &item.kind
        else {
            return;
        };
        self.calls
            .retain(|call| call.item != item.id || call.thread != thread);
        if item.status == ItemStatus::InProgress && self.calls.len() < MAX_OPEN {
            self.calls.push(Call {
                thread: thread.to_owned(),
                item: item.id.clone(),
                server: server.clone(),
                tool: name.clone(),
                arguments: arguments.clone(),
            });
        }
    }

    /// The Worker's event, if Codex asks whether a tool may be called; none if a server asks something else, or if too
    /// much is asked.
    pub fn ask(
        &mut self,
        turn_id: &str,
        asked: wire::Elicitation,
        request: &RawValue,
    ) -> Option<Event> {
        let meta = asked.meta.unwrap_or_default();
        if meta.codex_approval_kind.as_deref() != Some("mcp_tool_call")
            || self.open.len() >= MAX_OPEN
        {
            return None;
        }
        let server = cut(asked.server_name, MAX_ID_BYTES);
        let tool = meta.tool_name.map(|tool| cut(tool, MAX_ID_BYTES));
        let arguments = meta.tool_params.and_then(bounded);
        let call = self.calls.iter().position(|call| {
            call.thread == asked.thread_id
                && call.server == server
                && Some(&call.tool) == tool.as_ref()
                && same(&call.arguments, arguments.as_ref())
        });
        self.calls.swap_remove(call?);
        self.count += 1;
        let request_id = format!("approval_{}", self.count);
        self.open.push(Open {
            request_id: request_id.clone(),
            request: request.to_owned(),
            answered: false,
        });
        Some(Event::ApprovalRequested {
            turn_id: turn_id.to_owned(),
            request_id,
            server,
            tool,
            message: cut(asked.message, MAX_MESSAGE_BYTES),
            arguments,
        })
    }

    /// The client's answer, for Codex. None if the request is not open.
    pub fn decide(&mut self, request_id: &str, decision: Decision) -> Option<String> {
        let open = self
            .open
            .iter_mut()
            .find(|open| open.request_id == request_id && !open.answered)?;
        open.answered = true;
        Some(answers::approval(&open.request, decision))
    }

    /// Codex no longer waits.
    pub fn resolved(&mut self, request: &str) -> Option<Event> {
        let index = self
            .open
            .iter()
            .position(|open| open.request.get() == request)?;
        let request_id = self.open.swap_remove(index).request_id;
        Some(Event::ApprovalClosed { request_id })
    }

    /// Nothing waits any more: the turn has ended.
    pub fn clear(&mut self) -> impl Iterator<Item = Event> + use<> {
        let closed = |open: Open| Event::ApprovalClosed {
            request_id: open.request_id,
        };
        self.calls.clear();
        std::mem::take(&mut self.open).into_iter().map(closed)
    }
}

/// Whether the two are one value. What was too large to be handed on is null in one and missing in the other.
fn same(call: &Json, asked: Option<&Json>) -> bool {
    let value = |json: &Json| calls::value(json);
    value(call) == asked.map(value).unwrap_or_default()
}
