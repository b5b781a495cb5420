//! What comes over the link, on its way to SessionDO, and what its answers mean here.
use super::link::{Incoming, Link};
use super::object::{Harness, LINGER_MS};
use super::record::COMMAND;
use crate::edge::calls::{self, CallError, CallResult, Refusal, Reported, SandboxCall};
use crate::edge::container::within;
use crate::edge::{log, record};
use cloister_protocol::{Command, Event, FromSupervisor};
use futures_util::future::{pending, select, Either};
use futures_util::FutureExt;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use worker::Result;

/// How long the sandbox may take to end what runs in it.
const QUIET_DEADLINE: Duration = Duration::from_secs(6);

impl Harness {
    /// Hands events on to SessionDO, and acknowledges what is stored there, until either way ends.
    pub(super) async fn pump(self: Rc<Self>, link: Rc<Link>) {
        let epoch = self.record.borrow().epoch;
        let _ = self.carry(&link, epoch).await;
        link.close();
        if self.record.borrow().turn.is_some() {
            log::event("harness_link_lost", &[]);
            let _ = self.wake_in(0).await;
        }
    }

    /// One message at a time is on its way to SessionDO: what comes meanwhile goes with the next, and is stored with it.
    async fn carry(&self, link: &Link, epoch: u64) -> Result<()> {
        let mut waiting = false;
        loop {
            let frames = if waiting {
                pending().left_future()
            } else {
                link.next().right_future()
            };
            match select(pin!(frames), pin!(link.reported())).await {
                Either::Left((Incoming::Frames(frames), _)) => {
                    let (notice, frames) = match self.ending(&frames) {
                        None => (None, frames),
                        Some((before, ending)) => {
                            if !before.is_empty() {
                                link.report(None, &before)?;
                                let Some(reported) = link.reported().await else {
                                    return Ok(());
                                };
                                if !self.acknowledge(link, epoch, reported).await? {
                                    return Ok(());
                                }
                            }
                            match self.save(link, epoch, ending).await? {
                                Some((notice, frames)) => (Some(notice), frames),
                                None => return Ok(()),
                            }
                        }
                    };
                    // A container without its harness ends first: a next turn may come with the answer.
                    if says_lost(&frames) {
                        self.container()?.destroy().await?;
                    }
                    #[cfg(feature = "test-faults")]
                    if notice.is_some() {
                        self.hold.pass(super::hold::PREPARED).await;
                    }
                    link.report(notice.as_ref(), &frames)?;
                    waiting = true;
                }
                // Nobody waits for it any more.
                Either::Left((Incoming::HistorySaved { .. }, _)) => {}
                Either::Left((Incoming::Pong, _)) => {}
                Either::Left((Incoming::Closed, _)) | Either::Right((None, _)) => return Ok(()),
                Either::Right((Some(reported), _)) => {
                    #[cfg(feature = "test-faults")]
                    if matches!(&reported, Ok(reported) if !reported.ended.is_empty()) {
                        self.hold.pass(super::hold::COMMITTED).await;
                    }
                    waiting = false;
                    if !self.acknowledge(link, epoch, reported).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Ends what an interrupted turn has left running in the sandbox, before its end is told: the next turn may come with it.
    pub(super) async fn quiet(&self) {
        let Ok(Some(sandbox)) = self.sandbox() else {
            return;
        };
        let asked = calls::call::<_, (), CallError>(&sandbox, &SandboxCall::Quiet);
        if !matches!(within(QUIET_DEADLINE, asked).await, Some(Ok(()))) {
            log::event("sandbox_not_quiet", &[]);
        }
    }

    /// Returns whether more may come.
    async fn acknowledge(
        &self,
        link: &Link,
        epoch: u64,
        reported: CallResult<Reported>,
    ) -> Result<bool> {
        match reported {
            Ok(reported) => {
                if self.remember(epoch, &reported)? {
                    self.wake_in(LINGER_MS).await?;
                }
                let seq = reported.last;
                link.send(&Command::Acknowledge { seq })?;
                Ok(true)
            }
            // A supervisor that does not keep to the protocol is not one of ours any more. Its turn is lost with it.
            Err(CallError::Refused(Refusal::Invalid)) => {
                log::event("harness_broke_protocol", &[]);
                self.container()?.destroy().await?;
                Ok(false)
            }
            // Another instance of this object has gone on with it.
            Err(CallError::Refused(Refusal::Stale)) => Ok(false),
            // The session is deleted: nobody waits for it.
            Err(CallError::Refused(_)) => {
                self.destroy().await?;
                Ok(false)
            }
            Err(CallError::Broken) => Ok(false),
        }
    }

    /// Stores what delivered events of the instance `epoch` mean here. Returns whether nothing runs any more. With the
    /// answer to them the next turn may have come, and even another instance: what is theirs is left alone.
    fn remember(&self, epoch: u64, reported: &Reported) -> Result<bool> {
        if self.record.borrow().epoch != epoch {
            return Ok(false);
        }
        if let Some(thread) = &reported.thread {
            self.update(|record| record.thread = Some(thread.clone()))?;
        }
        for input_id in &reported.steers {
            record::remove_all(&self.state.storage(), COMMAND, &format!(":{input_id}"))?;
        }
        let turn = self.record.borrow().turn.clone();
        // A turn that was lost with its harness is reported as such by the next heartbeat.
        let over = turn.is_some_and(|turn| reported.ended.contains(&turn.turn_id));
        if over {
            self.forget_turn(true)?;
        }
        Ok(over)
    }
}

/// Whether one of the frames says that the harness is gone.
fn says_lost(frames: &str) -> bool {
    frames.contains("harness_lost")
        && frames.lines().any(|frame| {
            matches!(
                serde_json::from_str(frame),
                Ok(FromSupervisor::Event {
                    event: Event::HarnessLost { .. },
                    ..
                })
            )
        })
}
