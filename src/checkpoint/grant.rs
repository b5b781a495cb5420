//! Grants: what a container may do with one stored object, once.
//!
//! A [`Grants`] belongs to a Durable Object that owns a container, and lives in its memory alone: an object that restarts
//! has granted nothing. It holds [tasks](Task), each of which stores or fetches one stream, part by part. A task has one
//! live grant at a time; spending it is what makes the next.
use super::key;
use super::{Digest, Stream};
use cloister_protocol::backup::{MAX_PARTS, PART_BYTES};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// What a grant is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Storing a part.
    Store,
    /// Fetching a part.
    Fetch,
    /// Announcing files.
    Announce,
}

/// What a container asks for, as it is known before its body is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The grant.
    pub grant: String,
    /// Epoch of the container instance, from its verified identity.
    pub epoch: u64,
    /// What it wants to do.
    pub verb: Verb,
    /// The part that it wants to store.
    pub part: Option<Part>,
}

/// A stored part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its size.
    pub bytes: u64,
    /// What it holds.
    pub sha256: Digest,
}

/// What may be done now, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// The object; empty for an announcement.
    pub key: String,
    /// Its size and digest; none for an announcement.
    pub part: Option<Part>,
    /// Grant for the part after it, when one is fetched.
    pub next: Option<String>,
    /// When it must be done, Unix milliseconds.
    pub expires_at: u64,
}

/// Why a container may not. The codes are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantError {
    /// No such grant: it was never given, is spent, or its operation is over.
    Unknown,
    /// It is too old.
    Expired,
    /// It was given to another instance of the container.
    Stale,
    /// It is for something else.
    Verb,
    /// The part has not the size that it must have.
    Size,
}

impl GrantError {
    /// Stable code for logs and answers.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unknown => "grant_unknown",
            Self::Expired => "grant_expired",
            Self::Stale => "grant_stale",
            Self::Verb => "grant_verb",
            Self::Size => "grant_size",
        }
    }
}

/// Names a task among those of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task(u64);

/// What was stored in a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// Whether nothing is missing, as far as that can be known: a stream of unknown length may end at any part.
    pub whole: bool,
}

/// How long a stored stream is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Unknown: a part that is not full is the last.
    Open,
    /// So many bytes.
    Exactly(u64),
}

/// Who gets a grant, and until when.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The container instance.
    pub epoch: u64,
    /// Unix milliseconds.
    pub expires_at: u64,
}

/// The grants of one Durable Object.
#[derive(Debug, Default)]
pub struct Grants {
    tasks: Vec<Granted>,
    last: u64,
}

#[derive(Debug)]
struct Granted {
    task: u64,
    terms: Terms,
    work: Work,
    /// The live grant; none while it is being spent, and when nothing more may be done.
    live: Option<String>,
    /// The grant that is being spent.
    spending: Option<(String, Part)>,
}

#[derive(Debug)]
enum Work {
    Store {
        stream: String,
        length: Length,
        parts: Vec<Part>,
    },
    Fetch {
        stream: String,
        parts: std::vec::IntoIter<Part>,
        number: usize,
    },
    Announce,
}

impl Grants {
    /// Begins to store a stream whose keys begin with `stream`. `grant` is a fresh random name, as all are.
    pub fn store(&mut self, grant: String, terms: Terms, stream: String, length: Length) -> Task {
        let work = Work::Store {
            stream,
            length,
            parts: Vec::new(),
        };
        self.add(grant, terms, work)
    }

    /// Begins to fetch a stream that has at least one part.
    pub fn fetch(&mut self, grant: String, terms: Terms, stream: String, held: &Stream) -> Task {
        let work = Work::Fetch {
            stream,
            parts: held.parts.clone().into_iter(),
            number: 0,
        };
        self.add(grant, terms, work)
    }

    /// Lets files be announced, once.
    pub fn announce(&mut self, grant: String, terms: Terms) -> Task {
        self.add(grant, terms, Work::Announce)
    }

    fn add(&mut self, grant: String, terms: Terms, work: Work) -> Task {
        self.last += 1;
        self.tasks.push(Granted {
            task: self.last,
            terms,
            work,
            live: Some(grant),
            spending: None,
        });
        Task(self.last)
    }

