//! What the client must do for a turn to go on: results of function calls, and answers to requests for approval.
use super::lifecycle::{input_of, ROW_BYTES};
use super::state::{Approval, CallState, FunctionCall, Said, Session};
use super::step::{Effect, Refused, Seeds, Step, ToolResult};
use crate::tenant::hex;
use crate::wire::event::Event;
use crate::wire::id::Kind;
use crate::wire::item::{self, CallStatus, InputContent, Item, ToolOutput};
use crate::wire::session::{McpToolCallRequest, RequiredAction, SessionStatus, Tool};
use crate::wire::turn::TurnStatus;
use cloister_protocol::{self as protocol, Decision, Json, MAX_JSON_BYTES, MAX_JSON_DEPTH};
use sha2::{Digest, Sha256};

/// Calls and requests that may be open at once. All of them are shown with the session.
const MAX_OPEN: usize = 64;
/// Bytes that all of their arguments together may have, for the same reason.
const MAX_OPEN_BYTES: usize = 512 << 10;
/// Calls that are over and still known, to answer a repeated result.
const MAX_KNOWN: usize = 256;
/// Bytes of an id or a name.
const MAX_NAME: usize = 256;
/// Bytes of an approval's text.
const MAX_MESSAGE: usize = 16 << 10;
/// Bytes of JSON that one byte of text may need.
const ESCAPED: usize = 6;

/// A call as the harness reports it.
pub(super) struct Called {
    pub call_id: String,
    pub name: String,
    pub arguments: Json,
}

/// A request for approval as the harness reports it.
pub(super) struct Asked {
    pub request_id: String,
    pub server: String,
    pub tool: Option<String>,
    pub message: String,
    pub arguments: Option<Json>,
}

impl Session {
    /// The agent calls a function of the client.
    pub(super) fn called(&mut self, called: Called, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Called {
            call_id,
            name,
            arguments,
        } = called;
        let Some(running) = &mut self.core.running else {
            return;
        };
        let known = |call: &FunctionCall| call.call_id == call_id;
        if running.stopping.is_some()
            || running.turn.status == TurnStatus::Queued
            || self.calls.find(known).is_some()
        {
            return;
        }
        let turn_id = running.turn.id.clone();
        let function = self.public.agent.tools.iter().find_map(|tool| match tool {
            Tool::Function(function) if function.name == name => Some(function),
            Tool::Function(_) | Tool::ToolSearch => None,
        });
        let fits = call_id.len() <= MAX_NAME && self.has_room(arguments.as_str().len());
        let (Some(function), true) = (function, fits && is_shown(&arguments)) else {
            // The harness waits for every call that it reports.
            let text = "This call cannot be made.".to_owned();
            step.effects.push(Effect::ToolResult {
                turn_id,
                call_id,
                success: false,
                output: vec![protocol::Input::Text(text)],
            });
            self.count_written(ROW_BYTES);
            return;
        };
        let asynchronous = function.asynchronous;
        let output_index = self.take_output_index();
        let call = FunctionCall {
            call_id,
            turn_id,
            name,
            arguments,
            item_id: seeds.id(Kind::FunctionCall),
            output_index,
            asynchronous,
            state: CallState::Open,
        };
        let begun = item_of(&call, CallStatus::InProgress);
        let done = item_of(&call, CallStatus::Completed);
        self.calls.push(call);
        self.forget_calls();
        self.add_item(begun, Some(output_index), step);
        if asynchronous {
            // For the agent the call is made; its result comes when it comes.
            self.finish_item(done, output_index, step);
        }
        self.actions_changed(seeds, step);
        if !asynchronous {
            self.emit_session(Event::SessionRequiresAction, step);
        }
    }

    /// The client gives a result.
    pub(super) fn take_result(
        &mut self,
        result: ToolResult,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) -> Result<(), Refused> {
        let number = self
            .calls
            .find(|call| call.call_id == result.call_id)
            .ok_or_else(|| Refused::UnknownCall(result.call_id.clone()))?;
        let Some(call) = self.calls.get(number) else {
            return Err(Refused::UnknownCall(result.call_id));
        };
        if call.turn_id != result.turn_id {
            return Err(Refused::OtherTurn(result.call_id));
        }
        let digest = digest(&result);
        match &call.state {
            CallState::Answered(earlier) if *earlier == digest => return Ok(()),
            CallState::Answered(_) | CallState::Dropped => {
                return Err(Refused::Answered(result.call_id))
            }
            CallState::Open => {}
        }
        let call = call.clone();
        if let Some(call) = self.calls.edit(number) {
            call.state = CallState::Answered(digest);
            call.forget_arguments();
        }
        let status = if result.success {
            CallStatus::Completed
        } else {
            CallStatus::Failed
        };
        if !call.asynchronous {
            self.finish_item(item_of(&call, status), call.output_index, step);
        }
        let output = Item::FunctionCallOutput(item::FunctionCallOutput {
            id: seeds.id(Kind::FunctionOutput),
            turn_id: call.turn_id.clone(),
            call_id: call.call_id.clone(),
            output: result.output.clone(),
            error: result.error.clone(),
            status,
        });
        self.add_item(output, None, step);
        if call.asynchronous {
            let said = late_result(&call, &result);
            self.actions_changed(seeds, step);
            self.hear(vec![said], seeds, step);
        } else {
            step.effects.push(Effect::ToolResult {
                turn_id: call.turn_id,
                call_id: call.call_id,
                success: result.success,
                output: content_of(&result).iter().map(input_of).collect(),
            });
            self.actions_changed(seeds, step);
        }
        Ok(())
    }

