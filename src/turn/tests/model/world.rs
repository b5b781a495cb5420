//! All parts together, and what lies between them.
use super::action::{Action, Work};
use super::harness::{Answer, Harness};
use super::saving::{Message, Stray};
use super::session::Object;
use crate::checkpoint::key::Home;
use crate::turn::{Effect, Input, Refused, ToolResult};
use cloister_protocol::Event;
use std::collections::BTreeSet;

/// On its way between the session's object and the harness's.
#[derive(Clone, Debug)]
enum Packet {
    Call {
        id: u64,
        incarnation: u32,
        effect: Effect,
    },
    Answer {
        id: u64,
        incarnation: u32,
        answer: Answer,
    },
}

pub struct World {
    pub object: Object,
    pub harness: Harness,
    network: Vec<Packet>,
    /// What the session's keys begin with.
    pub home: Home,
    /// Keys of all objects.
    pub bucket: BTreeSet<String>,
    pub strays: Vec<Stray>,
    /// On its way from the harness's object, which does not wait for an answer any more.
    pub late: Vec<Message>,
    /// Checkpoints that were begun.
    pub attempts: u128,
    /// How many messages were accepted.
    pub said: usize,
    /// How many had been accepted at each cancel, and the turn that was cancelled.
    pub cancelled: Vec<(usize, String)>,
    pub results: Vec<ToolResult>,
    pub notes: Vec<String>,
}

pub type Done = Result<(), String>;

impl World {
    pub fn new() -> Self {
        let object = Object::new();
        Self {
            home: Home::of(&object.session.identity.tenant, &object.session.public.id),
            bucket: BTreeSet::new(),
            strays: vec![],
            late: vec![],
            attempts: 0,
            object,
            harness: Harness::default(),
            network: vec![],
            said: 0,
            cancelled: vec![],
            results: vec![],
            notes: vec![],
        }
    }

    /// Does one thing, and checks what must be true then.
    pub fn act(&mut self, action: Action) -> Done {
        let result = self.perform(action).and_then(|()| self.check());
        self.notes.append(&mut self.object.notes);
        result
    }

    fn perform(&mut self, action: Action) -> Done {
        match action {
            Action::Say => self.say(),
            Action::Cancel => self.cancel(),
            Action::Answer { pick, success } => self.answer(pick, success),
            Action::Repeat { pick, same } => self.repeat(pick, same),
            Action::Decide { pick, approve } => self.decide(pick, approve),
            Action::Update => self.update(),
            Action::Alarm => {
                let wake_at = self.object.session.wake_at();
                self.object.now = self.object.now.max(wake_at.unwrap_or_default());
                self.take(Input::Tick).map(drop)
            }
            Action::Moment => {
                self.object.now += 20_000;
                self.take(Input::Tick).map(drop)
            }
            Action::Crash => self.object.crash(),
            Action::Dispatch => self.dispatch(),
            Action::Carry(pick) => match self.packet(pick) {
                Some(at) => self.arrive(at, false),
                None => Ok(()),
            },
            Action::Refuse(pick) => match self.packet(pick) {
                Some(at) => self.arrive(at, true),
                None => Ok(()),
            },
            Action::Spoil(fault) => {
                self.harness.fault = Some(fault);
                Ok(())
            }
            Action::Drop(pick) => match self.packet(pick) {
                Some(at) => match self.network.remove(at) {
                    Packet::Call {
                        id, incarnation, ..
                    }
                    | Packet::Answer {
                        id, incarnation, ..
                    } => self.heard_back(id, incarnation, None),
                },
                None => Ok(()),
            },
            Action::Double(pick) => {
                let packet = self.packet(pick).map(|at| self.network[at].clone());
                self.network.extend(packet);
                Ok(())
            }
            Action::Flow => self.flow(),
            Action::Report { count, answered } => self.report(count.into(), answered),
            Action::Late { pick } => self.late(pick),
            Action::Save { pick, answered } => self.save(pick, answered),
            Action::SaveAll(pick) => self.save_all(pick),
            Action::Restart => {
                self.restart();
                Ok(())
            }
            Action::Stray(pick) => {
                self.stray(pick);
                Ok(())
            }
            Action::Sweep => {
                self.sweep();
                Ok(())
            }
            Action::Beat { answered } => self.beat(answered),
            Action::Work(Work::Vanish) => {
                self.harness.destroy();
                Ok(())
            }
            Action::Work(work) => {
                if let Some(supervisor) = &mut self.harness.supervisor {
                    let from = supervisor.events.len();
                    supervisor.work(work);
                    for event in &supervisor.events[from..] {
                        self.notes.push(format!("{event:?}"));
                    }
                }
                Ok(())
            }
            Action::Calm => self.calm(),
            Action::Settle => self.settle(),
        }
    }

