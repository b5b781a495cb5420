//! A request that is under way while its sandbox's policy changes: it ends if the new one refuses it.
use super::policies::Policies;
use super::refusal::Fault;
use super::{tallies, Asked, Egress};
use crate::edge::calls::{self, Class};
use crate::edge::log;
use crate::edge::platform::request::upgrade;
use crate::edge::platform::{Frame, Inbox};
use crate::edge::sandbox::TOO_MANY;
use crate::environment::Verdict;
use std::rc::Rc;
use std::time::Duration;
use worker::{Context, Delay, Result};

/// What is over by then needs no watching. With the way to the sandbox's object it is well within the second in which a
/// policy has to take hold.
const SHORT: Duration = Duration::from_millis(250);
/// Between two tries to watch, and how many.
const RETRY: Duration = Duration::from_millis(100);
const TRIES: u32 = 3;
/// The object sends numbers.
const MAX_FRAME: usize = 32;
const MAX_QUEUE: usize = 4096;

/// A request that was allowed.
pub struct UnderWay {
    egress: Rc<Egress>,
    asked: Asked,
    epoch: u64,
    host: String,
    port: u16,
}

impl UnderWay {
    /// One that the policy of `epoch` allowed.
    pub fn new(egress: Rc<Egress>, asked: Asked, epoch: u64, host: String, port: u16) -> Self {
        Self {
            egress,
            asked,
            epoch,
            host,
            port,
        }
    }

    /// The context of the request.
    pub fn context(&self) -> Rc<Context> {
        self.egress.ctx.clone()
    }

    /// Resolves when the request has to end, and not before. Whatever is unclear ends it.
    pub async fn must_end(&self) -> Fault {
        Delay::from(SHORT).await;
        for _ in 0..TRIES {
            match self.watch().await {
                Ok(fault) => return fault,
                Err(_) => Delay::from(RETRY).await,
            }
        }
        Fault::PolicyUnavailable
    }

    /// It was ended.
    pub async fn note_end(&self, fault: Fault) {
        log::event("egress_ended", &[("reason", fault.code())]);
        let tally = tallies::tally(&self.host, self.port, Verdict::Ended, fault.code());
        tallies::note(&self.egress, tally).await;
    }

    /// Why the request has to end; an error if the object could not be watched any more.
    async fn watch(&self) -> Result<Fault> {
        let object = calls::object(&self.egress.env, Class::Sandbox, &self.egress.object)?;
        let to = upgrade(&format!("http://object/under-way?epoch={}", self.epoch))?;
        let answer = object.fetch_with_request(to).await?;
        if answer.status_code() == 409 {
            return Ok(Fault::PolicyReplaced);
        }
        let socket = answer.websocket().ok_or("the sandbox does not answer")?;
        let inbox = Inbox::open(socket, MAX_FRAME, MAX_QUEUE)?;
        loop {
            match inbox.next().await {
                Frame::Closed => return Ok(Fault::PolicyReplaced),
                Frame::Text(text) if text == TOO_MANY => return Ok(Fault::TooManyUnderWay),
                Frame::Text(_) => {
                    let newest = Policies::newest(&self.egress).await?;
                    let decision = newest.policy.decide(&self.asked.head());
                    if self.epoch < newest.floor || !decision.is_allowed() {
                        return Ok(Fault::PolicyReplaced);
                    }
                }
            }
        }
    }
}
