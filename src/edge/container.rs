//! What HarnessDO and SandboxDO do alike with their containers.
use super::log;
use super::platform::{now, Container};
use futures_util::future::{select, Either};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use worker::{Delay, Result, State};

/// Between two tries to reach a starting container.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);

/// Props of intercepts are made anew at each start, at each construction of the object, and with a turn when half of this has
/// passed.
pub const PROPS_LIFETIME_MS: u64 = 24 * 60 * 60 * 1000;

/// Whether props that were made at that time, Unix milliseconds, should be made anew.
pub fn is_stale(identified_at: u64) -> bool {
    now() >= identified_at + PROPS_LIFETIME_MS / 2
}

/// The name by which this object is addressed.
pub fn object_name(state: &State) -> Result<String> {
    state
        .id()
        .name()
        .ok_or_else(|| "this object was not addressed by name".into())
}

/// Keeps the runtime's monitor pending, without which failures to start are silent, and reports how the container ended.
pub fn watch(state: &State, container: &Container, kind: &'static str) {
    let container = container.clone();
    state.wait_until(async move {
        let ended = container.monitor().await;
        log::event(
            "container_ended",
            &[
                ("kind", kind),
                ("orderly", if ended.is_ok() { "yes" } else { "no" }),
            ],
        );
    });
}

/// What `work` gives, if it ends in time. A stopped program keeps its connections open and never answers.
pub async fn within<T>(deadline: Duration, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), Delay::from(deadline)).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}

/// Waits until the container answers HTTP at `path` with success; `false` if it ended or did not in time.
pub async fn answers(container: &Container, port: u16, path: &str, deadline: Duration) -> bool {
    let end = now() + deadline.as_millis() as u64;
    while now() < end {
        let left = Duration::from_millis(end.saturating_sub(now()));
        let answer = within(left, container.fetch(port, path)).await;
        if matches!(answer, Some(Ok(response)) if response.status_code() < 300) {
            return true;
        }
        Delay::from(PROBE_INTERVAL).await;
        if !container.running() {
            return false;
        }
    }
    false
}
