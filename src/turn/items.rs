//! The harness's events as items and events of the API.
use super::state::{OpenItem, Running, Session, SoFar};
use super::step::{ItemWrite, Seeds, Step};
use crate::wire::event::{
    CommandOutputDeltaEvent, ContentPartEvent, Event, ItemEvent, OutputTextDeltaEvent,
    OutputTextDoneEvent, SummaryPartDoneEvent, SummaryPartEvent, SummaryTextDeltaEvent,
    SummaryTextDoneEvent,
};
use crate::wire::id::Kind;
use crate::wire::item::{
    CallStatus, CommandExecution, Content, Item, Message, OutputStatus, Phase, Reasoning, Role,
    Summary,
};
use crate::wire::turn::TurnStatus;
use cloister_protocol::{
    self as protocol, FileChange, FileChangeKind, ItemKind, ItemStatus, MAX_TEXT_BYTES, WORKSPACE,
};

/// Items that may be open at once. A harness runs a few commands in parallel; more is a forgery and is not shown.
const MAX_OPEN: usize = 64;
/// Bytes of a harness's id of an item.
const MAX_HARNESS_ID: usize = 256;
/// Bytes of text that all open items together may hold.
const MAX_OPEN_TEXT: usize = 2 * MAX_TEXT_BYTES;
/// Bytes of a command line that are shown.
const MAX_COMMAND: usize = 16 << 10;
/// Parts of one reasoning summary.
const MAX_PARTS: usize = 64;

impl Session {
    pub(super) fn take_event(
        &mut self,
        event: protocol::Event,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        use protocol::Event as E;
        match event {
            E::Ready { .. } => {}
            E::Steered { input_id } => self.steered(&input_id, seeds, step),
            E::SteerRefused { input_id } => self.steer_refused(&input_id, seeds, step),
            E::HarnessLost { .. } => self.lost(seeds, step),
            E::TurnStarted { turn_id, .. } => {
                if self.runs(&turn_id) {
                    self.started(seeds, step);
                }
            }
            E::TurnEnded { turn_id, outcome } => {
                if self.runs(&turn_id) {
                    self.ended(outcome, seeds, step);
                }
            }
            E::Usage { turn_id, usage } => {
                if self.runs(&turn_id) {
                    self.used(usage);
                }
            }
            // Of a turn that has ended: its items are closed, and stored events never change.
            E::ItemStarted { turn_id, item } => {
                self.with_running(&turn_id, |scribe| scribe.start(&item), seeds, step)
            }
            E::TextDelta {
                turn_id,
                item_id,
                delta,
            } => self.with_running(&turn_id, |scribe| scribe.text(&item_id, delta), seeds, step),
            E::ReasoningDelta {
                turn_id,
                item_id,
                part,
                delta,
            } => {
                self.with_running(
                    &turn_id,
                    |scribe| scribe.reasoning(&item_id, part, delta),
                    seeds,
                    step,
                );
            }
            E::OutputDelta {
                turn_id,
                item_id,
                delta,
            } => self.with_running(
                &turn_id,
                |scribe| scribe.output(&item_id, delta),
                seeds,
                step,
            ),
            E::ItemCompleted { turn_id, item } => {
                self.with_running(&turn_id, |scribe| scribe.complete(item), seeds, step)
            }
        }
    }

    fn runs(&self, turn_id: &str) -> bool {
        self.running_turn() == Some(turn_id)
    }

    fn with_running(
        &mut self,
        turn_id: &str,
        write: impl FnOnce(&mut Scribe<'_, '_>),
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        if let Some(running) = self
            .running
            .as_mut()
            .filter(|running| running.turn.id == turn_id)
        {
            write(&mut Scribe {
                session_id: &self.public.id,
                running,
                seeds,
                step,
            });
        }
    }

    /// Ends what is still open when a turn ends: it is incomplete, and a command that a cancel cut short is not kept.
    pub(super) fn close_items(
        &self,
        running: &mut Running,
        status: TurnStatus,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        let mut scribe = Scribe {
            session_id: &self.public.id,
            running,
            seeds,
            step,
        };
        for open in std::mem::take(&mut scribe.running.open) {
            let item = scribe.item(&open, OutputStatus::Incomplete, CallStatus::Incomplete);
            let write = match (&item, status) {
                (Item::CommandExecution(_), TurnStatus::Cancelled) => {
                    ItemWrite::Remove(open.id.clone())
                }
                (_, _) => ItemWrite::Update(item.clone()),
            };
            scribe.step.items.push(write);
            scribe.done(&open, item);
        }
    }
}

