//! How a turn's checkpoint comes to be: announced before anything of it is stored, committed with the turn's end.
//!
//! The harness's object says all of it, and no frame can. When the harness has finished the turn, it holds that frame back and
//! announces an attempt. It begins another if it was restarted meanwhile: then the first is given up, and never comes back. What
//! became of an attempt, it says in the same step as the end of the turn and before it; said alone, it counts for nothing.
use super::state::Session;
use super::step::{ArtifactWrite, Seeds, Step};
use crate::checkpoint::key::{Content, Home};
use crate::checkpoint::{Checkpoint, CheckpointId, Garbage, Saved, SavedArtifact, Unsaved};
use crate::wire::artifact::{Artifact, ArtifactObject};
use crate::wire::id::Kind;
use crate::wire::turn::{Turn, TurnErrorCode, TurnStatus};
use cloister_protocol::backup::MAX_ANNOUNCED_FILES;
use cloister_protocol::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most attempts at the checkpoint of one turn.
pub(super) const MAX_ATTEMPTS: usize = 8;

/// What became of an attempt.
pub(super) type Save = Result<Box<Saved>, Unsaved>;

/// The checkpoint of the running turn that is being made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Attempt {
    pub id: CheckpointId,
    /// When the turn ends without a checkpoint, Unix milliseconds. Nothing is stored after it. It holds for all attempts of a
    /// turn.
    pub until: u64,
    /// Earlier attempts of the turn.
    given_up: Vec<CheckpointId>,
}

impl Session {
    /// An attempt begins.
    pub(super) fn saving(
        &mut self,
        turn_id: &str,
        id: CheckpointId,
        seeds: &Seeds<'_>,
        step: &mut Step,
    ) {
        let home = self.home();
        let committed = self.checkpoint().is_some_and(|old| old.id == id);
        let Some(running) = &mut self.core.running else {
            return;
        };
        if running.turn.id != turn_id || committed {
            return;
        }
        match &mut running.saving {
            None => {
                running.saving = Some(Attempt {
                    id,
                    until: seeds.now + seeds.save_deadline,
                    given_up: vec![],
                });
            }
            // Said again, maybe late.
            Some(attempt) if attempt.id == id || attempt.given_up.contains(&id) => {}
            // Something goes wrong each time: it is not stored.
            Some(attempt) if attempt.given_up.len() + 1 >= MAX_ATTEMPTS => {}
            Some(attempt) => {
                let older = std::mem::replace(&mut attempt.id, id);
                give_up(&home, &older, attempt.until, step);
                attempt.given_up.push(older);
                step.save = None;
            }
        }
    }

    /// The attempt is whole in the store.
    pub(super) fn saved(&self, turn_id: &str, saved: Box<Saved>, step: &mut Step) {
        let current = self.attempt() == Some(&saved.id);
        if self.runs(turn_id) && current && self.is_sound(&saved) {
            step.save = Some(Ok(saved));
        }
    }

    /// There is no checkpoint of the turn.
    pub(super) fn unsaved(&self, turn_id: &str, why: Unsaved, step: &mut Step) {
        if self.runs(turn_id) {
            step.save = Some(Err(why));
        }
    }

    /// Whether all that it refers to is stored, each thing once.
    fn is_sound(&self, saved: &Saved) -> bool {
        let listed = saved.artifacts.iter().map(|artifact| artifact.index);
        let places: BTreeSet<u32> = listed.chain(saved.dropped.iter().copied()).collect();
        let files = saved.artifacts.len() + saved.dropped.len();
        let earlier = self.checkpoint().and_then(|old| old.workspace.as_ref());
        let stored = |workspace| workspace == &saved.id || Some(workspace) == earlier;
        files == places.len()
            && files <= MAX_ANNOUNCED_FILES
            && saved.workspace.as_ref().is_none_or(stored)
    }

