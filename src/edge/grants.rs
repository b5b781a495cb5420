//! The grants of an object that owns a container, and what is asked about them.
use super::calls::{self, GrantCall, GrantRefusal};
use super::platform::{now, random};
use crate::checkpoint::key::Home;
use crate::checkpoint::{
    wanted, Allowed, Ask, CheckpointId, Digest, Grants, Length, SavedArtifact, Stored, Stream,
    Task, Terms,
};
use crate::tenant::hex;
use cloister_protocol::backup::{Announcement, Wanted, WantedFile};
use std::cell::RefCell;
use std::collections::HashMap;
use worker::{Response, Result};

/// Grants that live in an object's memory: one that restarts has granted nothing.
#[derive(Default)]
pub struct Desk {
    grants: RefCell<Grants>,
    publishing: RefCell<Vec<Publishing>>,
}

/// Files that a turn may publish.
pub struct Publication {
    /// Where they are stored.
    pub home: Home,
    /// The checkpoint that they belong to.
    pub checkpoint: CheckpointId,
    /// What was published last under each path, by its name.
    pub published: HashMap<String, Digest>,
}

struct Publishing {
    publication: Publication,
    terms: Terms,
    /// The grant that the announcement spends.
    grant: String,
    announcement: Task,
    files: Vec<(SavedArtifact, Task)>,
}

/// What has become of a publication.
#[derive(Default)]
pub struct Published {
    /// Files that are whole in the store.
    pub artifacts: Vec<SavedArtifact>,
    /// Places in the announcement of those that are not.
    pub dropped: Vec<u32>,
}

impl Desk {
    /// Lets a container store a stream. Gives the grant for its first part.
    pub fn store(&self, terms: Terms, stream: String) -> (String, Task) {
        let grant = name();
        let mut grants = self.grants.borrow_mut();
        let task = grants.store(grant.clone(), terms, stream, Length::Open);
        (grant, task)
    }

    /// Lets a container fetch a stream. Gives the grant for its first part.
    pub fn fetch(&self, terms: Terms, stream: String, held: &Stream) -> (String, Task) {
        let grant = name();
        let mut grants = self.grants.borrow_mut();
        let task = grants.fetch(grant.clone(), terms, stream, held);
        (grant, task)
    }

    /// Lets a container announce files, once.
    pub fn publish(&self, terms: Terms, publication: Publication) -> (String, Task) {
        let grant = name();
        let announcement = self.grants.borrow_mut().announce(grant.clone(), terms);
        self.publishing.borrow_mut().push(Publishing {
            publication,
            terms,
            grant: grant.clone(),
            announcement,
            files: Vec::new(),
        });
        (grant, announcement)
    }

    /// Revokes the grants of a task.
    pub fn end(&self, task: Task) -> Stored {
        self.grants.borrow_mut().end(task)
    }

    /// Revokes the grants of a publication, by the task of its announcement.
    pub fn end_publication(&self, announcement: Task) -> Published {
        let mut ended = Published::default();
        let mut grants = self.grants.borrow_mut();
        let mut all = self.publishing.borrow_mut();
        let found = all
            .iter()
            .position(|each| each.announcement == announcement);
        if let Some(publishing) = found.map(|index| all.swap_remove(index)) {
            grants.end(publishing.announcement);
            for (file, task) in publishing.files {
                match grants.end(task).whole {
                    true => ended.artifacts.push(file),
                    false => ended.dropped.push(file.index),
                }
            }
        }
        ended
    }

    /// Answers BackupGateway.
    pub fn answer(&self, call: GrantCall) -> Result<Response> {
        match call {
            GrantCall::Take(ask) => calls::answer_with(self.take(&ask)),
            GrantCall::Stored { grant } => {
                let next = self.grants.borrow_mut().stored(&grant, name(), now());
                calls::answer_with(next.map_err(GrantRefusal::from))
            }
            GrantCall::Announce { ask, announcement } => {
                calls::answer_with(self.announce(&ask, announcement))
            }
        }
    }

    fn take(&self, ask: &Ask) -> std::result::Result<Allowed, GrantRefusal> {
        Ok(self.grants.borrow_mut().take(ask, name(), now())?)
    }

    fn announce(
        &self,
        ask: &Ask,
        announcement: Announcement,
    ) -> std::result::Result<Wanted, GrantRefusal> {
        self.take(ask)?;
        let mut all = self.publishing.borrow_mut();
        // Spent, so it is one of ours.
        let Some(publishing) = all.iter_mut().find(|each| each.grant == ask.grant) else {
            return Err(GrantRefusal::Announcement);
        };
        let Publication {
            home,
            checkpoint,
            published,
        } = &publishing.publication;
        let files = wanted(announcement, published).map_err(|_| GrantRefusal::Announcement)?;
        let mut grants = self.grants.borrow_mut();
        let mut answer = Wanted { files: Vec::new() };
        for file in files {
            let grant = name();
            let stream = home.artifact(checkpoint, file.index);
            let length = Length::Exactly(file.bytes);
            let task = grants.store(grant.clone(), publishing.terms, stream, length);
            answer.files.push(WantedFile {
                index: file.index,
                grant,
            });
            publishing.files.push((file, task));
        }
        Ok(answer)
    }
}

/// A fresh name of a grant.
fn name() -> String {
    hex(&random::<16>())
}