/// Writes items of the running turn.
struct Scribe<'a, 'b> {
    session_id: &'a str,
    running: &'a mut Running,
    seeds: &'a mut Seeds<'b>,
    step: &'a mut Step,
}

impl Scribe<'_, '_> {
    fn start(&mut self, item: &protocol::Item) {
        if self.running.open.len() >= MAX_OPEN
            || item.id.len() > MAX_HARNESS_ID
            || self.position(&item.id).is_some()
        {
            return;
        }
        let (kind, so_far) = match &item.kind {
            ItemKind::Message { phase, .. } => (
                Kind::Message,
                SoFar::Message {
                    text: String::new(),
                    phase: *phase,
                },
            ),
            ItemKind::Reasoning { .. } => (Kind::Reasoning, SoFar::Reasoning { parts: Vec::new() }),
            ItemKind::Command { command, cwd, .. } => (
                Kind::Command,
                SoFar::Command {
                    command: cut(command.clone(), MAX_COMMAND),
                    cwd: cwd.clone().map(|cwd| cut(cwd, MAX_COMMAND)),
                },
            ),
            ItemKind::FileChanges { .. } => (
                Kind::Command,
                SoFar::Command {
                    command: "apply_patch".into(),
                    cwd: Some(WORKSPACE.into()),
                },
            ),
        };
        let output_index = self.running.next_output_index;
        self.running.next_output_index += 1;
        let open = OpenItem {
            harness_id: item.id.clone(),
            id: self.seeds.id(kind),
            output_index,
            so_far,
        };
        let shown = self.item(&open, OutputStatus::InProgress, CallStatus::InProgress);
        self.step.items.push(ItemWrite::Append(shown.clone()));
        let event = self.item_event(&open, shown);
        self.step.events.push(Event::ItemAdded(event));
        if matches!(open.so_far, SoFar::Message { .. }) {
            let part = self.content_part(&open, String::new());
            self.step.events.push(Event::ContentPartAdded(part));
        }
        self.running.open.push(open);
    }

    fn text(&mut self, harness_id: &str, delta: String) {
        let room = self.room();
        let Some(at) = self.position(harness_id) else {
            return;
        };
        let open = &mut self.running.open[at];
        let SoFar::Message { text, .. } = &mut open.so_far else {
            return;
        };
        let delta = cut(delta, room.min(MAX_TEXT_BYTES.saturating_sub(text.len())));
        if delta.is_empty() {
            return;
        }
        text.push_str(&delta);
        let (item_id, output_index) = (open.id.clone(), open.output_index);
        let event = OutputTextDeltaEvent {
            event_id: self.seeds.id(Kind::Event),
            session_id: self.session_id.to_owned(),
            turn_id: self.running.turn.id.clone(),
            item_id,
            output_index,
            content_index: 0,
            delta,
        };
        self.step.events.push(Event::OutputTextDelta(event));
    }

    fn reasoning(&mut self, harness_id: &str, part: u32, delta: String) {
        let room = self.room();
        let Some(at) = self.position(harness_id) else {
            return;
        };
        let part = part as usize;
        if part >= MAX_PARTS {
            return;
        }
        let SoFar::Reasoning { parts } = &self.running.open[at].so_far else {
            return;
        };
        for index in parts.len()..=part {
            let event = self.summary_part(at, index, String::new());
            self.step.events.push(Event::SummaryPartAdded(event));
            if let SoFar::Reasoning { parts } = &mut self.running.open[at].so_far {
                parts.push(String::new());
            }
        }
        let SoFar::Reasoning { parts } = &mut self.running.open[at].so_far else {
            return;
        };
        let delta = cut(
            delta,
            room.min(MAX_TEXT_BYTES.saturating_sub(parts[part].len())),
        );
        if delta.is_empty() {
            return;
        }
        parts[part].push_str(&delta);
        let open = &self.running.open[at];
        let event = SummaryTextDeltaEvent {
            event_id: self.seeds.id(Kind::Event),
            session_id: self.session_id.to_owned(),
            turn_id: self.running.turn.id.clone(),
            item_id: open.id.clone(),
            output_index: open.output_index,
            summary_index: part as u32,
            delta,
        };
        self.step.events.push(Event::SummaryTextDelta(event));
    }

