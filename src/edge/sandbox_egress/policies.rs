//! Policies in force, compiled, as long as this isolate lives: a policy of an epoch never changes.
use super::Egress;
use crate::edge::calls::{CallResult, EgressCall, PolicyInForce};
use crate::edge::settings;
use crate::policy::CompiledPolicy;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use worker::Result;

/// Most policies that are kept, and most bytes of their text together: compiled they take several times as much, and an
/// isolate has 128 MB.
const MAX_POLICIES: usize = 512;
const MAX_BYTES: usize = 4 << 20;

thread_local! {
    static POLICIES: RefCell<Policies> = RefCell::default();
}

/// The newest policy of each sandbox, as far as this isolate knows.
#[derive(Default)]
pub struct Policies {
    by_object: HashMap<String, Known>,
    bytes: usize,
    /// Rises with each use.
    clock: u64,
}

/// The newest policy of a sandbox.
pub struct Newest {
    /// Its epoch.
    pub epoch: u64,
    /// The oldest epoch whose requests it judges.
    pub floor: u64,
    /// The policy.
    pub policy: Rc<CompiledPolicy>,
}

struct Known {
    epoch: u64,
    policy: Rc<CompiledPolicy>,
    bytes: usize,
    used: u64,
}

impl Policies {
    /// What judges a request of that epoch, and the epoch it belongs to: the newest, unless this isolate has not heard of it
    /// yet. None if the request is older than all that counts.
    pub async fn of(egress: &Egress, epoch: u64) -> Result<Option<(u64, Rc<CompiledPolicy>)>> {
        let known = POLICIES.with_borrow_mut(|policies| policies.find(&egress.object, epoch));
        if let Some(policy) = known {
            return Ok(Some((epoch, policy)));
        }
        let newest = Self::newest(egress).await?;
        Ok((epoch >= newest.floor).then_some((newest.epoch, newest.policy)))
    }

    /// The newest, asked for anew.
    pub async fn newest(egress: &Egress) -> Result<Newest> {
        let answer: CallResult<PolicyInForce> = egress.ask(EgressCall::Policy).await?;
        let PolicyInForce {
            epoch,
            floor,
            policy,
        } = answer.map_err(|_| "the sandbox does not answer")?;
        let known = POLICIES.with_borrow_mut(|policies| policies.find(&egress.object, epoch));
        let policy = match known {
            Some(policy) => policy,
            None => {
                let bytes = policy.text_bytes();
                let own = settings::own_hosts(&egress.env)?;
                let compiled = Rc::new(CompiledPolicy::new(&policy, &own));
                POLICIES.with_borrow_mut(|policies| {
                    policies.keep(&egress.object, epoch, compiled.clone(), bytes);
                });
                compiled
            }
        };
        Ok(Newest {
            epoch,
            floor,
            policy,
        })
    }

    fn find(&mut self, object: &str, epoch: u64) -> Option<Rc<CompiledPolicy>> {
        self.clock += 1;
        let known = self.by_object.get_mut(object)?;
        known.used = self.clock;
        (known.epoch == epoch).then(|| known.policy.clone())
    }

    fn keep(&mut self, object: &str, epoch: u64, policy: Rc<CompiledPolicy>, bytes: usize) {
        self.forget(object);
        while !self.by_object.is_empty()
            && (self.by_object.len() >= MAX_POLICIES || self.bytes + bytes > MAX_BYTES)
        {
            let oldest = self.by_object.iter().min_by_key(|(_, known)| known.used);
            let Some(oldest) = oldest.map(|(object, _)| object.clone()) else {
                break;
            };
            self.forget(&oldest);
        }
        self.bytes += bytes;
        let used = self.clock;
        let known = Known {
            epoch,
            policy,
            bytes,
            used,
        };
        self.by_object.insert(object.to_owned(), known);
    }

    fn forget(&mut self, object: &str) {
        if let Some(known) = self.by_object.remove(object) {
            self.bytes -= known.bytes;
        }
    }
}