    /// Spends a grant. `next` is the fresh name of the one that follows it, if one follows at once.
    pub fn take(&mut self, ask: &Ask, next: String, now: u64) -> Result<Allowed, GrantError> {
        let granted = self
            .tasks
            .iter_mut()
            .find(|granted| same(granted.live.as_deref(), &ask.grant))
            .ok_or(GrantError::Unknown)?;
        let Terms { epoch, expires_at } = granted.terms;
        if ask.epoch != epoch {
            return Err(GrantError::Stale);
        }
        if now >= expires_at {
            return Err(GrantError::Expired);
        }
        let allowed = |key: String, part: Option<Part>, next: Option<String>| Allowed {
            key,
            part,
            next,
            expires_at,
        };
        match (&mut granted.work, ask.verb) {
            (
                Work::Store {
                    stream,
                    length,
                    parts,
                },
                Verb::Store,
            ) => {
                let part = ask.part.as_ref().ok_or(GrantError::Size)?;
                if !length.admits(parts, part.bytes) {
                    return Err(GrantError::Size);
                }
                let key = key::part(stream, parts.len());
                granted.live = None;
                granted.spending = Some((ask.grant.clone(), part.clone()));
                Ok(allowed(key, Some(part.clone()), None))
            }
            (
                Work::Fetch {
                    stream,
                    parts,
                    number,
                },
                Verb::Fetch,
            ) => {
                let part = parts.next().ok_or(GrantError::Unknown)?;
                let key = key::part(stream, *number);
                *number += 1;
                granted.live = (parts.len() > 0).then_some(next);
                Ok(allowed(key, Some(part), granted.live.clone()))
            }
            (Work::Announce, Verb::Announce) => {
                granted.live = None;
                Ok(allowed(String::new(), None, None))
            }
            (Work::Store { .. } | Work::Fetch { .. } | Work::Announce, _) => Err(GrantError::Verb),
        }
    }

    /// The store has the part for which `grant` was spent. Gives the grant for the part after it, if one may follow: `next`.
    pub fn stored(
        &mut self,
        grant: &str,
        next: String,
        now: u64,
    ) -> Result<Option<String>, GrantError> {
        let spent = |granted: &Granted| granted.spending.as_ref().map(|(grant, _)| grant.clone());
        let granted = self
            .tasks
            .iter_mut()
            .find(|granted| same(spent(granted).as_deref(), grant))
            .ok_or(GrantError::Unknown)?;
        // What was stored too late is not counted: nobody waits for it any more.
        if now >= granted.terms.expires_at {
            return Err(GrantError::Expired);
        }
        let Some((_, part)) = granted.spending.take() else {
            return Err(GrantError::Unknown);
        };
        match &mut granted.work {
            Work::Store { parts, length, .. } => {
                parts.push(part);
                granted.live = length.has_room(parts).then_some(next);
                Ok(granted.live.clone())
            }
            Work::Fetch { .. } | Work::Announce => Err(GrantError::Verb),
        }
    }

    /// Ends a task: its grant is revoked. Gives what it has stored.
    pub fn end(&mut self, task: Task) -> Stored {
        let found = self.tasks.iter().position(|granted| granted.task == task.0);
        match found.map(|index| self.tasks.swap_remove(index)) {
            Some(Granted {
                work: Work::Store { length, parts, .. },
                spending: None,
                ..
            }) => {
                let whole = match length {
                    Length::Open => !parts.is_empty(),
                    Length::Exactly(bytes) => total(&parts) == bytes,
                };
                Stored { parts, whole }
            }
            Some(_) | None => Stored {
                parts: Vec::new(),
                whole: false,
            },
        }
    }
}

impl Length {
    /// Whether a part of so many bytes may follow these.
    fn admits(self, parts: &[Part], bytes: u64) -> bool {
        match self {
            Self::Open => (1..=PART_BYTES as u64).contains(&bytes),
            Self::Exactly(all) => {
                bytes > 0 && bytes == (all - total(parts).min(all)).min(PART_BYTES as u64)
            }
        }
    }

    /// Whether another part may follow these.
    fn has_room(self, parts: &[Part]) -> bool {
        let full = parts
            .last()
            .is_none_or(|part| part.bytes == PART_BYTES as u64);
        match self {
            Self::Open => full && parts.len() < MAX_PARTS,
            Self::Exactly(all) => total(parts) < all,
        }
    }
}

fn total(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.bytes).sum()
}

/// In constant time: a name is a right.
fn same(live: Option<&str>, asked: &str) -> bool {
    live.is_some_and(|live| bool::from(live.as_bytes().ct_eq(asked.as_bytes())))
}

#[cfg(test)]
mod tests;
