//! The harness's object makes checkpoints: in steps, any of which may be its last.
use super::world::{Done, World};
use crate::checkpoint::key::{part, Content};
use crate::checkpoint::{CheckpointId, Digest, Saved, SavedArtifact, Unsaved};
use crate::turn::Input;
use cloister_protocol::Event;

/// A checkpoint in the making. It is in memory only.
#[derive(Clone, Debug)]
pub struct Making {
    turn_id: String,
    /// Until when something may be stored; none before the session is known to know of it.
    until: Option<u64>,
    /// Keys that are not stored yet, the next one last.
    left: Vec<String>,
    /// What is said of it if all goes well.
    saved: Saved,
    /// What is said of it.
    result: Option<Input>,
}

/// What somebody still stores for a checkpoint whose maker does not know it any more.
#[derive(Clone, Debug)]
pub struct Stray {
    keys: Vec<String>,
    until: u64,
}

/// What the harness's object says to the session's.
#[derive(Clone, Debug)]
pub enum Message {
    Begins(Input),
    Ended {
        epoch: u64,
        from: usize,
        events: Vec<Event>,
        save: Input,
    },
}

impl World {
    /// The harness's object does the next thing for the turn whose end it holds back.
    pub fn save(&mut self, pick: u8, answered: bool) -> Done {
        let Some((turn_id, to)) = self.held_back() else {
            self.restart();
            return Ok(());
        };
        let mut making = match self.harness.making.take() {
            Some(making) if making.turn_id == turn_id => making,
            other => {
                self.harness.making = other;
                self.restart();
                self.plan(turn_id, pick)
            }
        };
        // Unheard, it may still be on its way.
        let late = !answered && pick.is_multiple_of(2);
        if making.result.is_some() {
            return self.tell_end(making, to, answered, late);
        }
        match making.until {
            None => return self.announce(making, answered, late),
            Some(until) if self.object.now >= until || pick.is_multiple_of(32) => {
                let (keys, turn_id) = (std::mem::take(&mut making.left), making.turn_id.clone());
                self.strays.push(Stray { keys, until });
                let why = [Unsaved::Failed, Unsaved::TooLarge][pick as usize / 32 % 2];
                making.result = Some(Input::Unsaved { turn_id, why });
            }
            Some(until) => match making.left.pop() {
                Some(key) => {
                    self.bucket.insert(key);
                    if !pick.is_multiple_of(4) {
                        self.bucket.extend(making.left.drain(..));
                    }
                }
                None => {
                    let keys = self.cut_short(&making.saved);
                    self.strays.push(Stray { keys, until });
                    making.result = Some(Input::Saved {
                        turn_id: making.turn_id.clone(),
                        saved: Box::new(making.saved.clone()),
                    });
                }
            },
        }
        self.harness.making = Some(making);
        Ok(())
    }

    /// All of it, if nothing is in the way.
    pub fn save_all(&mut self, pick: u8) -> Done {
        for _ in 0..16 {
            self.save(pick | 1, true)?;
        }
        Ok(())
    }

    /// The first turn whose end is not reported yet, and how many events go with that.
    fn held_back(&self) -> Option<(String, usize)> {
        let supervisor = self.harness.supervisor.as_ref()?;
        let mut events = supervisor.events.iter().enumerate();
        events.find_map(|(at, event)| match event {
            Event::TurnEnded { turn_id, .. } if at >= supervisor.acknowledged => {
                Some((turn_id.clone(), at + 1))
            }
            _ => None,
        })
    }

    fn plan(&mut self, turn_id: String, pick: u8) -> Making {
        self.attempts += 1;
        let id = CheckpointId::new(self.attempts.to_be_bytes());
        let earlier = self.object.session.checkpoint();
        let earlier = earlier.and_then(|checkpoint| checkpoint.workspace.clone());
        let sandbox_lost = (pick / 3).is_multiple_of(3);
        let mut artifacts: Vec<SavedArtifact> = (0..u32::from(pick % 3)).map(file).collect();
        let mut left = vec![part(&self.home.stream(&id, Content::Workspace), 0)];
        let files = artifacts.iter();
        left.extend(files.map(|file| part(&self.home.artifact(&id, file.index), 0)));
        left.push(part(&self.home.stream(&id, Content::History), 0));
        left.insert(0, self.home.manifest(&id));
        let dropped = if (pick / 12).is_multiple_of(2) {
            artifacts.pop()
        } else {
            None
        };
        let saved = Saved {
            manifest: Digest::of(id.as_str().as_bytes()),
            workspace: if sandbox_lost {
                earlier
            } else {
                Some(id.clone())
            },
            id,
            artifacts,
            dropped: dropped.into_iter().map(|file| file.index).collect(),
            sandbox_lost,
        };
        Making {
            turn_id,
            until: None,
            left,
            saved,
            result: None,
        }
    }

