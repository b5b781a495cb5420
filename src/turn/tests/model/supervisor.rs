//! The supervisor and the harness in one container. It knows its commands again, and keeps events until they are stored.
use super::action::Work;
use cloister_protocol::{
    Event, FailureCode, Input, Item, ItemKind, ItemStatus, Json, Outcome, SubagentEvent, TokenUsage,
};
use std::collections::BTreeSet;

/// What it is told.
#[derive(Clone, Debug)]
pub enum Command {
    Start {
        turn_id: String,
        input: Vec<Input>,
    },
    Steer {
        turn_id: String,
        input_id: String,
        input: Vec<Input>,
    },
    Interrupt {
        turn_id: String,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Supervisor {
    pub epoch: u64,
    /// All events; the number of the first is 1.
    pub events: Vec<Event>,
    /// How many are known to be stored.
    pub acknowledged: usize,
    pub commands: Vec<Command>,
    pub turn: Option<String>,
    taken: BTreeSet<String>,
    open: Vec<Item>,
    asked: Vec<String>,
    children: usize,
    /// It does nothing more.
    pub hung: bool,
    pub dead: bool,
    named: usize,
    /// What the agent said.
    pub said: BTreeSet<String>,
    /// What the model was told, and in which turn.
    pub heard: Vec<(String, String)>,
}

impl Supervisor {
    pub fn new(epoch: u64) -> Self {
        let harness = "model".to_owned();
        Self {
            epoch,
            events: vec![Event::Ready { harness }],
            ..Self::default()
        }
    }

    fn name(&mut self, of: &str) -> String {
        self.named += 1;
        format!("{of}{}.{}", self.epoch, self.named)
    }

    fn hear(&mut self, turn_id: &str, input: &[Input]) {
        for part in input {
            if let Input::Text(text) = part {
                self.heard.push((text.clone(), turn_id.to_owned()));
            }
        }
    }

    pub fn work(&mut self, work: Work) {
        if self.dead || self.hung {
            return;
        }
        if let Work::Command { willing } = work {
            return self.command(willing);
        }
        if let (Work::Child(pick), true) = (work, self.children > 0) {
            let event = self.child(pick);
            return self.events.push(event);
        }
        if work == Work::Die {
            self.dead = true;
            return self.events.push(Event::HarnessLost { exit_code: Some(1) });
        }
        if work == Work::Hang {
            self.hung = true;
        }
        let Some(turn_id) = self.turn.clone() else {
            return;
        };
        if let Some(event) = self.event(work, turn_id) {
            self.events.push(event);
        }
    }

    fn command(&mut self, willing: bool) {
        if self.commands.is_empty() {
            return;
        }
        match self.commands.remove(0) {
            Command::Start { turn_id, input } => {
                if !self.taken.insert(turn_id.clone()) {
                    return;
                }
                // The end of a turn may come before its beginning.
                let stopped = self.commands.iter().any(
                    |command| matches!(command, Command::Interrupt { turn_id: id } if *id == turn_id),
                );
                if self.turn.is_some() {
                    let code = FailureCode::InvalidRequest;
                    let outcome = Outcome::Failed { code };
                    return self.events.push(Event::TurnEnded { turn_id, outcome });
                }
                if stopped && !willing {
                    let outcome = Outcome::Interrupted;
                    return self.events.push(Event::TurnEnded { turn_id, outcome });
                }
                self.hear(&turn_id, &input);
                self.turn = Some(turn_id.clone());
                let thread = "thread".to_owned();
                self.events.push(Event::TurnStarted { turn_id, thread });
            }
            Command::Steer {
                turn_id,
                input_id,
                input,
            } => {
                if !self.taken.insert(input_id.clone()) {
                    return;
                }
                if willing && self.turn.as_ref() == Some(&turn_id) {
                    self.hear(&turn_id, &input);
                    self.events.push(Event::Steered { input_id });
                } else {
                    self.events.push(Event::SteerRefused { input_id });
                }
            }
            Command::Interrupt { turn_id } => {
                if self.turn.as_ref() == Some(&turn_id) {
                    self.end(turn_id, Outcome::Interrupted);
                }
            }
        }
    }

    fn end(&mut self, turn_id: String, outcome: Outcome) {
        self.turn = None;
        self.open.clear();
        self.asked.clear();
        self.events.push(Event::TurnEnded { turn_id, outcome });
    }

    fn event(&mut self, work: Work, turn_id: String) -> Option<Event> {
        let chosen = |pick: u8, of: usize| (of > 0).then(|| pick as usize % of.max(1));
        Some(match work {
            Work::Begin(pick) => {
                let item = Item {
                    id: self.name("item"),
                    status: ItemStatus::InProgress,
                    kind: kind(pick),
                };
                self.open.push(item.clone());
                Event::ItemStarted { turn_id, item }
            }
            Work::More(pick) => {
                let at = chosen(pick, self.open.len())?;
                let open = &mut self.open[at];
                let item_id = open.id.clone();
                let delta = format!("δ{pick} of {item_id}, ");
                match &mut open.kind {
                    ItemKind::Message { text, .. } => {
                        text.push_str(&delta);
                        Event::TextDelta {
                            turn_id,
                            item_id,
                            delta,
                        }
                    }
                    ItemKind::Reasoning { summary } => {
                        let part = usize::from(pick % 2);
                        summary.resize(summary.len().max(part + 1), String::new());
                        summary[part].push_str(&delta);
                        let part = part as u32;
                        Event::ReasoningDelta {
                            turn_id,
                            item_id,
                            part,
                            delta,
                        }
                    }
                    _ => Event::OutputDelta {
                        turn_id,
                        item_id,
                        delta,
                    },
                }
            }
            Work::Finish(pick) => {
                let at = chosen(pick, self.open.len())?;
                let mut item = self.open.remove(at);
                item.status = ItemStatus::Completed;
                if let ItemKind::Message { text, .. } = &mut item.kind {
                    if pick % 3 == 0 {
                        text.push_str("the rest");
                    }
                    self.said.insert(text.clone());
                }
                Event::ItemCompleted { turn_id, item }
            }
            Work::Call(pick) => Event::ToolCall {
                turn_id,
                call_id: self.name("call"),
                name: ["sum", "mail", "sum", "mail", "nothing"][pick as usize % 5].to_owned(),
                arguments: Json::null(),
            },
            Work::Ask => {
                let request_id = self.name("ask");
                self.asked.push(request_id.clone());
                Event::ApprovalRequested {
                    turn_id,
                    request_id,
                    server: "docs".to_owned(),
                    tool: None,
                    message: "May I?".to_owned(),
                    arguments: None,
                }
            }
            Work::Unask(pick) => {
                let at = chosen(pick, self.asked.len())?;
                let request_id = self.asked.remove(at);
                Event::ApprovalClosed { request_id }
            }
            Work::Spend => Event::Usage {
                turn_id,
                usage: spent(),
            },
            Work::Spawn(pick) => {
                self.children += 1;
                let parent = chosen(pick, self.children).filter(|at| *at > 0);
                Event::SubagentOpened {
                    turn_id,
                    subagent: format!("child{}", self.children),
                    parent: parent.map(|at| format!("child{at}")),
                    name: None,
                    prompt: Some("help".to_owned()),
                }
            }
            Work::End(pick) => {
                let outcome = match pick % 4 {
                    0 | 1 => Outcome::Completed,
                    2 => Outcome::Interrupted,
                    _ => Outcome::Failed {
                        code: FailureCode::ServerError,
                    },
                };
                self.end(turn_id, outcome);
                return None;
            }
            Work::Command { .. } | Work::Child(_) | Work::Die | Work::Vanish | Work::Hang => {
                return None
            }
        })
    }

    fn child(&mut self, pick: u8) -> Event {
        let subagent = format!("child{}", 1 + pick as usize % self.children);
        let turn = format!("turn{}", pick % 3);
        let event = match pick % 7 {
            0 | 1 => SubagentEvent::Started,
            2 => SubagentEvent::ItemCompleted(Item {
                id: self.name("item"),
                status: ItemStatus::Completed,
                kind: kind(pick),
            }),
            3 => SubagentEvent::Usage(spent()),
            4 | 5 => SubagentEvent::Ended(Outcome::Completed),
            _ => return Event::SubagentClosed { subagent },
        };
        Event::Subagent {
            subagent,
            turn,
            event,
        }
    }
}

fn spent() -> TokenUsage {
    TokenUsage {
        input_tokens: 1,
        ..TokenUsage::default()
    }
}

fn kind(pick: u8) -> ItemKind {
    match pick % 4 {
        0 | 1 => ItemKind::Message {
            text: String::new(),
            phase: None,
        },
        2 => ItemKind::Reasoning { summary: vec![] },
        _ => ItemKind::Command {
            command: "ls".to_owned(),
            cwd: None,
            output: None,
            exit_code: None,
            duration_ms: None,
        },
    }
}
