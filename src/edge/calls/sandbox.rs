use super::{CallError, EgressCall, GrantCall, NetworkCall};
use crate::checkpoint::{Checkpoint, CheckpointId, Digest, Part, SavedArtifact};
use crate::edge::platform::Killed;
use crate::environment::Configuration;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// What is asked of a SandboxDO. Files travel as bodies: see `SandboxDO`.
#[derive(Serialize, Deserialize)]
pub enum SandboxCall {
    /// Says how its sandboxes are made: `()`. Once, before the first; again is refused.
    Configure(Box<Configuration>),
    /// Ends it, and forgets all that is stored of it: `()`. Succeeds when there is nothing.
    Forget,
    /// About its network, for the Gateway.
    Network(NetworkCall),
    /// About its network, for SandboxEgress.
    Egress(EgressCall),
    /// Makes it ready for a turn: [`SandboxState`]. One that certainly holds the checkpoint is used again; any other is
    /// destroyed, and a new one gets the checkpoint.
    Create(Claim),
    /// Stores the workspace as a part of a checkpoint: [`SavedWorkspace`], or a [`SaveError`].
    Save(Box<SaveWorkspace>),
    /// The container spends a grant.
    Grant(GrantCall),
    /// Moves the expiry: [`SandboxState`].
    Renew {
        /// The new expiry, Unix milliseconds.
        expires_at: u64,
    },
    /// Runs a process to its end: [`ExecResult`].
    Exec(ExecRequest),
    /// Entries of a folder below the workspace: `Vec<FileEntry>`.
    List {
        /// Absolute path.
        path: String,
    },
    /// Kills everything in it but its own programs: `()`. Succeeds when there is none.
    Quiet,
    /// Destroys it: `()`. Succeeds when there is none.
    Stop,
    /// What this kind of sandbox can do: [`Capabilities`].
    Capabilities,
}

/// A turn's claim of a sandbox.
#[derive(Serialize, Deserialize)]
pub struct Claim {
    /// Destroyed at this time, Unix milliseconds, unless renewed.
    pub expires_at: u64,
    /// The turn. The same turn again changes nothing.
    pub turn_id: String,
    /// Name of the session's object, under which its objects are stored.
    pub session: String,
    /// Public id of the session.
    pub session_id: String,
    /// What the workspace must hold; none if nothing was ever committed.
    pub checkpoint: Option<Checkpoint>,
}

/// A workspace to be stored.
#[derive(Serialize, Deserialize)]
pub struct SaveWorkspace {
    /// The turn that claimed the sandbox.
    pub turn_id: String,
    /// Name of the session's object, under which its objects are stored.
    pub session: String,
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// What is not kept: patterns.
    pub exclude: Vec<String>,
    /// What was published last under each path, by its name, if files may be published.
    pub published: Option<HashMap<String, Digest>>,
    /// When it must be done, Unix milliseconds.
    pub expires_at: u64,
}

/// A stored workspace.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SavedWorkspace {
    /// Its archive.
    pub parts: Vec<Part>,
    /// Files that are whole in the store.
    pub artifacts: Vec<SavedArtifact>,
    /// Places in the announcement of those that are not.
    pub dropped: Vec<u32>,
}

/// Why a workspace was not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SaveError {
    /// The call failed.
    Call(CallError),
    /// The sandbox that the turn had is gone.
    Lost,
    /// It is larger than may be stored.
    TooLarge,
    /// It could not be read or stored.
    Failed,
}

impl From<CallError> for SaveError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

/// A live sandbox.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SandboxState {
    /// Epoch of its container; rises when it is replaced.
    pub epoch: u64,
    /// Whether it was made for the turn that asked, by this call or by an earlier one whose answer was lost.
    pub started: bool,
    /// When it will be destroyed, Unix milliseconds.
    pub expires_at: u64,
}

/// A process to run.
#[derive(Serialize, Deserialize)]
pub struct ExecRequest {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Folder to start in; the workspace if none.
    pub cwd: Option<String>,
    /// Variables to add.
    pub env: BTreeMap<String, String>,
    /// Killed after this time, milliseconds; bounded by [`Capabilities::max_exec_ms`].
    pub timeout_ms: u64,
    /// Killed when it printed more bytes; bounded by [`Capabilities::max_output_bytes`].
    pub max_output_bytes: usize,
}

/// How a process ended.
#[derive(Serialize, Deserialize)]
pub struct ExecResult {
    /// Standard output and error, each in its order, base64.
    pub output: String,
    /// Exit code; none if it was killed.
    pub exit_code: Option<i32>,
    /// Why it was killed.
    pub killed: Option<Killed>,
}

/// One entry of a folder.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Name in the folder.
    pub name: String,
    /// `f` file, `d` folder, `l` symbolic link, as `find` names them.
    pub kind: char,
    /// Size in bytes.
    pub size: u64,
}

/// What a sandbox can do, and its bounds.
#[derive(Serialize, Deserialize)]
pub struct Capabilities {
    /// Folder where commands start.
    pub workspace: String,
    /// Longest run of one exec, milliseconds.
    pub max_exec_ms: u64,
    /// Largest output of one exec, bytes.
    pub max_output_bytes: usize,
    /// Largest file written or read, bytes.
    pub max_file_bytes: u64,
    /// Most processes at once.
    pub max_processes: u32,
    /// Most bytes in the workspace and temporary files.
    pub max_disk_bytes: u64,
}
