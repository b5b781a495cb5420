//! Collects dead processes. As process 1 the supervisor inherits every orphan of its container.

use rustix::process::{wait, Pid, WaitOptions};
use tokio::signal::unix::Signal;
use tokio::sync::watch;

/// How a process ended: its exit code, if it exited by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit code.
    pub exit_code: Option<i32>,
}

/// Collects whatever dies, for ever, and tells when it was `child`. It must be the only one in the program that waits for
/// processes; `deaths` must have been there before `child`.
pub async fn collect(mut deaths: Signal, child: Pid, told: watch::Sender<Option<Ended>>) {
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == child {
                told.send_replace(Some(Ended {
                    exit_code: status.exit_status(),
                }));
            }
        }
        if deaths.recv().await.is_none() {
            return;
        }
    }
}