    /// What may still be stored of what a whole checkpoint does not refer to.
    fn cut_short(&self, saved: &Saved) -> Vec<String> {
        let dropped = saved.dropped.iter();
        let mut keys: Vec<String> = dropped
            .map(|index| part(&self.home.artifact(&saved.id, *index), 1))
            .collect();
        if saved.sandbox_lost {
            keys.push(part(&self.home.stream(&saved.id, Content::Workspace), 1));
        }
        keys
    }

    fn announce(&mut self, mut making: Making, answered: bool, late: bool) -> Done {
        let (turn_id, checkpoint) = (making.turn_id.clone(), making.saved.id.clone());
        let message = Message::Begins(Input::Saving {
            turn_id,
            checkpoint,
        });
        self.send(message, late)?;
        let session = &self.object.session;
        let current = session.attempt() == Some(&making.saved.id);
        let runs = session.running_turn() == Some(&making.turn_id);
        match (answered, current, runs) {
            (false, _, _) => {}
            (true, true, _) => making.until = session.wake_at(),
            // What was said of another attempt came in between.
            (true, false, true) => return Ok(()),
            (true, false, false) => {
                let (turn_id, why) = (making.turn_id.clone(), Unsaved::Failed);
                making.result = Some(Input::Unsaved { turn_id, why });
            }
        }
        self.harness.making = Some(making);
        Ok(())
    }

    fn tell_end(&mut self, making: Making, to: usize, answered: bool, late: bool) -> Done {
        let (Some(supervisor), Some(save)) = (&self.harness.supervisor, making.result.clone())
        else {
            return Ok(());
        };
        let from = supervisor.acknowledged;
        let message = Message::Ended {
            epoch: supervisor.epoch,
            from,
            events: supervisor.events[from..to].to_vec(),
            save,
        };
        self.send(message, late)?;
        if late {
            // It was the last thing that this incarnation did; the next one begins anew.
            return self.save(1, true);
        }
        if !answered {
            self.harness.making = Some(making);
            return Ok(());
        }
        if let Some(supervisor) = &mut self.harness.supervisor {
            supervisor.acknowledged = to;
        }
        self.harness.forget(&making.turn_id);
        Ok(())
    }

    fn send(&mut self, message: Message, late: bool) -> Done {
        self.notes.push(format!("{message:?}"));
        if late {
            self.late.push(message);
            return Ok(());
        }
        self.deliver(message)
    }

    pub fn deliver(&mut self, message: Message) -> Done {
        match message {
            Message::Begins(input) => {
                self.take(input)?.map_err(|_| "refused")?;
                Ok(())
            }
            Message::Ended {
                epoch,
                from,
                events,
                save,
            } => self.stored(epoch, from, &events, Some(save)),
        }
    }

    /// The harness's object loses its memory; what it had asked for may still be done.
    pub fn restart(&mut self) {
        if let Some(Making {
            until: Some(until),
            left: keys,
            ..
        }) = self.harness.making.take()
        {
            self.strays.push(Stray { keys, until });
        }
    }

    /// Somebody stores something that nobody waits for, if it is not too late.
    pub fn stray(&mut self, pick: u8) {
        let at = pick as usize % self.strays.len().max(1);
        if let Some(Stray { keys, until }) = self.strays.get_mut(at) {
            let key = keys.pop().filter(|_| self.object.now < *until);
            self.bucket.extend(key);
        }
    }

    /// Until there is nothing left.
    pub fn stray_all(&mut self) {
        for Stray { keys, until } in std::mem::take(&mut self.strays) {
            if self.object.now < until {
                self.bucket.extend(keys);
            }
        }
    }
}

fn file(index: u32) -> SavedArtifact {
    SavedArtifact {
        index,
        path: format!("/workspace/outputs/{index}"),
        bytes: 1,
        sha256: Digest::of(&index.to_be_bytes()),
    }
}
