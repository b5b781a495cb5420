//! Objects that nobody needs: deleted at once, and once more when no more of them can appear.
use super::artifacts;
use super::object::Core;
use super::steps::RETRY_MS;
use super::store as tables;
use crate::checkpoint::Garbage;
use crate::edge::platform::{now, transaction_sync};
use crate::edge::{log, store};
use std::rc::Rc;
use worker::Result;

impl Core {
    /// There is garbage, or may be.
    pub(super) fn note_garbage(&self) {
        self.sweep_at.set(Some(0));
    }

    /// Whether garbage is to be deleted now.
    pub(super) fn is_sweep_due(&self) -> bool {
        self.sweep_at.get().is_some_and(|at| at <= now())
    }

    /// Begins to delete garbage, unless that is under way.
    pub(super) fn sweep(self: &Rc<Self>) {
        if self.sweeping.replace(true) {
            return;
        }
        let core = self.clone();
        self.state.wait_until(async move {
            // What is noted from here on is for the next time.
            core.sweep_at.set(None);
            let next = match core.delete_garbage().await {
                Ok(next) => next,
                Err(_) => {
                    log::event("garbage_not_deleted", &[]);
                    Some(now() + RETRY_MS)
                }
            };
            core.sweeping.set(false);
            core.sweep_at
                .set(core.sweep_at.get().into_iter().chain(next).min());
            if core.settle_garbage().await.is_err() {
                core.sweep_at.set(Some(now() + RETRY_MS));
            }
        });
    }

    /// Deletes what is garbage. Gives when it is to be done again, Unix milliseconds.
    async fn delete_garbage(&self) -> Result<Option<u64>> {
        let storage = self.state.storage();
        let mut again = None;
        for garbage in artifacts::garbage(&storage)? {
            // What appears after this is deleted the next time.
            let last = garbage.until <= now();
            store::delete_all(&self.env, &garbage.prefix).await?;
            if last {
                artifacts::thrown_away(&storage, &garbage.prefix)?;
            } else {
                again = again.into_iter().chain([garbage.until]).min();
            }
        }
        Ok(again)
    }

    /// After a sweep: a deleted session of which nothing is left anywhere leaves nothing here.
    async fn settle_garbage(self: &Rc<Self>) -> Result<()> {
        if self.with(|_| ()).is_some() {
            self.follow_up();
            return Ok(());
        }
        match self.sweep_at.get() {
            Some(at) => self.arm(at.saturating_sub(now()).max(1)).await,
            None => {
                self.state.storage().delete_alarm().await?;
                self.state.storage().delete_all().await
            }
        }
    }

    /// Forgets the session but for its garbage, which is all that it has stored.
    pub(super) fn forget(&self) -> Result<()> {
        let Some(home) = self.with(|session| session.home()) else {
            return Ok(());
        };
        let storage = self.state.storage();
        transaction_sync(&storage, || {
            let earlier = artifacts::garbage(&storage)?;
            let until = earlier.iter().map(|garbage| garbage.until).max();
            let all = Garbage {
                prefix: home.prefix().to_owned(),
                until: until.unwrap_or_default(),
            };
            tables::clear(&storage)?;
            artifacts::throw_away(&storage, &[all])
        })?;
        self.session.replace(None);
        self.pending.set(false);
        self.note_garbage();
        Ok(())
    }
}
