//! Writes the running turn's items, as the harness reports them.
use super::items::{call_status, cut, id_kind, phase_of, MAX_COMMAND, MAX_PARTS, PATCH};
use super::state::{OpenItem, OpenKind, Session};
use super::step::{ItemWrite, Seeds, Step};
use super::stored::TextWrite;
use crate::wire::event::{
    CommandOutputDeltaEvent, ContentPartEvent, Event, OutputTextDeltaEvent, OutputTextDoneEvent,
    SummaryPartDoneEvent, SummaryPartEvent, SummaryTextDeltaEvent, SummaryTextDoneEvent,
};
use crate::wire::item::{
    CallStatus, CommandExecution, Content, Item, Message, OutputStatus, Reasoning, Role, Summary,
};
use crate::wire::turn::TurnStatus;
use cloister_protocol::{self as protocol, ItemKind, MAX_OUTPUT_BYTES, MAX_TEXT_BYTES, WORKSPACE};

/// Items that may be open at once. A harness runs a few commands in parallel; more is a forgery and is not shown.
const MAX_OPEN: usize = 64;
/// Bytes of a harness's id of an item.
const MAX_HARNESS_ID: usize = 256;
/// Bytes of text that all open items together may hold.
const MAX_OPEN_TEXT: usize = 2 * MAX_TEXT_BYTES;

impl OpenItem {
    /// Adds to a text; those before it are begun.
    pub(super) fn push_text(&mut self, part: usize, delta: &str) {
        while self.texts.len() <= part {
            self.texts.push(String::new());
        }
        self.texts[part].push_str(delta);
    }
}

impl Session {
    pub(super) fn take_output_index(&mut self) -> u32 {
        let Some(running) = &mut self.core.running else {
            return 0;
        };
        let index = running.next_output_index;
        running.next_output_index += 1;
        index
    }

    pub(super) fn begin_item(
        &mut self,
        item: &protocol::Item,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        let known = self.position(&item.id).is_some();
        if self.open.len() >= MAX_OPEN || item.id.len() > MAX_HARNESS_ID || known {
            return;
        }
        let kind = match &item.kind {
            ItemKind::Message { phase, .. } => OpenKind::Message { phase: *phase },
            ItemKind::Reasoning { .. } => OpenKind::Reasoning,
            ItemKind::Command { command, cwd, .. } => OpenKind::Command {
                command: cut(command.clone(), MAX_COMMAND),
                cwd: cwd.clone().map(|cwd| cut(cwd, MAX_COMMAND)),
            },
            ItemKind::FileChanges { .. } => OpenKind::Command {
                command: PATCH.to_owned(),
                cwd: Some(WORKSPACE.to_owned()),
            },
            ItemKind::McpCall { .. }
            | ItemKind::WebSearch { .. }
            | ItemKind::SubagentCall { .. } => OpenKind::Whole(Box::new(item.kind.clone())),
        };
        let open = OpenItem {
            harness_id: item.id.clone(),
            id: seeds.id(id_kind(&item.kind)),
            kind,
            texts: Vec::new(),
        };
        let output_index = self.take_output_index();
        let shown = self.open_item(&open, CallStatus::InProgress);
        let part = matches!(open.kind, OpenKind::Message { .. })
            .then(|| self.content_part(&open.id, output_index, String::new()));
        self.open.put(u64::from(output_index), open);
        self.add_item(shown, Some(output_index), step);
        if let Some(part) = part {
            self.emit(Event::ContentPartAdded(part), step);
        }
    }

