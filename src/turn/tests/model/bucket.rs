//! Stored objects: what is needed stays, and what is not goes.
use super::world::{Done, World};
use crate::checkpoint::key::{part, Content};

impl World {
    /// Garbage is deleted, and remembered while more of it may appear.
    pub fn sweep(&mut self) {
        let rows = &mut self.object.store.garbage;
        for row in rows.iter() {
            self.bucket.retain(|key| !key.starts_with(&row.prefix));
        }
        let now = self.object.now;
        rows.retain(|row| now < row.until);
    }

    /// What the committed checkpoint and published artifacts need.
    fn needed(&self) -> Vec<String> {
        let published = self.object.store.artifacts.iter();
        let mut keys: Vec<String> = published
            .map(|write| part(&self.home.artifact(&write.checkpoint, write.index), 0))
            .collect();
        if let Some(checkpoint) = self.object.session.checkpoint() {
            keys.push(self.home.manifest(&checkpoint.id));
            let history = self.home.stream(&checkpoint.id, Content::History);
            keys.push(part(&history, 0));
            if let Some(workspace) = &checkpoint.workspace {
                keys.push(part(&self.home.stream(workspace, Content::Workspace), 0));
            }
        }
        keys
    }

    pub fn check_bucket(&self) -> Done {
        let garbage = &self.object.store.garbage;
        let thrown_away = |key: &str| garbage.iter().any(|row| key.starts_with(&row.prefix));
        let needed = self.needed();
        for key in &needed {
            if !self.bucket.contains(key) || thrown_away(key) {
                return Err(format!("{key} is needed, and gone"));
            }
        }
        let attempt = self.object.session.attempt();
        let making = attempt.map(|id| [self.home.checkpoint(id), self.home.artifacts(id)]);
        let made = |key: &str| making.iter().flatten().any(|begin| key.starts_with(begin));
        let known = |key: &String| needed.contains(key) || thrown_away(key) || made(key);
        match self.bucket.iter().find(|key| !known(key)) {
            Some(key) => Err(format!("nobody knows of {key}")),
            None => Ok(()),
        }
    }

    /// When nothing is under way any more, all that is stored is needed.
    pub fn check_swept(&mut self) -> Done {
        self.stray_all();
        self.check_bucket()?;
        let untils = self.object.store.garbage.iter().map(|row| row.until);
        self.object.now = untils.fold(self.object.now, u64::max);
        self.sweep();
        let needed = self.needed();
        match self.bucket.iter().find(|key| !needed.contains(key)) {
            Some(key) => Err(format!("{key} is left")),
            None => self.check_bucket(),
        }
    }
}
