//! Whether a policy allows more than another, which a session's own may not beside its template's.
use super::egress_policy::EgressPolicy;
use super::index::Index;
use super::mode::{Entry, Mode};
use super::pattern::{HostPattern, Kind};
use super::rules::{Rule, ANY_USE};
use std::slice;

/// Where a policy allows more than another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Widening {
    /// Its mode does.
    Access,
    /// This host: allowed by an entry of the policy, or no longer blocked, or with wider rules.
    Host(HostPattern),
}

impl EgressPolicy {
    /// Whether it allows more than `base`, and where first. `None` is certain: all that it allows, `base` allows. What is
    /// found may be too careful where several rules of a host together allow what no single one does.
    pub fn widening(&self, base: &Self) -> Option<Widening> {
        base.layers().iter().find_map(|base| {
            let mut first = None;
            for layer in self.layers() {
                first = first.or(Some(widening(layer, base)?));
            }
            first
        })
    }
}

fn widening(wanted: &Mode, base: &Mode) -> Option<Widening> {
    match (wanted, base) {
        (Mode::DenyAll, _) | (_, Mode::Public) => None,
        (Mode::AllowOnly(wanted), Mode::AllowOnly(base)) => beyond_list(wanted, base),
        (Mode::AllowOnly(wanted), Mode::AllExcept(blocked)) => into_blocked(wanted, blocked),
        (Mode::AllExcept(wanted), Mode::AllExcept(base)) => {
            let index = Index::with_subtrees(wanted.iter());
            // Addresses are refused in this mode, blocked or not.
            let open = |one: &&HostPattern| match one.0 {
                Kind::Name(_) | Kind::Below(_) => index.nearest_to(one).is_none(),
                Kind::Address(_) => false,
            };
            base.iter().find(open).cloned().map(Widening::Host)
        }
        (Mode::Public, Mode::DenyAll | Mode::AllowOnly(_) | Mode::AllExcept(_))
        | (Mode::AllExcept(_), Mode::DenyAll | Mode::AllowOnly(_))
        | (Mode::AllowOnly(_), Mode::DenyAll) => Some(Widening::Access),
    }
}

/// A host is judged by the nearest entry on both sides. The two entries contain one another, so it is enough to compare
/// each entry with the nearest of the other side that contains it.
fn beyond_list(wanted: &[Entry], base: &[Entry]) -> Option<Widening> {
    let wanted_index = Index::new(wanted.iter().map(|entry| &entry.pattern));
    let base_index = Index::new(base.iter().map(|entry| &entry.pattern));
    let unlisted = wanted.iter().find(|entry| {
        let above = at(base, base_index.nearest_to(&entry.pattern));
        !above.is_some_and(|above| covers(above, entry))
    });
    let looser = || {
        base.iter().find(|entry| {
            let above = at(wanted, wanted_index.nearest_to(&entry.pattern));
            above.is_some_and(|above| !covers(entry, above))
        })
    };
    let found = unlisted.or_else(looser);
    found.map(|entry| Widening::Host(entry.pattern.clone()))
}

fn into_blocked(wanted: &[Entry], blocked: &[HostPattern]) -> Option<Widening> {
    let wanted_index = Index::new(wanted.iter().map(|entry| &entry.pattern));
    let blocked_index = Index::with_subtrees(blocked.iter());
    let reaches = |entry: &&Entry| match entry.pattern.0 {
        Kind::Address(_) => true,
        Kind::Name(_) | Kind::Below(_) => {
            blocked_index.nearest_to(&entry.pattern).is_some()
                || !rules(entry).iter().all(Rule::has_default_ports)
        }
    };
    let entry = wanted.iter().find(reaches).map(|entry| &entry.pattern);
    let contained = || {
        blocked
            .iter()
            .find(|one| wanted_index.nearest_to(one).is_some())
    };
    entry.or_else(contained).cloned().map(Widening::Host)
}

fn at(list: &[Entry], id: Option<u32>) -> Option<&Entry> {
    list.get(id? as usize)
}

fn covers(outer: &Entry, inner: &Entry) -> bool {
    let covered = |rule: &Rule| rules(outer).iter().any(|limit| limit.covers(rule));
    rules(inner).iter().all(covered)
}

fn rules(entry: &Entry) -> &[Rule] {
    match entry.rules.as_slice() {
        [] => slice::from_ref(&ANY_USE),
        rules => rules,
    }
}
