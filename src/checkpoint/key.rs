//! Keys of stored objects: `<hash of the tenant>/<session>/…`, all of one alphabet. Nothing from a container is in a key.
use super::CheckpointId;
use crate::tenant::TenantHash;

/// Whose objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(String);

/// What a stream of a checkpoint holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The harness's own record of the conversation.
    History,
    /// The workspace.
    Workspace,
}

impl Home {
    /// The session's.
    pub fn of(tenant: &TenantHash, session_id: &str) -> Self {
        Self(format!("{}/", tenant.object_name(session_id)))
    }

    /// Of the object with this name, `<hash of the tenant>/<session>`.
    pub fn of_object(name: &str) -> Self {
        Self(format!("{name}/"))
    }

    /// What all keys begin with.
    pub fn prefix(&self) -> &str {
        &self.0
    }

    /// What everything of a checkpoint begins with, but its artifacts.
    pub fn checkpoint(&self, id: &CheckpointId) -> String {
        format!("{}checkpoints/{}/", self.0, id.as_str())
    }

    /// What a stream of a checkpoint begins with.
    pub fn stream(&self, id: &CheckpointId, content: Content) -> String {
        let name = match content {
            Content::History => "history",
            Content::Workspace => "workspace",
        };
        format!("{}{name}/", self.checkpoint(id))
    }

    /// The manifest.
    pub fn manifest(&self, id: &CheckpointId) -> String {
        format!("{}manifest", self.checkpoint(id))
    }

    /// What all artifacts of a checkpoint begin with.
    pub fn artifacts(&self, id: &CheckpointId) -> String {
        format!("{}artifacts/{}/", self.0, id.as_str())
    }

    /// What an artifact's stream begins with. `index` is its place in the announcement.
    pub fn artifact(&self, id: &CheckpointId, index: u32) -> String {
        format!("{}{index:05}/", self.artifacts(id))
    }
}

/// A part of a stream.
pub fn part(stream: &str, number: usize) -> String {
    format!("{stream}{number:05}")
}