    /// A tool of an MCP server waits for the client's approval.
    pub(super) fn asked(&mut self, asked: Asked, seeds: &mut Seeds<'_>, step: &mut Step) {
        let Some(running) = &self.core.running else {
            return;
        };
        let turn_id = running.turn.id.clone();
        let known = |approval: &Approval| approval.harness_id == asked.request_id;
        let arguments = asked.arguments.filter(is_shown);
        let size = arguments.as_ref().map_or(0, |json| json.as_str().len())
            + ESCAPED * asked.message.len();
        if running.stopping.is_some()
            || running.turn.status == TurnStatus::Queued
            || self.approvals.find(known).is_some()
            || asked.request_id.len() > MAX_NAME
            || asked.server.len() > MAX_NAME
            || asked
                .tool
                .as_ref()
                .is_some_and(|tool| tool.len() > MAX_NAME)
            || asked.message.len() > MAX_MESSAGE
            || !self.has_room(size)
        {
            step.effects.push(Effect::Approval {
                turn_id,
                request_id: asked.request_id,
                decision: Decision::Cancel,
            });
            self.count_written(ROW_BYTES);
            return;
        }
        self.approvals.push(Approval {
            request_id: seeds.id(Kind::Approval),
            harness_id: asked.request_id,
            turn_id,
            server: asked.server,
            tool: asked.tool,
            message: asked.message,
            arguments,
            decision: None,
        });
        self.actions_changed(seeds, step);
        self.emit_session(Event::SessionRequiresAction, step);
    }

    /// The client answers a request for approval.
    pub(super) fn take_approval(
        &mut self,
        request_id: &str,
        decision: Decision,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) -> Result<(), Refused> {
        let unknown = || Refused::UnknownApproval(request_id.to_owned());
        let number = self
            .approvals
            .find(|approval| approval.request_id == request_id)
            .ok_or_else(unknown)?;
        match self.approvals.get(number).and_then(|open| open.decision) {
            Some(earlier) if earlier == decision => return Ok(()),
            Some(_) => return Err(Refused::Answered(request_id.to_owned())),
            None => {}
        }
        let approval = self.approvals.edit(number).ok_or_else(unknown)?;
        approval.decision = Some(decision);
        step.effects.push(Effect::Approval {
            turn_id: approval.turn_id.clone(),
            request_id: approval.harness_id.clone(),
            decision,
        });
        self.actions_changed(seeds, step);
        Ok(())
    }

    /// The harness does not wait for an answer any more.
    pub(super) fn approval_closed(
        &mut self,
        harness_id: &str,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        let named = |approval: &Approval| approval.harness_id == harness_id;
        if let Some(number) = self.approvals.find(named) {
            self.approvals.remove(number);
            self.actions_changed(seeds, step);
        }
    }

    /// Nothing of the running turn waits for the client any more; calls that it does not wait for may stay open.
    pub(super) fn drop_actions(&mut self, keep_asynchronous: bool, step: &mut Step) {
        self.approvals.take();
        let turn_id = self.running_turn();
        let open: Vec<_> = self
            .calls
            .iter()
            .filter(|(_, call)| {
                call.state == CallState::Open && Some(call.turn_id.as_str()) == turn_id
            })
            .map(|(number, call)| (number, call.clone()))
            .collect();
        for (number, call) in open {
            let kept = keep_asynchronous && call.asynchronous;
            if let Some(call) = self.calls.edit(number) {
                call.forget_arguments();
                if !kept {
                    call.state = CallState::Dropped;
                }
            }
            if !call.asynchronous {
                let item = item_of(&call, CallStatus::Incomplete);
                self.finish_item(item, call.output_index, step);
            }
        }
    }