    pub fn take(&mut self, input: Input) -> Result<Result<(), Refused>, String> {
        self.object.take(vec![input])
    }

    fn dispatch(&mut self) -> Done {
        let incarnation = self.object.incarnation;
        for (id, effect) in self.object.dispatch() {
            if let Effect::Run { turn_id, .. } = &effect {
                if self.object.session.running_turn() != Some(turn_id) {
                    return Err("a turn that has ended is sent to the harness".to_owned());
                }
            }
            self.network.push(Packet::Call {
                id,
                incarnation,
                effect,
            });
        }
        Ok(())
    }

    fn packet(&self, pick: u8) -> Option<usize> {
        (!self.network.is_empty()).then(|| pick as usize % self.network.len().max(1))
    }

    fn arrive(&mut self, at: usize, refused: bool) -> Done {
        match self.network.remove(at) {
            Packet::Call {
                id,
                incarnation,
                effect,
            } => {
                self.notes.push(format!("{effect:?} arrives"));
                let answer = if refused {
                    self.harness.refuse(effect)
                } else {
                    self.harness.carry_out(effect)
                };
                self.network.push(Packet::Answer {
                    id,
                    incarnation,
                    answer,
                });
                Ok(())
            }
            Packet::Answer {
                id,
                incarnation,
                answer,
            } => {
                self.notes.push(format!("{answer:?}"));
                self.heard_back(id, incarnation, Some(answer))
            }
        }
    }

    /// Only the incarnation that asked hears the answer, and once.
    fn heard_back(&mut self, id: u64, incarnation: u32, answer: Option<Answer>) -> Done {
        if incarnation == self.object.incarnation && self.object.under_way.contains(&id) {
            return self.object.answered(id, answer);
        }
        Ok(())
    }

    /// The supervisor's next events go to the session, up to the end of a turn, which waits for its checkpoint. Those that were
    /// stored before come first, if that was not heard.
    fn report(&mut self, count: usize, answered: bool) -> Done {
        let Some(supervisor) = &self.harness.supervisor else {
            return Ok(());
        };
        let (epoch, from) = (supervisor.epoch, supervisor.acknowledged);
        let ends = |event: &Event| matches!(event, Event::TurnEnded { .. });
        let next = supervisor.events[from..].iter().take(count);
        let events: Vec<Event> = next.take_while(|event| !ends(event)).cloned().collect();
        let lost = events
            .iter()
            .any(|event| matches!(event, Event::HarnessLost { .. }));
        if lost {
            self.harness.destroy();
        }
        self.stored(epoch, from, &events, None)?;
        if !answered {
            return Ok(());
        }
        if let Some(supervisor) = &mut self.harness.supervisor {
            supervisor.acknowledged = from + events.len();
        }
        // A turn that is lost with its harness is reported when its object next looks after it.
        Ok(())
    }

