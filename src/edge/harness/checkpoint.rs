//! The checkpoint of a turn that has ended: made here, before SessionDO hears of the end, and committed there with it.
use super::link::{Incoming, Link};
use super::object::Harness;
use super::record::{Prepared, EXCLUDE, PREPARED};
use crate::checkpoint::key::{Content, Home};
use crate::checkpoint::{CheckpointId, Digest, Manifest, Saved, Stream, Terms, Unsaved};
use crate::edge::calls::{
    self, CallResult, Notice, SandboxCall, SaveError, SaveWorkspace, SavedWorkspace, SessionCall,
};
use crate::edge::container::within;
use crate::edge::platform::{now, random};
use crate::edge::{log, record, store};
use cloister_protocol::{Command, Event, FromSupervisor, Outcome};
use futures_channel::oneshot;
use futures_util::future::{select, Either};
use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;
use worker::Result;

/// How often a checkpoint is tried that fails for a reason that may pass.
const TRIES: usize = 2;
/// Grants expire so long before objects may no longer appear: clocks differ, and an answer takes its time.
const MARGIN_MS: u64 = 5_000;
/// Bytes of frames that may wait for a checkpoint. The supervisor has those that do not.
const MAX_WAITING_BYTES: usize = 4 << 20;

/// The end of the running turn, as the supervisor tells it.
pub(super) struct Ending {
    turn_id: String,
    outcome: Outcome,
    /// Number of the event that says so.
    seq: u64,
    /// The frame with it, and those behind it.
    frames: String,
}

impl Harness {
    /// Splits frames before the one that ends the running turn, if one does.
    pub(super) fn ending(&self, frames: &str) -> Option<(String, Ending)> {
        // Most frames are not looked into here.
        if !frames.contains("turn_ended") {
            return None;
        }
        let running = self.record.borrow().turn.as_ref()?.turn_id.clone();
        let mut at = 0;
        for frame in frames.split_inclusive('\n') {
            if let Ok(FromSupervisor::Event {
                seq,
                event: Event::TurnEnded { turn_id, outcome },
            }) = serde_json::from_str(frame)
            {
                if turn_id == running {
                    let (before, rest) = frames.split_at(at);
                    let ending = Ending {
                        turn_id,
                        outcome,
                        seq,
                        frames: rest.to_owned(),
                    };
                    return Some((before.to_owned(), ending));
                }
            }
            at += frame.len();
        }
        None
    }

    /// Makes the checkpoint of a turn. Gives what SessionDO is told, which is stored here first; `None` if the link or
    /// the way to SessionDO has ended, and all of it will be said again.
    pub(super) async fn save(
        &self,
        link: &Link,
        epoch: u64,
        mut ending: Ending,
    ) -> Result<Option<(Notice, String)>> {
        let storage = self.state.storage();
        let turn_id = ending.turn_id.clone();
        if let Some(prepared) = record::load::<Prepared>(&storage, PREPARED)? {
            if prepared.turn_id == turn_id && prepared.epoch == epoch {
                return Ok(Some((prepared.notice, ending.frames)));
            }
        }
        let interrupted = self.is_interrupted();
        if interrupted {
            self.quiet().await;
        }
        let mut result = Err(Unsaved::Failed);
        for _ in 0..TRIES {
            let checkpoint = CheckpointId::new(random());
            let saving = Notice::Saving {
                turn_id: turn_id.clone(),
                checkpoint: checkpoint.clone(),
            };
            link.report(Some(&saving), "")?;
            let until = match link.reported().await {
                Some(Ok(reported)) => reported.saving,
                Some(Err(_)) | None => return Ok(None),
            };
            let Some(until) = until else {
                // The turn is over for SessionDO, or this was tried too often.
                break;
            };
            let expires_at = until.saturating_sub(MARGIN_MS);
            let attempt = Attempt {
                checkpoint,
                terms: Terms { epoch, expires_at },
            };
            match self.attempt(link, &attempt, &mut ending).await? {
                Some(made) => result = made,
                None => return Ok(None),
            }
            if result != Err(Unsaved::Failed) {
                break;
            }
        }
        let notice = match result {
            Ok(saved) => {
                self.update(|record| record.holds = Some(saved.id.clone()))?;
                Notice::Saved {
                    turn_id: turn_id.clone(),
                    saved: Box::new(saved),
                }
            }
            Err(why) => {
                log::event("checkpoint_failed", &[("turn", &turn_id)]);
                Notice::Unsaved {
                    turn_id: turn_id.clone(),
                    why,
                }
            }
        };
        if !interrupted && self.is_interrupted() {
            self.quiet().await;
        }
        // As short as it can be said: the supervisor's own may fill a row.
        let frame = serde_json::to_string(&FromSupervisor::Event {
            seq: ending.seq,
            event: Event::TurnEnded {
                turn_id: turn_id.clone(),
                outcome: ending.outcome,
            },
        })?;
        let prepared = Prepared {
            turn_id,
            epoch,
            notice,
            frame,
        };
        record::save(&storage, PREPARED, &prepared)?;
        Ok(Some((prepared.notice, ending.frames)))
    }

