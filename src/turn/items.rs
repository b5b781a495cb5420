//! Items of a harness as items of the API.
use super::state::Session;
use crate::wire::id::Kind;
use crate::wire::item::{
    CallStatus, CommandExecution, Content, CreateSubagentCall, Item, McpCall, Message,
    OutputStatus, Phase, Reasoning, Role, SendSubagentInputCall, SubagentCall, Summary,
    WaitForSubagentsCall, WebAction, WebSearchCall,
};
use crate::wire::session::Effort;
use crate::wire::subagent::AgentContent;
use cloister_protocol::{
    self as protocol, FileChange, FileChangeKind, ItemKind, ItemStatus, Json, MAX_JSON_BYTES,
    MAX_JSON_DEPTH, MAX_OUTPUT_BYTES, MAX_TEXT_BYTES, WORKSPACE,
};

/// Bytes of a command line, a name or an address that are shown.
pub const MAX_COMMAND: usize = 16 << 10;
/// Parts of one reasoning summary, and entries of other lists.
pub const MAX_PARTS: usize = 64;

/// Which kind of id an item gets.
pub fn id_kind(kind: &ItemKind) -> Kind {
    match kind {
        ItemKind::Message { .. } => Kind::Message,
        ItemKind::Reasoning { .. } => Kind::Reasoning,
        ItemKind::Command { .. } | ItemKind::FileChanges { .. } => Kind::Command,
        ItemKind::McpCall { .. } => Kind::McpCall,
        ItemKind::WebSearch { .. } => Kind::WebSearch,
        ItemKind::SubagentCall { .. } => Kind::SubagentCall,
    }
}

/// Where a call stands. One that is final without having ended was cut short.
pub fn call_status(status: ItemStatus) -> CallStatus {
    match status {
        ItemStatus::Completed => CallStatus::Completed,
        ItemStatus::Failed => CallStatus::Failed,
        ItemStatus::InProgress => CallStatus::Incomplete,
    }
}

/// The API's word for what a message is.
pub fn phase_of(phase: protocol::Phase) -> Phase {
    match phase {
        protocol::Phase::Commentary => Phase::Commentary,
        protocol::Phase::FinalAnswer => Phase::FinalAnswer,
    }
}