    /// Events arrive at the session, with what became of the checkpoint if a turn ends with them. Those that were there, or are
    /// of an older instance, change nothing.
    pub fn stored(
        &mut self,
        epoch: u64,
        from: usize,
        events: &[Event],
        save: Option<Input>,
    ) -> Done {
        let inputs = events.iter().enumerate().map(|(at, event)| Input::Harness {
            epoch,
            seq: (from + at + 1) as u64,
            event: Box::new(event.clone()),
        });
        let taken = self.object.session.core.seen;
        let (mut old, mut new): (Vec<_>, Vec<_>) = inputs.partition(|input| match input {
            Input::Harness { epoch, seq, .. } => (*epoch, *seq) <= (taken.epoch, taken.seq),
            _ => false,
        });
        if let Some(save) = save {
            let with_end = if new.is_empty() { &mut old } else { &mut new };
            with_end.insert(0, save);
        }
        let state = |object: &Object| {
            let public = &object.session.public;
            (
                object.session.last_event(),
                object.store.outbox.len(),
                public.usage,
                object.session.checkpoint().cloned(),
                object.session.attempt().cloned(),
            )
        };
        let before = state(&self.object);
        self.object.take(old)?.map_err(|_| "refused")?;
        if state(&self.object) != before {
            return Err("an event was taken twice, or of an instance that is gone".to_owned());
        }
        self.object.take(new).map(drop)
    }

    /// What the harness's object had sent arrives after all, or what an instance that is gone had: what is next, or what was
    /// there before.
    fn late(&mut self, pick: u8) -> Done {
        if !pick.is_multiple_of(4) && !self.late.is_empty() {
            let message = self.late.remove(pick as usize / 4 % self.late.len());
            self.notes.push(format!("{message:?}"));
            return self.deliver(message);
        }
        let Some(gone) = self.harness.gone.last() else {
            return Ok(());
        };
        let seen = self.object.session.seen(gone.epoch) as usize;
        let from = seen
            .saturating_sub(pick as usize % 3)
            .min(gone.events.len());
        let next = gone.events.get(seen);
        let to =
            seen + usize::from(next.is_some_and(|next| !matches!(next, Event::TurnEnded { .. })));
        let (epoch, events) = (gone.epoch, gone.events[from..to].to_vec());
        self.stored(epoch, from, &events, None)
    }

    fn beat(&mut self, answered: bool) -> Done {
        let Some(turn_id) = self.harness.lost() else {
            return Ok(());
        };
        let runs = self.object.session.running_turn() == Some(&turn_id);
        self.take(Input::Lost {
            turn_id: turn_id.clone(),
        })?
        .map_err(|_| "refused")?;
        if runs && !self.object.session.subagents.is_empty() {
            return Err("subagents outlived their harness".to_owned());
        }
        if answered {
            self.harness.forget(&turn_id);
        }
        Ok(())
    }

    fn flow(&mut self) -> Done {
        self.dispatch()?;
        while !self.network.is_empty() {
            self.arrive(0, false)?;
        }
        if let Some(supervisor) = &mut self.harness.supervisor {
            while !supervisor.commands.is_empty() && !supervisor.hung && !supervisor.dead {
                supervisor.work(Work::Command { willing: true });
            }
        }
        self.report(usize::MAX / 2, true)
    }

    /// Everything arrives, and the harness does what it is told and ends its turns.
    fn calm(&mut self) -> Done {
        if self
            .harness
            .supervisor
            .as_ref()
            .is_some_and(|supervisor| supervisor.hung)
        {
            self.harness.destroy();
        }
        for round in 0..12 {
            // Calls that got no answer are made again.
            self.object.crash()?;
            self.network.clear();
            self.flow()?;
            if let Some(supervisor) = &mut self.harness.supervisor {
                supervisor.work(Work::End(0));
            }
            self.report(usize::MAX / 2, true)?;
            self.save_all(16 * round + 5)?;
            self.beat(true)?;
            self.check()?;
        }
        self.settled()
    }

    /// Time is all there is.
    fn settle(&mut self) -> Done {
        for _ in 0..8 {
            if let Some(wake_at) = self.object.session.wake_at() {
                self.object.now = self.object.now.max(wake_at);
                self.take(Input::Tick)?.map_err(|_| "refused")?;
                self.check()?;
            }
        }
        self.settled()?;
        self.check_swept()
    }
}