    fn is_interrupted(&self) -> bool {
        let record = self.record.borrow();
        record.turn.as_ref().is_some_and(|turn| turn.interrupt)
    }

    /// One try. What comes over the link meanwhile waits behind the end of the turn. `None` if the link has ended.
    async fn attempt(
        &self,
        link: &Link,
        attempt: &Attempt,
        ending: &mut Ending,
    ) -> Result<Option<std::result::Result<Saved, Unsaved>>> {
        let (told, history) = oneshot::channel();
        let mut told = Some(told);
        let home = self.home()?;
        let stream = home.stream(&attempt.checkpoint, Content::History);
        let (asked, task) = self.desk.store(attempt.terms, stream);
        link.send(&Command::SaveHistory {
            grant: asked.clone(),
        })?;
        let may_publish = ending.outcome == Outcome::Completed;
        let made = {
            let both = async {
                let history = within(attempt.left(), history);
                let workspace = self.save_workspace(attempt, &ending.turn_id, may_publish);
                futures_util::join!(history, workspace)
            };
            let mut both = pin!(both);
            loop {
                match select(both.as_mut(), pin!(link.next())).await {
                    Either::Left((made, _)) => break Some(made),
                    Either::Right((Incoming::HistorySaved { grant, success }, _)) => {
                        if let Some(told) = told.take_if(|_| grant == asked) {
                            let _ = told.send(success);
                        }
                    }
                    Either::Right((Incoming::Frames(frames), _))
                        if ending.frames.len() + frames.len() <= MAX_WAITING_BYTES =>
                    {
                        ending.frames.push_str(&frames)
                    }
                    Either::Right((Incoming::Pong, _)) => {}
                    Either::Right((Incoming::Frames(_) | Incoming::Closed, _)) => break None,
                }
            }
        };
        let stored = self.desk.end(task);
        let Some((history, workspace)) = made else {
            return Ok(None);
        };
        if !matches!(history, Some(Ok(true))) || !stored.whole {
            return Ok(Some(Err(Unsaved::Failed)));
        }
        let history = Stream {
            checkpoint: attempt.checkpoint.clone(),
            parts: stored.parts,
        };
        let workspace = match workspace? {
            Ok(workspace) => workspace,
            Err(why) => return Ok(Some(Err(why))),
        };
        let made = self.finish(&home, attempt, history, workspace).await;
        Ok(Some(made.map_err(|_| Unsaved::Failed)))
    }

    /// Writes the manifest, the last of a checkpoint's objects.
    async fn finish(
        &self,
        home: &Home,
        attempt: &Attempt,
        history: Stream,
        workspace: Workspace,
    ) -> Result<Saved> {
        let (thread, owner) = {
            let record = self.record.borrow();
            (
                record.thread.clone(),
                record.owner.clone().ok_or("no owner")?,
            )
        };
        let (stream, saved, sandbox_lost) = match workspace {
            Workspace::None => (None, SavedWorkspace::default(), false),
            Workspace::Lost(earlier) => (earlier, SavedWorkspace::default(), true),
            Workspace::Saved(mut saved) => {
                let stream = Stream {
                    checkpoint: attempt.checkpoint.clone(),
                    parts: std::mem::take(&mut saved.parts),
                };
                (Some(stream), saved, false)
            }
        };
        let manifest = Manifest::new(
            owner.session_id,
            attempt.checkpoint.clone(),
            thread,
            history,
            stream,
            saved.artifacts,
        );
        let digest = store::write_manifest(&self.env, home, &attempt.checkpoint, &manifest).await?;
        Ok(Saved {
            id: attempt.checkpoint.clone(),
            manifest: digest,
            workspace: manifest.workspace.map(|stream| stream.checkpoint),
            artifacts: manifest.artifacts,
            dropped: saved.dropped,
            sandbox_lost,
        })
    }