    pub(super) fn add_text(&mut self, harness_id: &str, delta: String, step: &mut Step) {
        let room = self.room();
        let Some(number) = self.position(harness_id) else {
            return;
        };
        let Some(open) = self.open.edit_unstored(number) else {
            return;
        };
        if !matches!(open.kind, OpenKind::Message { .. }) {
            return;
        }
        let held = open.texts.first().map_or(0, String::len);
        let delta = cut(delta, room.min(MAX_TEXT_BYTES.saturating_sub(held)));
        if delta.is_empty() {
            return;
        }
        open.push_text(0, &delta);
        let item_id = open.id.clone();
        write_text(step, number, 0, &delta);
        let event = OutputTextDeltaEvent {
            session_id: self.public.id.clone(),
            turn_id: self.turn_id(),
            item_id,
            output_index: index_of(number),
            content_index: 0,
            delta,
        };
        self.emit(Event::OutputTextDelta(event), step);
    }

    pub(super) fn add_reasoning(
        &mut self,
        harness_id: &str,
        part: usize,
        delta: String,
        step: &mut Step,
    ) {
        let room = self.room();
        let Some(number) = self.position(harness_id) else {
            return;
        };
        let Some(open) = self.open.edit_unstored(number) else {
            return;
        };
        if !matches!(open.kind, OpenKind::Reasoning) || part >= MAX_PARTS {
            return;
        }
        let begun = open.texts.len();
        let held = open.texts.get(part).map_or(0, String::len);
        let delta = cut(delta, room.min(MAX_TEXT_BYTES.saturating_sub(held)));
        if delta.is_empty() && begun > part {
            return;
        }
        open.push_text(part, &delta);
        let item_id = open.id.clone();
        for new in begun..=part {
            write_text(step, number, new, "");
            let event = SummaryPartEvent {
                session_id: self.public.id.clone(),
                turn_id: self.turn_id(),
                item_id: item_id.clone(),
                output_index: index_of(number),
                summary_index: new as u32,
                part: Summary::SummaryText {
                    text: String::new(),
                },
            };
            self.emit(Event::SummaryPartAdded(event), step);
        }
        if delta.is_empty() {
            return;
        }
        write_text(step, number, part, &delta);
        let event = SummaryTextDeltaEvent {
            session_id: self.public.id.clone(),
            turn_id: self.turn_id(),
            item_id,
            output_index: index_of(number),
            summary_index: part as u32,
            delta,
        };
        self.emit(Event::SummaryTextDelta(event), step);
    }

    pub(super) fn add_output(&mut self, harness_id: &str, delta: String, step: &mut Step) {
        let delta = cut(delta, MAX_OUTPUT_BYTES);
        let room = self.room();
        let Some(number) = self.position(harness_id) else {
            return;
        };
        let Some(open) = self.open.edit_unstored(number) else {
            return;
        };
        if !matches!(open.kind, OpenKind::Command { .. }) || delta.is_empty() {
            return;
        }
        // Kept for a command whose end is not heard of.
        let held = open.texts.first().map_or(0, String::len);
        let kept = cut(
            delta.clone(),
            room.min(MAX_OUTPUT_BYTES.saturating_sub(held)),
        );
        if !kept.is_empty() {
            open.push_text(0, &kept);
            write_text(step, number, 0, &kept);
        }
        let Some(open) = self.open.get(number) else {
            return;
        };
        let event = CommandOutputDeltaEvent {
            session_id: self.public.id.clone(),
            turn_id: self.turn_id(),
            item_id: open.id.clone(),
            output_index: index_of(number),
            delta,
        };
        self.emit(Event::CommandOutputDelta(event), step);
    }

    pub(super) fn complete_item(
        &mut self,
        item: protocol::Item,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        self.begin_item(&item, seeds, step);
        let Some(number) = self.position(&item.id) else {
            return;
        };
        self.add_missing(number, &item, step);
        let Some(open) = self.open.remove(number) else {
            return;
        };
        let status = call_status(item.status);
        let cut = status == CallStatus::Incomplete || is_longer(&item.kind, &open);
        let shown = match &open.kind {
            // A part of an answer must not pass for the whole.
            OpenKind::Message { .. } if cut => self.open_item(&open, CallStatus::Incomplete),
            OpenKind::Message { .. } | OpenKind::Reasoning => {
                self.open_item(&open, CallStatus::Completed)
            }
            OpenKind::Command { .. } | OpenKind::Whole(_) => {
                self.item_of(open.id.clone(), self.turn_id(), item.kind, status)
            }
        };
        self.done(number, &open, shown, false, step);
    }