    fn output(&mut self, harness_id: &str, delta: String) {
        let Some(at) = self.position(harness_id) else {
            return;
        };
        let open = &self.running.open[at];
        if !matches!(open.so_far, SoFar::Command { .. }) || delta.is_empty() {
            return;
        }
        let event = CommandOutputDeltaEvent {
            event_id: self.seeds.id(Kind::Event),
            session_id: self.session_id.to_owned(),
            turn_id: self.running.turn.id.clone(),
            item_id: open.id.clone(),
            output_index: open.output_index,
            delta,
        };
        self.step.events.push(Event::CommandOutputDelta(event));
    }

    fn complete(&mut self, item: protocol::Item) {
        self.start(&item);
        let Some(at) = self.position(&item.id) else {
            return;
        };
        match &item.kind {
            // What was never sent as a delta, so that the deltas add up to the whole.
            ItemKind::Message { text, .. } => {
                let missing = match &self.running.open[at].so_far {
                    SoFar::Message { text: shown, .. } => {
                        text.strip_prefix(shown.as_str()).map(str::to_owned)
                    }
                    SoFar::Reasoning { .. } | SoFar::Command { .. } => None,
                };
                self.text(&item.id, missing.unwrap_or_default());
            }
            ItemKind::Reasoning { summary } => {
                for (index, part) in summary.iter().enumerate().take(MAX_PARTS) {
                    let missing = match &self.running.open[at].so_far {
                        SoFar::Reasoning { parts } => part
                            .strip_prefix(parts.get(index).map_or("", String::as_str))
                            .map(str::to_owned),
                        SoFar::Message { .. } | SoFar::Command { .. } => None,
                    };
                    self.reasoning(&item.id, index as u32, missing.unwrap_or_default());
                }
            }
            ItemKind::Command { .. } | ItemKind::FileChanges { .. } => {}
        }
        let open = self.running.open.remove(at);
        let call_status = match item.status {
            ItemStatus::Completed => CallStatus::Completed,
            ItemStatus::Failed => CallStatus::Failed,
            ItemStatus::InProgress => CallStatus::Incomplete,
        };
        let mut shown = self.item(&open, OutputStatus::Completed, call_status);
        if let Item::CommandExecution(command) = &mut shown {
            result_of(command, item.kind, item.status);
        }
        self.step.items.push(ItemWrite::Update(shown.clone()));
        self.done(&open, shown);
    }

    /// The events that close an item.
    fn done(&mut self, open: &OpenItem, item: Item) {
        match &open.so_far {
            SoFar::Message { text, .. } => {
                let event = OutputTextDoneEvent {
                    event_id: self.seeds.id(Kind::Event),
                    session_id: self.session_id.to_owned(),
                    turn_id: self.running.turn.id.clone(),
                    item_id: open.id.clone(),
                    output_index: open.output_index,
                    content_index: 0,
                    text: text.clone(),
                };
                self.step.events.push(Event::OutputTextDone(event));
                let part = self.content_part(open, text.clone());
                self.step.events.push(Event::ContentPartDone(part));
            }
            SoFar::Reasoning { parts } => {
                let cut = matches!(
                    &item,
                    Item::Reasoning(Reasoning {
                        status: Some(OutputStatus::Incomplete),
                        ..
                    })
                );
                for (index, text) in parts.iter().enumerate() {
                    self.summary_done(open, index, text, cut);
                }
            }
            SoFar::Command { .. } => {}
        }
        let event = self.item_event(open, item);
        self.step.events.push(Event::ItemDone(event));
    }

    fn summary_done(&mut self, open: &OpenItem, index: usize, text: &str, cut: bool) {
        let (item_id, turn_id, session_id) = (
            open.id.clone(),
            self.running.turn.id.clone(),
            self.session_id.to_owned(),
        );
        self.step
            .events
            .push(Event::SummaryTextDone(SummaryTextDoneEvent {
                event_id: self.seeds.id(Kind::Event),
                session_id: session_id.clone(),
                turn_id: turn_id.clone(),
                item_id: item_id.clone(),
                output_index: open.output_index,
                summary_index: index as u32,
                text: text.to_owned(),
            }));
        self.step
            .events
            .push(Event::SummaryPartDone(SummaryPartDoneEvent {
                event_id: self.seeds.id(Kind::Event),
                session_id,
                turn_id,
                item_id,
                output_index: open.output_index,
                summary_index: index as u32,
                part: Summary::SummaryText {
                    text: text.to_owned(),
                },
                status: cut.then_some(OutputStatus::Incomplete),
            }));
    }

