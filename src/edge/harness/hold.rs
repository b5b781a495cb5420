//! Test builds only: a place where the end of a turn stands still, so that a test can end what it wants to end there.
use crate::edge::log;
use futures_util::future::pending;
use std::cell::RefCell;

/// Before SessionDO is told of a checkpoint that is stored and prepared.
pub const PREPARED: &str = "prepared";
/// When SessionDO has committed it, before its answer is heard.
pub const COMMITTED: &str = "committed";

/// Where to stand still; nowhere at first, and again after a restart.
#[derive(Default)]
pub struct Hold(RefCell<Option<String>>);

impl Hold {
    /// Stands still at `point` from now on.
    pub fn at(&self, point: String) {
        self.0.replace(Some(point));
    }

    /// Goes on, or never, and says so.
    pub async fn pass(&self, point: &str) {
        let here = self.0.borrow().as_deref() == Some(point);
        if here {
            log::event("held", &[("at", point)]);
            pending::<()>().await;
        }
    }
}