    /// What was never sent as a delta, so that the deltas add up to the whole.
    fn add_missing(&mut self, number: u64, item: &protocol::Item, step: &mut Step) {
        let shown = |session: &Self, part: usize| {
            let open = session.open.get(number);
            let text = open.and_then(|open| open.texts.get(part));
            text.map_or(0, String::len)
        };
        match &item.kind {
            ItemKind::Message { text, .. } => {
                if let Some(missing) = self.missing(number, 0, text) {
                    self.add_text(&item.id, missing, step);
                }
            }
            ItemKind::Reasoning { summary } => {
                for (part, text) in summary.iter().enumerate().take(MAX_PARTS) {
                    let missing = self.missing(number, part, text);
                    if missing.is_some() || shown(self, part) == 0 {
                        self.add_reasoning(&item.id, part, missing.unwrap_or_default(), step);
                    }
                }
            }
            ItemKind::Command { .. }
            | ItemKind::FileChanges { .. }
            | ItemKind::McpCall { .. }
            | ItemKind::WebSearch { .. }
            | ItemKind::SubagentCall { .. } => {}
        }
    }

    fn missing(&self, number: u64, part: usize, text: &str) -> Option<String> {
        let open = self.open.get(number)?;
        let shown = open.texts.get(part).map_or("", String::as_str);
        let missing = text.strip_prefix(shown)?;
        (!missing.is_empty()).then(|| missing.to_owned())
    }

    /// Ends what is still open when a turn ends: it is incomplete, and a command that a cancel cut short is not kept.
    pub(super) fn close_items(&mut self, status: TurnStatus, step: &mut Step) {
        let numbers: Vec<u64> = self.open.iter().map(|(number, _)| number).collect();
        for number in numbers {
            let Some(open) = self.open.remove(number) else {
                continue;
            };
            let item = self.open_item(&open, CallStatus::Incomplete);
            let gone =
                matches!(open.kind, OpenKind::Command { .. }) && status == TurnStatus::Cancelled;
            self.done(number, &open, item, gone, step);
        }
    }

    /// The events that close an item.
    fn done(&mut self, number: u64, open: &OpenItem, item: Item, gone: bool, step: &mut Step) {
        // Its texts go with its cell: what the same step was to add would stay, and begin another item's.
        step.texts.retain(|text| text.open != number);
        let output_index = index_of(number);
        match &open.kind {
            OpenKind::Message { .. } => {
                let text = open.texts.first().cloned().unwrap_or_default();
                let event = OutputTextDoneEvent {
                    session_id: self.public.id.clone(),
                    turn_id: self.turn_id(),
                    item_id: open.id.clone(),
                    output_index,
                    content_index: 0,
                    text: text.clone(),
                };
                self.emit(Event::OutputTextDone(event), step);
                let part = self.content_part(&open.id, output_index, text);
                self.emit(Event::ContentPartDone(part), step);
            }
            OpenKind::Reasoning => {
                let cut = match &item {
                    Item::Reasoning(reasoning) => {
                        reasoning.status == Some(OutputStatus::Incomplete)
                    }
                    _ => false,
                };
                for (part, text) in open.texts.iter().enumerate() {
                    self.summary_done(open, output_index, part, text, cut, step);
                }
            }
            OpenKind::Command { .. } | OpenKind::Whole(_) => {}
        }
        if gone {
            step.items.push(ItemWrite::Remove(open.id.clone()));
            let event = self.item_event(item, Some(output_index));
            self.emit(Event::ItemDone(event), step);
        } else {
            self.finish_item(item, output_index, step);
        }
    }