    /// The item as far as it has been shown.
    fn item(&self, open: &OpenItem, status: OutputStatus, call_status: CallStatus) -> Item {
        let (id, turn_id) = (open.id.clone(), self.running.turn.id.clone());
        match &open.so_far {
            SoFar::Message { text, phase } => {
                let content = match status {
                    OutputStatus::InProgress => Vec::new(),
                    OutputStatus::Completed | OutputStatus::Incomplete => {
                        vec![Content::OutputText { text: text.clone() }]
                    }
                };
                let phase = phase.map(|phase| match phase {
                    protocol::Phase::Commentary => Phase::Commentary,
                    protocol::Phase::FinalAnswer => Phase::FinalAnswer,
                });
                Item::Message(Message {
                    id,
                    turn_id,
                    role: Role::Assistant,
                    status,
                    phase,
                    content,
                })
            }
            SoFar::Reasoning { parts } => {
                let summary = parts
                    .iter()
                    .map(|text| Summary::SummaryText { text: text.clone() })
                    .collect();
                Item::Reasoning(Reasoning {
                    id,
                    turn_id,
                    status: Some(status),
                    summary,
                })
            }
            SoFar::Command { command, cwd } => Item::CommandExecution(CommandExecution {
                id,
                turn_id,
                command: command.clone(),
                cwd: cwd.clone(),
                output: None,
                exit_code: None,
                duration_ms: None,
                status: call_status,
            }),
        }
    }

    fn item_event(&mut self, open: &OpenItem, item: Item) -> ItemEvent {
        ItemEvent {
            event_id: self.seeds.id(Kind::Event),
            session_id: self.session_id.to_owned(),
            turn_id: self.running.turn.id.clone(),
            item: Box::new(item),
            output_index: Some(open.output_index),
        }
    }

    fn content_part(&mut self, open: &OpenItem, text: String) -> ContentPartEvent {
        ContentPartEvent {
            event_id: self.seeds.id(Kind::Event),
            session_id: self.session_id.to_owned(),
            turn_id: self.running.turn.id.clone(),
            item_id: open.id.clone(),
            output_index: open.output_index,
            content_index: 0,
            part: Content::OutputText { text },
        }
    }

    fn summary_part(&mut self, at: usize, index: usize, text: String) -> SummaryPartEvent {
        SummaryPartEvent {
            event_id: self.seeds.id(Kind::Event),
            session_id: self.session_id.to_owned(),
            turn_id: self.running.turn.id.clone(),
            item_id: self.running.open[at].id.clone(),
            output_index: self.running.open[at].output_index,
            summary_index: index as u32,
            part: Summary::SummaryText { text },
        }
    }

    /// How much more text all open items together may hold: they are stored with the session's state, in one row.
    fn room(&self) -> usize {
        let held = self.running.open.iter().map(|open| match &open.so_far {
            SoFar::Message { text, .. } => text.len(),
            SoFar::Reasoning { parts } => parts.iter().map(String::len).sum(),
            SoFar::Command { command, cwd } => command.len() + cwd.as_deref().map_or(0, str::len),
        });
        MAX_OPEN_TEXT.saturating_sub(held.sum())
    }

    fn position(&self, harness_id: &str) -> Option<usize> {
        self.running
            .open
            .iter()
            .position(|open| open.harness_id == harness_id)
    }
}

/// As much of `delta` as there is room for.
fn cut(mut delta: String, room: usize) -> String {
    if delta.len() > room {
        let end = (0..=room)
            .rev()
            .find(|at| delta.is_char_boundary(*at))
            .unwrap_or_default();
        delta.truncate(end);
    }
    delta
}

fn result_of(command: &mut CommandExecution, kind: ItemKind, status: ItemStatus) {
    match kind {
        ItemKind::Command {
            output,
            exit_code,
            duration_ms,
            ..
        } => {
            command.output = output;
            command.exit_code = exit_code;
            command.duration_ms = duration_ms;
        }
        // The API has no item of its own for edits: the patch is a command, and what it changed is its output.
        ItemKind::FileChanges { changes } => {
            command.output = Some(changes.iter().map(line_of).collect());
            command.exit_code = Some(i32::from(status != ItemStatus::Completed));
        }
        ItemKind::Message { .. } | ItemKind::Reasoning { .. } => {}
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