    /// Has the sandbox store its workspace. One that is gone leaves what was committed last.
    async fn save_workspace(
        &self,
        attempt: &Attempt,
        turn_id: &str,
        may_publish: bool,
    ) -> Result<std::result::Result<Workspace, Unsaved>> {
        let Some(sandbox) = self.sandbox()? else {
            return Ok(Ok(Workspace::None));
        };
        let published = match may_publish {
            true => {
                let published: CallResult<HashMap<String, Digest>> =
                    calls::call(&self.session()?, &SessionCall::Published).await;
                match published {
                    Ok(published) => Some(published),
                    Err(_) => return Ok(Err(Unsaved::Failed)),
                }
            }
            false => None,
        };
        let owner = self.record.borrow().owner.clone().ok_or("no owner")?;
        let exclude = record::load(&self.state.storage(), EXCLUDE)?;
        let save = SaveWorkspace {
            turn_id: turn_id.to_owned(),
            session: owner.session,
            checkpoint: attempt.checkpoint.clone(),
            exclude: exclude.unwrap_or_default(),
            published,
            expires_at: attempt.terms.expires_at,
        };
        let saved: std::result::Result<SavedWorkspace, SaveError> =
            calls::call(&sandbox, &SandboxCall::Save(Box::new(save))).await;
        match saved {
            Ok(saved) => Ok(Ok(Workspace::Saved(saved))),
            Err(SaveError::Lost) => Ok(self
                .committed_workspace()
                .await
                .map(Workspace::Lost)
                .map_err(|_| Unsaved::Failed)),
            Err(SaveError::TooLarge) => Ok(Err(Unsaved::TooLarge)),
            Err(SaveError::Failed | SaveError::Call(_)) => Ok(Err(Unsaved::Failed)),
        }
    }

    /// The workspace that the turn began with.
    async fn committed_workspace(&self) -> Result<Option<Stream>> {
        let (owner, turn) = {
            let record = self.record.borrow();
            (record.owner.clone(), record.turn.clone())
        };
        let owner = owner.ok_or("no owner")?;
        match turn.and_then(|turn| turn.checkpoint) {
            Some(checkpoint) => {
                let home = self.home()?;
                let id = &owner.session_id;
                let manifest = store::manifest(&self.env, &home, id, &checkpoint).await?;
                Ok(manifest.ok_or("the manifest is gone")?.workspace)
            }
            None => Ok(None),
        }
    }

    fn home(&self) -> Result<Home> {
        let record = self.record.borrow();
        let owner = record.owner.as_ref().ok_or("no owner")?;
        Ok(Home::of_object(&owner.session))
    }

    /// Tells the prepared end of a turn whose harness is gone. Returns whether there was one, and SessionDO knows it now.
    pub(super) async fn deliver(&self, turn_id: &str) -> Result<bool> {
        let prepared = record::load::<Prepared>(&self.state.storage(), PREPARED)?;
        let Some(prepared) = prepared.filter(|prepared| prepared.turn_id == turn_id) else {
            return Ok(false);
        };
        let Some(reports) = self.open_reports(prepared.epoch).await? else {
            return Ok(false);
        };
        if reports.running == turn_id {
            reports.send(Some(&prepared.notice), &prepared.frame)?;
            if !matches!(reports.answer().await, Some(Ok(_))) {
                return Ok(false);
            }
        }
        if self.record.borrow_mut().turn_named(turn_id).is_some() {
            self.forget_turn(true)?;
        }
        Ok(true)
    }
}

/// A checkpoint that is being made.
struct Attempt {
    checkpoint: CheckpointId,
    terms: Terms,
}

impl Attempt {
    fn left(&self) -> Duration {
        Duration::from_millis(self.terms.expires_at.saturating_sub(now()))
    }
}

/// What there is to say of the workspace.
enum Workspace {
    /// The session has no sandbox.
    None,
    /// It is stored.
    Saved(SavedWorkspace),
    /// The sandbox is gone; what was committed last, if anything was.
    Lost(Option<Stream>),
}