    /// The turn that had the attempt has ended: it is committed, or garbage.
    pub(super) fn settle_attempt(
        &mut self,
        attempt: Option<Attempt>,
        saved: Option<Box<Saved>>,
        turn: &Turn,
        seeds: &mut Seeds<'_>,
        step: &mut Step,
    ) {
        step.save = None;
        let Some(Attempt { id, until, .. }) = attempt else {
            return;
        };
        let home = self.home();
        let Some(saved) = saved else {
            return give_up(&home, &id, until, step);
        };
        let Saved {
            manifest,
            workspace,
            artifacts,
            dropped,
            sandbox_lost,
            ..
        } = *saved;
        if sandbox_lost && workspace.as_ref() != Some(&id) {
            // As much as was stored before it was lost.
            throw_away(home.stream(&id, Content::Workspace), until, step);
        }
        let old = self.core.checkpoint.take();
        let generation = 1 + old.as_ref().map_or(0, |old| old.generation);
        if let Some(old) = old {
            // Nobody stores anything of it any more.
            replace(&home, &old, workspace.as_ref(), seeds.now, step);
        }
        self.core.checkpoint = Some(Checkpoint {
            generation,
            id: id.clone(),
            manifest,
            workspace,
        });
        match (&self.identity.environment_id, turn.status) {
            (Some(environment_id), TurnStatus::Completed) => {
                for SavedArtifact {
                    index,
                    path,
                    bytes,
                    sha256,
                } in artifacts
                {
                    let artifact = Artifact {
                        id: seeds.id(Kind::Artifact),
                        object: ArtifactObject::Artifact,
                        session_id: self.public.id.clone(),
                        turn_id: turn.id.clone(),
                        environment_id: environment_id.clone(),
                        path,
                        size_bytes: bytes,
                        created_at: seeds.seconds(),
                    };
                    step.artifacts.push(ArtifactWrite {
                        artifact,
                        checkpoint: id.clone(),
                        index,
                        sha256,
                    });
                }
                for index in dropped {
                    throw_away(home.artifact(&id, index), until, step);
                }
            }
            // Also what nobody told of: a sandbox that was lost may have stored some.
            (environment, _) => {
                if environment.is_some() || !artifacts.is_empty() || !dropped.is_empty() {
                    throw_away(home.artifacts(&id), until, step);
                }
            }
        }
    }

    /// Where its objects are stored.
    pub fn home(&self) -> Home {
        Home::of(&self.identity.tenant, &self.public.id)
    }
}

/// How a turn that the harness has finished ends: `completed` never comes before its checkpoint.
pub(super) fn judge(
    result: Result<Outcome, TurnErrorCode>,
    save: Option<&Save>,
) -> Result<Outcome, TurnErrorCode> {
    let fault = match save {
        Some(Ok(saved)) => saved.sandbox_lost.then_some(TurnErrorCode::SandboxError),
        Some(Err(Unsaved::TooLarge | Unsaved::Failed)) => Some(TurnErrorCode::SandboxError),
        None => Some(TurnErrorCode::InternalError),
    };
    match (result, fault) {
        (Ok(Outcome::Completed), Some(code)) => Err(code),
        (result, _) => result,
    }
}

/// A committed checkpoint is followed by one that has its workspace in `workspace`.
fn replace(
    home: &Home,
    old: &Checkpoint,
    workspace: Option<&CheckpointId>,
    now: u64,
    step: &mut Step,
) {
    if workspace == Some(&old.id) {
        throw_away(home.manifest(&old.id), now, step);
        throw_away(home.stream(&old.id, Content::History), now, step);
    } else {
        throw_away(home.checkpoint(&old.id), now, step);
    }
    let elsewhere = old.workspace.as_ref().filter(|lives| **lives != old.id);
    if let Some(lived) = elsewhere.filter(|lived| workspace != Some(*lived)) {
        throw_away(home.stream(lived, Content::Workspace), now, step);
    }
}

fn give_up(home: &Home, id: &CheckpointId, until: u64, step: &mut Step) {
    throw_away(home.checkpoint(id), until, step);
    throw_away(home.artifacts(id), until, step);
}

fn throw_away(prefix: String, until: u64, step: &mut Step) {
    step.garbage.push(Garbage { prefix, until });
}
