//! The harness's object: it knows a turn again, starts containers, and says when one is lost.
use super::saving::Making;
use super::supervisor::{Command, Supervisor};
use crate::environment::EnvironmentFault;
use crate::turn::Effect;
use std::collections::BTreeMap;

/// A turn that it was asked for and whose end is not stored.
#[derive(Clone, Debug)]
pub struct Active {
    pub turn_id: String,
    /// The instance that was told to start it.
    pub sent_to: u64,
}

/// What it answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    Done,
    Started { new_sandbox: bool },
    Refused { fault: Option<EnvironmentFault> },
}

#[derive(Debug, Default)]
pub struct Harness {
    epoch: u64,
    pub active: Option<Active>,
    /// Turns that it was asked for, and how it answered.
    known: BTreeMap<String, Answer>,
    /// The next turn's environment cannot be made.
    pub fault: Option<EnvironmentFault>,
    pub supervisor: Option<Supervisor>,
    pub making: Option<Making>,
    /// Instances that are gone.
    pub gone: Vec<Supervisor>,
}

impl Harness {
    /// Carries an effect out.
    pub fn carry_out(&mut self, effect: Effect) -> Answer {
        match effect {
            Effect::Run { turn_id, input } => {
                if let Some(answer) = self.known.get(&turn_id) {
                    return *answer;
                }
                if let Some(fault) = self.fault.take() {
                    return self.give_up(Some(fault));
                }
                // The first is new; of another that is, it does not always come to know.
                let new_sandbox = self.known.len().is_multiple_of(3);
                let answer = Answer::Started { new_sandbox };
                self.known.insert(turn_id.clone(), answer);
                let epoch = self.started();
                self.active = Some(Active {
                    turn_id: turn_id.clone(),
                    sent_to: epoch,
                });
                self.tell(Command::Start { turn_id, input });
                answer
            }
            Effect::Steer {
                turn_id,
                input_id,
                input,
            } => {
                let answer = self.answer(&turn_id);
                if answer == Answer::Done {
                    self.tell(Command::Steer {
                        turn_id,
                        input_id,
                        input,
                    });
                }
                answer
            }
            Effect::ToolResult { turn_id, .. } | Effect::Approval { turn_id, .. } => {
                self.answer(&turn_id)
            }
            Effect::Interrupt { turn_id } => {
                if self.runs(&turn_id) {
                    self.tell(Command::Interrupt { turn_id });
                }
                Answer::Done
            }
            Effect::Destroy { turn_id } => {
                let other = self
                    .active
                    .as_ref()
                    .is_some_and(|active| active.turn_id != turn_id);
                if !other {
                    self.destroy();
                    self.active = None;
                }
                Answer::Done
            }
        }
    }

    /// A turn cannot be brought to a harness. One that is there already, is.
    pub fn refuse(&mut self, effect: Effect) -> Answer {
        let there = match &effect {
            Effect::Run { turn_id, .. } => self.known.contains_key(turn_id),
            Effect::Steer { .. }
            | Effect::ToolResult { .. }
            | Effect::Approval { .. }
            | Effect::Interrupt { .. }
            | Effect::Destroy { .. } => true,
        };
        if there {
            self.carry_out(effect)
        } else {
            self.give_up(None)
        }
    }

    /// What was begun for a turn ends.
    fn give_up(&mut self, fault: Option<EnvironmentFault>) -> Answer {
        self.destroy();
        self.active = None;
        Answer::Refused { fault }
    }

    fn answer(&self, turn_id: &str) -> Answer {
        if self.runs(turn_id) {
            Answer::Done
        } else {
            Answer::Refused { fault: None }
        }
    }

    fn runs(&self, turn_id: &str) -> bool {
        self.active
            .as_ref()
            .is_some_and(|active| active.turn_id == turn_id)
    }

    fn tell(&mut self, command: Command) {
        if let Some(supervisor) = &mut self.supervisor {
            supervisor.commands.push(command);
        }
    }

    /// The epoch of the instance that runs; if none does, it is started.
    fn started(&mut self) -> u64 {
        if self.supervisor.is_none() {
            self.epoch += 1;
            self.supervisor = Some(Supervisor::new(self.epoch));
        }
        self.epoch
    }

    pub fn destroy(&mut self) {
        self.gone.extend(self.supervisor.take());
    }

    /// The turn that is lost with its instance.
    pub fn lost(&self) -> Option<String> {
        let active = self.active.as_ref()?;
        let alive = self.supervisor.as_ref().map(|supervisor| supervisor.epoch);
        (alive != Some(active.sent_to)).then(|| active.turn_id.clone())
    }

    /// A turn is over, as the session has stored it.
    pub fn forget(&mut self, turn_id: &str) {
        if self.runs(turn_id) {
            self.active = None;
        }
    }

    /// Whether an agent said this, from beginning to end.
    pub fn said(&self, text: &str) -> bool {
        let mut all = self.gone.iter().chain(&self.supervisor);
        all.any(|supervisor| supervisor.said.contains(text))
    }

    /// All that any model was told, and in which turn.
    pub fn heard(&self) -> impl Iterator<Item = &(String, String)> {
        let all = self.gone.iter().chain(&self.supervisor);
        all.flat_map(|supervisor| &supervisor.heard)
    }
}