    fn summary_done(
        &mut self,
        open: &OpenItem,
        output_index: u32,
        part: usize,
        text: &str,
        cut: bool,
        step: &mut Step,
    ) {
        let event = SummaryTextDoneEvent {
            session_id: self.public.id.clone(),
            turn_id: self.turn_id(),
            item_id: open.id.clone(),
            output_index,
            summary_index: part as u32,
            text: text.to_owned(),
        };
        self.emit(Event::SummaryTextDone(event), step);
        let event = SummaryPartDoneEvent {
            session_id: self.public.id.clone(),
            turn_id: self.turn_id(),
            item_id: open.id.clone(),
            output_index,
            summary_index: part as u32,
            part: Summary::SummaryText {
                text: text.to_owned(),
            },
            status: cut.then_some(OutputStatus::Incomplete),
        };
        self.emit(Event::SummaryPartDone(event), step);
    }

    /// The item as far as it has been shown.
    fn open_item(&self, open: &OpenItem, status: CallStatus) -> Item {
        let (id, turn_id) = (open.id.clone(), self.turn_id());
        let output_status = match status {
            CallStatus::InProgress => OutputStatus::InProgress,
            CallStatus::Completed | CallStatus::Failed => OutputStatus::Completed,
            CallStatus::Incomplete => OutputStatus::Incomplete,
        };
        match &open.kind {
            OpenKind::Message { phase } => {
                let text = open.texts.first().cloned().unwrap_or_default();
                let begun = status == CallStatus::InProgress;
                Item::Message(Message {
                    id,
                    turn_id,
                    role: Role::Assistant,
                    status: output_status,
                    phase: phase.map(phase_of),
                    content: if begun {
                        Vec::new()
                    } else {
                        vec![Content::OutputText { text }]
                    },
                })
            }
            OpenKind::Reasoning => {
                let parts = open.texts.iter();
                Item::Reasoning(Reasoning {
                    id,
                    turn_id,
                    status: Some(output_status),
                    summary: parts
                        .map(|text| Summary::SummaryText { text: text.clone() })
                        .collect(),
                })
            }
            OpenKind::Command { command, cwd } => Item::CommandExecution(CommandExecution {
                id,
                turn_id,
                command: command.clone(),
                cwd: cwd.clone(),
                output: open
                    .texts
                    .first()
                    .filter(|_| status == CallStatus::Incomplete)
                    .cloned(),
                exit_code: None,
                duration_ms: None,
                status,
            }),
            OpenKind::Whole(kind) => self.item_of(id, turn_id, (**kind).clone(), status),
        }
    }

    fn content_part(&self, item_id: &str, output_index: u32, text: String) -> ContentPartEvent {
        ContentPartEvent {
            session_id: self.public.id.clone(),
            turn_id: self.turn_id(),
            item_id: item_id.to_owned(),
            output_index,
            content_index: 0,
            part: Content::OutputText { text },
        }
    }

    fn turn_id(&self) -> String {
        self.running_turn().unwrap_or_default().to_owned()
    }

    /// How much more text all open items together may hold.
    fn room(&self) -> usize {
        let texts = self.open.iter().flat_map(|(_, open)| &open.texts);
        MAX_OPEN_TEXT.saturating_sub(texts.map(String::len).sum())
    }

    fn position(&self, harness_id: &str) -> Option<u64> {
        self.open.find(|open| open.harness_id == harness_id)
    }
}

/// Whether an answer goes on behind what was shown of it.
fn is_longer(kind: &ItemKind, open: &OpenItem) -> bool {
    let shown = open.texts.first().map_or("", String::as_str);
    matches!(kind, ItemKind::Message { text, .. } if text.len() > shown.len() && text.starts_with(shown))
}

/// Open items are numbered by their output index.
fn index_of(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn write_text(step: &mut Step, open: u64, part: usize, delta: &str) {
    let part = part as u64;
    match step.texts.last_mut() {
        Some(last) if last.open == open && last.part == part => last.delta.push_str(delta),
        Some(_) | None => step.texts.push(TextWrite {
            open,
            part,
            delta: delta.to_owned(),
        }),
    }
}