impl Session {
    /// An item of the harness that ended with `status`, or stands there, under an id of ours.
    pub(super) fn item_of(
        &self,
        id: String,
        turn_id: String,
        kind: ItemKind,
        status: CallStatus,
    ) -> Item {
        let output_status = match status {
            CallStatus::InProgress => OutputStatus::InProgress,
            CallStatus::Completed | CallStatus::Failed => OutputStatus::Completed,
            CallStatus::Incomplete => OutputStatus::Incomplete,
        };
        match kind {
            ItemKind::Message { text, phase } => Item::Message(Message {
                id,
                turn_id,
                role: Role::Assistant,
                status: output_status,
                phase: phase.map(phase_of),
                content: vec![Content::OutputText {
                    text: cut(text, MAX_TEXT_BYTES),
                }],
            }),
            ItemKind::Reasoning { summary } => Item::Reasoning(Reasoning {
                id,
                turn_id,
                status: Some(output_status),
                summary: summary
                    .into_iter()
                    .take(MAX_PARTS)
                    .map(|text| Summary::SummaryText { text })
                    .collect(),
            }),
            ItemKind::Command {
                command,
                cwd,
                output,
                exit_code,
                duration_ms,
            } => Item::CommandExecution(CommandExecution {
                id,
                turn_id,
                command: cut(command, MAX_COMMAND),
                cwd: cwd.map(|cwd| cut(cwd, MAX_COMMAND)),
                output: output.map(|output| cut(output, MAX_OUTPUT_BYTES)),
                exit_code,
                duration_ms,
                status,
            }),
            // The API has no item of its own for edits: the patch is a command, and what it changed is its output.
            ItemKind::FileChanges { changes } => {
                let ended = status != CallStatus::InProgress;
                let output = changes.iter().map(line_of).collect();
                Item::CommandExecution(CommandExecution {
                    id,
                    turn_id,
                    command: PATCH.to_owned(),
                    cwd: Some(WORKSPACE.to_owned()),
                    output: ended.then(|| cut(output, MAX_OUTPUT_BYTES)),
                    exit_code: ended.then_some(i32::from(status != CallStatus::Completed)),
                    duration_ms: None,
                    status,
                })
            }
            ItemKind::McpCall {
                server,
                name,
                arguments,
                output,
                error,
            } => Item::McpCall(McpCall {
                id,
                turn_id,
                server_label: cut(server, MAX_COMMAND),
                name: cut(name, MAX_COMMAND),
                arguments: shown(arguments),
                output: output.map(shown),
                error: error.map(shown),
                status,
            }),
            ItemKind::WebSearch { action } => Item::WebSearchCall(WebSearchCall {
                id,
                turn_id,
                status: output_status,
                action: action.map(web_action),
            }),
            ItemKind::SubagentCall {
                call,
                sender,
                receivers,
                prompt,
                model,
                effort,
            } => {
                let sender = self.agent_id_of(sender.as_deref());
                let mut receivers: Vec<String> = receivers
                    .iter()
                    .take(MAX_PARTS)
                    .map(|receiver| self.agent_id_of(Some(receiver)))
                    .collect();
                let content: Vec<AgentContent> = prompt
                    .map(|text| AgentContent::OutputText {
                        text: cut(text, MAX_TEXT_BYTES),
                    })
                    .into_iter()
                    .collect();
                let one = |receivers: &mut Vec<String>| receivers.pop().unwrap_or_default();
                match call {
                    protocol::SubagentCall::Create => {
                        Item::CreateSubagentCall(CreateSubagentCall {
                            id,
                            turn_id,
                            agent_id: sender,
                            content,
                            model: model.map(|model| cut(model, MAX_COMMAND)),
                            reasoning_effort: effort.map(effort_of),
                            status,
                        })
                    }
                    protocol::SubagentCall::SendInput => {
                        Item::SendSubagentInputCall(SendSubagentInputCall {
                            id,
                            turn_id,
                            sender_agent_id: sender,
                            recipient_agent_id: one(&mut receivers),
                            content,
                            status,
                        })
                    }
                    protocol::SubagentCall::Wait => {
                        Item::WaitForSubagentsCall(WaitForSubagentsCall {
                            id,
                            turn_id,
                            sender_agent_id: sender,
                            recipient_agent_ids: receivers,
                            status,
                        })
                    }
                    protocol::SubagentCall::Interrupt
                    | protocol::SubagentCall::Resume
                    | protocol::SubagentCall::Close => {
                        let item = SubagentCall {
                            id,
                            turn_id,
                            sender_agent_id: sender,
                            recipient_agent_id: one(&mut receivers),
                            status,
                        };
                        match call {
                            protocol::SubagentCall::Resume => Item::ResumeSubagentCall(item),
                            protocol::SubagentCall::Close => Item::CloseSubagentCall(item),
                            protocol::SubagentCall::Interrupt
                            | protocol::SubagentCall::Create
                            | protocol::SubagentCall::SendInput
                            | protocol::SubagentCall::Wait => Item::InterruptSubagentCall(item),
                        }
                    }
                }
            }
        }
    }
}

/// What an edit of files is shown as.
pub const PATCH: &str = "apply_patch";

/// As much of a text as there is room for.
pub fn cut(mut text: String, room: usize) -> String {
    if text.len() > room {
        let end = (0..=room)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or_default();
        text.truncate(end);
    }
    text
}

/// JSON of a harness, if it is small and flat enough.
fn shown(json: Json) -> Json {
    let fits = json.as_str().len() <= MAX_JSON_BYTES && json.depth() <= MAX_JSON_DEPTH;
    if fits {
        json
    } else {
        Json::null()
    }
}

fn web_action(action: protocol::WebAction) -> WebAction {
    let text = |text: String| cut(text, MAX_COMMAND);
    match action {
        protocol::WebAction::Search { query, queries } => WebAction::Search {
            query: query.map(text),
            queries: queries.map(|queries| queries.into_iter().take(MAX_PARTS).map(text).collect()),
        },
        protocol::WebAction::OpenPage { url } => WebAction::OpenPage { url: url.map(text) },
        protocol::WebAction::FindInPage { url, pattern } => WebAction::FindInPage {
            url: url.map(text),
            pattern: pattern.map(text),
        },
        protocol::WebAction::Other => WebAction::Other,
    }
}

fn effort_of(effort: protocol::Effort) -> Effort {
    match effort {
        protocol::Effort::None => Effort::None,
        protocol::Effort::Minimal => Effort::Minimal,
        protocol::Effort::Low => Effort::Low,
        protocol::Effort::Medium => Effort::Medium,
        protocol::Effort::High => Effort::High,
        protocol::Effort::Xhigh => Effort::Xhigh,
        protocol::Effort::Max => Effort::Max,
    }
}

fn line_of(change: &FileChange) -> String {
    let letter = match change.kind {
        FileChangeKind::Added => 'A',
        FileChangeKind::Updated => 'M',
        FileChangeKind::Deleted => 'D',
    };
    format!("{letter} {}\n", change.path)
}
