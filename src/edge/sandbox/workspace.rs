//! The workspace on its way to the store and back, by the image's packer. What runs in the sandbox is root there and may have
//! replaced it: what it says is an exit code, and what it can do is what its grants allow.
use super::object::Sandbox;
use super::record::Live;
use crate::checkpoint::key::{Content, Home};
use crate::checkpoint::{Stream, Terms};
use crate::deployment::LIMITS;
use crate::edge::calls::{Claim, SaveError, SaveWorkspace, SavedWorkspace};
use crate::edge::grants::Publication;
use crate::edge::platform::{now, Container, Exec};
use crate::edge::{log, store};
use std::time::Duration;
use worker::Result;

/// The packer of the image.
const PACKER: &str = "/sbin/cloister-packer";
/// How long it may take to read or write the marker.
const MARKER_DEADLINE: Duration = Duration::from_secs(10);
/// Largest output of it that is waited for, bytes. None of it is read.
const MAX_OUTPUT: usize = 4096;
/// Its exit codes that mean something here; every other but 0 is a failure.
const NOT_THIS_MARKER: i32 = 10;
const TOO_LARGE: i32 = 12;

/// How the packer ended: its exit code, or none if it was killed or could not be started.
pub(super) async fn packer(
    container: &Container,
    arguments: Vec<String>,
    timeout: Duration,
) -> Option<i32> {
    let exec = Exec {
        argv: std::iter::once(PACKER.to_owned())
            .chain(arguments)
            .collect(),
        cwd: "/".to_owned(),
        env: Default::default(),
        stdin: None,
        timeout,
        max_output: MAX_OUTPUT,
    };
    exec.run(container)
        .await
        .ok()
        .and_then(|ended| ended.exit_code)
}

fn arguments<const N: usize>(arguments: [&str; N]) -> Vec<String> {
    arguments.map(str::to_owned).into()
}

fn limits() -> Vec<String> {
    let limit = |name: &str, value: u64| [name.to_owned(), value.to_string()];
    [
        limit("--max-bytes", LIMITS.disk),
        limit("--max-file-bytes", LIMITS.file_size),
        limit("--max-entries", LIMITS.files),
    ]
    .concat()
}

/// What a new container gets.
enum Held {
    /// An empty workspace.
    Nothing,
    /// A stored one.
    Workspace(Home, Stream),
    /// What was committed cannot be had any more.
    Unusable,
}

impl Sandbox {
    /// Whether the container has the marker that it must have.
    pub(super) async fn marker_is(&self, container: &Container, live: &Live) -> Result<bool> {
        let check = arguments(["check", "--expect", &live.marker()]);
        Ok(packer(container, check, MARKER_DEADLINE).await == Some(0))
    }

    /// Gives a new container what it must hold, and then its marker.
    pub(super) async fn fill(
        &self,
        container: &Container,
        claim: &Claim,
        live: &Live,
    ) -> Result<bool> {
        let marker = live.marker();
        let (home, stream) = match self.held(claim).await? {
            Held::Workspace(home, stream) => (home, stream),
            Held::Nothing => {
                let mark = arguments(["mark", "--marker", &marker]);
                return Ok(packer(container, mark, MARKER_DEADLINE).await == Some(0));
            }
            Held::Unusable => return Ok(false),
        };
        let epoch = self.record.borrow().epoch;
        let terms = Terms {
            epoch,
            expires_at: now() + LIMITS.save_deadline.as_millis() as u64,
        };
        let key = home.stream(&stream.checkpoint, Content::Workspace);
        let (grant, task) = self.desk.fetch(terms, key, &stream);
        let mut restore = arguments(["restore", "--grant", &grant, "--marker", &marker]);
        restore.extend(limits());
        let code = packer(container, restore, LIMITS.save_deadline).await;
        self.desk.end(task);
        if code != Some(0) {
            let code = code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
            log::event("workspace_not_restored", &[("code", &code)]);
        }
        Ok(code == Some(0))
    }

    /// The stored workspace that the turn begins with.
    async fn held(&self, claim: &Claim) -> Result<Held> {
        let Some(checkpoint) = &claim.checkpoint else {
            return Ok(Held::Nothing);
        };
        let home = Home::of_object(&claim.session);
        let manifest = store::manifest(&self.env, &home, &claim.session_id, checkpoint).await?;
        Ok(match manifest.map(|manifest| manifest.workspace) {
            Some(Some(stream)) => Held::Workspace(home, stream),
            Some(None) => Held::Nothing,
            None => Held::Unusable,
        })
    }

    /// Stores the workspace, and what the turn has made for the user.
    pub(super) async fn save(
        &self,
        save: SaveWorkspace,
    ) -> Result<std::result::Result<SavedWorkspace, SaveError>> {
        let container = self.container()?;
        let (live, epoch) = {
            let record = self.record.borrow();
            (record.live.clone(), record.epoch)
        };
        let live = live.filter(|live| live.turn_id == save.turn_id && container.running());
        let Some(before) = live else {
            return Ok(Err(SaveError::Lost));
        };
        let mut live = before.clone();
        let terms = Terms {
            epoch,
            expires_at: save.expires_at,
        };
        let home = Home::of_object(&save.session);
        let stream = home.stream(&save.checkpoint, Content::Workspace);
        let (grant, task) = self.desk.store(terms, stream);
        let instance = live.instance.clone();
        live.holds = Some(save.checkpoint.clone());
        let mut pack = arguments([
            "save",
            "--instance",
            &instance,
            "--marker",
            &live.marker(),
            "--grant",
            &grant,
        ]);
        let mut publication = None;
        if let Some(published) = save.published {
            let files = Publication {
                home,
                checkpoint: save.checkpoint,
                published,
            };
            let (grant, announcement) = self.desk.publish(terms, files);
            publication = Some(announcement);
            pack.extend(arguments(["--announce", &grant]));
        }
        for pattern in save.exclude {
            pack.extend(arguments(["--exclude", &pattern]));
        }
        pack.extend(limits());
        let timeout = Duration::from_millis(save.expires_at.saturating_sub(now()));
        let code = packer(&container, pack, timeout).await;
        let stored = self.desk.end(task);
        let published = publication.map(|announcement| self.desk.end_publication(announcement));
        let published = published.unwrap_or_default();
        // Another attempt, or another turn, may have gone on with it meanwhile.
        let same = self.record.borrow().live.as_ref() == Some(&before);
        let error = match code {
            Some(0) if stored.whole && same && self.record.borrow().epoch == epoch => {
                self.update(|record| record.live = Some(live))?;
                return Ok(Ok(SavedWorkspace {
                    parts: stored.parts,
                    artifacts: published.artifacts,
                    dropped: published.dropped,
                }));
            }
            Some(NOT_THIS_MARKER) => SaveError::Lost,
            Some(TOO_LARGE) => SaveError::TooLarge,
            Some(_) | None if !container.running() => SaveError::Lost,
            Some(_) | None => SaveError::Failed,
        };
        let code = code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        log::event("workspace_not_stored", &[("code", &code)]);
        Ok(Err(error))
    }
}
