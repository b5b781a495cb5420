//! The list of a policy, found in by hash: the cost of a look-up does not grow with the list.
//!
//! The runtime has no random keys for hashes, so names can be chosen to collide; whoever does that slows the decisions about
//! its own sandboxes, within the limits of a list.
use super::host::Host;
use super::pattern::{HostPattern, Kind};
use std::collections::HashMap;
use std::net::IpAddr;

/// Patterns and what they stand for: the index of each in its list.
#[derive(Debug, Default)]
pub(super) struct Index {
    names: HashMap<Box<str>, Slots>,
    addresses: HashMap<IpAddr, u32>,
    /// Bit n: some wildcard has n labels. A host with many labels costs no more look-ups than these.
    depths: u128,
}

#[derive(Debug, Default)]
struct Slots {
    exact: Option<u32>,
    below: Option<u32>,
}

impl Index {
    /// Of patterns that mean what they say.
    pub(super) fn new<'a>(patterns: impl ExactSizeIterator<Item = &'a HostPattern>) -> Self {
        let mut index = Self::default();
        index.names.reserve(patterns.len());
        for (id, pattern) in (0..).zip(patterns) {
            match &pattern.0 {
                Kind::Name(name) => index.slots(name).exact = Some(id),
                Kind::Below(base) => index.insert_below(base, id),
                Kind::Address(address) => {
                    index.addresses.insert(*address, id);
                }
            }
        }
        index
    }

    /// Of patterns that take all below them with them.
    pub(super) fn with_subtrees<'a>(
        patterns: impl ExactSizeIterator<Item = &'a HostPattern> + Clone,
    ) -> Self {
        let mut index = Self::new(patterns.clone());
        for (id, pattern) in (0..).zip(patterns) {
            match &pattern.0 {
                Kind::Name(name) => index.insert_below(name, id),
                Kind::Below(_) | Kind::Address(_) => {}
            }
        }
        index
    }

    fn insert_below(&mut self, base: &str, id: u32) {
        self.slots(base).below = Some(id);
        self.depths |= 1 << labels(base);
    }

    fn slots(&mut self, name: &str) -> &mut Slots {
        self.names.entry(name.into()).or_default()
    }

    /// The nearest pattern for a host: the one with its own name, or the longest wildcard above it.
    pub(super) fn nearest(&self, host: &Host) -> Option<u32> {
        match host {
            Host::Name(name) => self.nearest_name(name),
            Host::V4(address) => self.addresses.get(&IpAddr::V4(*address)).copied(),
            Host::V6(address) => self.addresses.get(&IpAddr::V6(*address)).copied(),
        }
    }

    /// The nearest pattern for all that `pattern` matches.
    pub(super) fn nearest_to(&self, pattern: &HostPattern) -> Option<u32> {
        match &pattern.0 {
            Kind::Name(name) => self.nearest_name(name),
            Kind::Below(base) => {
                let same = self.names.get(base.as_str()).and_then(|slots| slots.below);
                same.or_else(|| self.nearest_above(base))
            }
            Kind::Address(address) => self.addresses.get(address).copied(),
        }
    }

    fn nearest_name(&self, name: &str) -> Option<u32> {
        let same = self.names.get(name).and_then(|slots| slots.exact);
        same.or_else(|| self.nearest_above(name))
    }

    fn nearest_above(&self, name: &str) -> Option<u32> {
        if self.depths == 0 {
            return None;
        }
        let mut depth = labels(name);
        let mut rest = name;
        while let Some((_, parent)) = rest.split_once('.') {
            depth -= 1;
            rest = parent;
            if self.depths >> depth & 1 == 1 {
                let found = self.names.get(parent).and_then(|slots| slots.below);
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }
}

/// At most 127 in a name of 253 bytes.
fn labels(name: &str) -> u32 {
    name.bytes()
        .fold(1, |count, byte| count + u32::from(byte == b'.'))
}
