//! What is true of a step that concerns checkpoints.
use super::session::Object;
use crate::turn::{Effect, Step};

impl Object {
    /// A turn that is completed has committed a checkpoint of its own, and only the end of a turn commits one.
    pub fn check_commit(&mut self, step: &Step, ended: &[(String, String)]) -> Result<(), String> {
        let checkpoint = self.session.checkpoint().cloned();
        let before = std::mem::replace(&mut self.committed, checkpoint.clone());
        let commit = checkpoint.clone().filter(|_| checkpoint != before);
        let ends = |how: &str| ended.iter().any(|(_, end)| end == how);
        if ends("completed") {
            let commit = commit.as_ref();
            let commit = commit.ok_or("a turn is completed without a checkpoint")?;
            if commit.workspace.as_ref() != Some(&commit.id) {
                return Err("a turn is completed without what it changed".to_owned());
            }
        } else if !step.artifacts.is_empty() {
            return Err("a turn that is not completed publishes".to_owned());
        }
        if let Some(commit) = &commit {
            let next = 1 + before.as_ref().map_or(0, |before| before.generation);
            if commit.generation != next || ended.len() != 1 {
                return Err(format!("{commit:?} follows {before:?}"));
            }
        }
        let mut told = step.effects.iter();
        // A cancel still ends what the turn has left running.
        let told = told.any(|effect| matches!(effect, Effect::Steer { .. }));
        if told && self.session.attempt().is_some() {
            return Err("a harness that has finished is told something".to_owned());
        }
        let commits = commit.is_some();
        let elsewhere = commit.is_some_and(|commit| commit.workspace != Some(commit.id));
        let reached = [
            ("commit: completed", commits && ends("completed")),
            ("commit: failed", commits && ends("failed")),
            ("commit: cancelled", commits && ends("cancelled")),
            ("commit: workspace lives elsewhere", elsewhere),
            ("commit: artifacts", !step.artifacts.is_empty()),
            (
                "attempt: given up, the turn goes on",
                ended.is_empty() && !step.garbage.is_empty(),
            ),
            (
                "attempt: given up with the turn",
                !commits && !ended.is_empty() && !step.garbage.is_empty(),
            ),
        ];
        for (what, _) in reached.into_iter().filter(|(_, reached)| *reached) {
            *self.order.seen.entry(what.to_owned()).or_default() += 1;
        }
        Ok(())
    }
}