    /// Shows what the client must do now, and whether the turn waits for it.
    pub(super) fn actions_changed(&mut self, seeds: &mut Seeds<'_>, step: &mut Step) {
        let actions = self.actions();
        let Some(running) = &mut self.core.running else {
            return;
        };
        let blocked = self
            .calls
            .iter()
            .any(|(_, call)| call.state == CallState::Open && !call.asynchronous)
            || self
                .approvals
                .iter()
                .any(|(_, approval)| approval.decision.is_none());
        let was = self.public.status;
        match (blocked, running.turn.status) {
            (true, TurnStatus::InProgress) => {
                running.turn.status = TurnStatus::Waiting;
                self.public.status = SessionStatus::RequiresAction;
                step.turns.push(running.turn.clone());
            }
            (false, TurnStatus::Waiting) => {
                running.turn.status = TurnStatus::InProgress;
                self.public.status = SessionStatus::InProgress;
                step.turns.push(running.turn.clone());
            }
            (true, _) | (false, _) => {}
        }
        if self.public.required_actions != actions || self.public.status != was {
            self.public.required_actions = actions;
            self.public_changed(seeds);
        }
        if was == SessionStatus::RequiresAction && self.public.status == SessionStatus::InProgress {
            self.emit_session(Event::SessionInProgress, step);
        }
    }

    fn actions(&self) -> Vec<RequiredAction> {
        let turn_id = self.running_turn();
        let calls =
            self.calls.iter().map(|(_, call)| call).filter(|call| {
                call.state == CallState::Open && Some(call.turn_id.as_str()) == turn_id
            });
        let calls = calls.map(|call| RequiredAction::FunctionCall {
            turn_id: call.turn_id.clone(),
            call_id: call.call_id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        let approvals = self
            .approvals
            .iter()
            .map(|(_, approval)| approval)
            .filter(|approval| approval.decision.is_none());
        let approvals = approvals.map(|approval| RequiredAction::McpApprovalRequest {
            turn_id: approval.turn_id.clone(),
            request_id: approval.request_id.clone(),
            request: McpToolCallRequest {
                server_label: approval.server.clone(),
                name: approval.tool.clone(),
                message: approval.message.clone(),
                arguments: approval.arguments.clone(),
            },
        });
        calls.chain(approvals).collect()
    }

    fn has_room(&self, size: usize) -> bool {
        let turn_id = self.running_turn();
        let calls = self.calls.iter().map(|(_, call)| call);
        let calls = calls
            .filter(|call| call.state == CallState::Open && Some(call.turn_id.as_str()) == turn_id)
            .map(|call| call.arguments.as_str().len());
        let approvals = self.approvals.iter().map(|(_, approval)| {
            ESCAPED * approval.message.len()
                + approval
                    .arguments
                    .as_ref()
                    .map_or(0, |json| json.as_str().len())
        });
        let sizes: Vec<usize> = calls.chain(approvals).collect();
        sizes.len() < MAX_OPEN && sizes.iter().sum::<usize>() + size <= MAX_OPEN_BYTES
    }

    /// Forgets the oldest calls, but for those that the running turn has open.
    fn forget_calls(&mut self) {
        while self.calls.len() > MAX_KNOWN + MAX_OPEN {
            let turn_id = self.running_turn().map(str::to_owned);
            let over = |call: &FunctionCall| {
                call.state != CallState::Open || Some(&call.turn_id) != turn_id.as_ref()
            };
            let Some(oldest) = self.calls.find(over) else {
                return;
            };
            self.calls.remove(oldest);
        }
    }
}

impl FunctionCall {
    /// They are in its item, and large: all calls that are known are in memory.
    fn forget_arguments(&mut self) {
        self.arguments = Json::null();
    }
}

/// Whether JSON from a harness is small and flat enough to be shown.
fn is_shown(json: &Json) -> bool {
    json.as_str().len() <= MAX_JSON_BYTES && json.depth() <= MAX_JSON_DEPTH
}

fn item_of(call: &FunctionCall, status: CallStatus) -> Item {
    Item::FunctionCall(item::FunctionCall {
        id: call.item_id.clone(),
        turn_id: call.turn_id.clone(),
        call_id: call.call_id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
        status,
    })
}

/// To know the same result again.
fn digest(result: &ToolResult) -> String {
    // Strings, lists and maps of strings always serialize.
    let json = serde_json::to_vec(result).unwrap_or_default();
    hex(&Sha256::digest(json))
}

/// What the agent is told of a result.
fn content_of(result: &ToolResult) -> Vec<InputContent> {
    let text = |text: &str| InputContent::InputText {
        text: text.to_owned(),
    };
    match (&result.error, &result.output) {
        (Some(error), None) => vec![text(error)],
        (Some(error), Some(output)) => {
            let mut content = parts_of(output);
            content.push(text(error));
            content
        }
        (None, Some(output)) => parts_of(output),
        (None, None) => vec![text("")],
    }
}

fn parts_of(output: &ToolOutput) -> Vec<InputContent> {
    match output {
        ToolOutput::Text(text) => vec![InputContent::InputText { text: text.clone() }],
        ToolOutput::Content(content) => content.clone(),
    }
}

/// The result of a call that the agent did not wait for.
fn late_result(call: &FunctionCall, result: &ToolResult) -> Said {
    let outcome = if result.success { "Result" } else { "Failure" };
    let text = format!(
        "{outcome} of the function call {} ({}):",
        call.call_id, call.name
    );
    let mut content = vec![InputContent::InputText { text }];
    content.extend(content_of(result));
    Said {
        content,
        shown: false,
    }
}
