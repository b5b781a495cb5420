use std::collections::{BTreeMap, BTreeSet};

/// Numbered values that are stored one by one. It knows which have changed since they were last stored.
#[derive(Clone, Debug)]
pub struct Cells<V> {
    values: BTreeMap<u64, V>,
    changed: BTreeSet<u64>,
}

impl<V> Default for Cells<V> {
    fn default() -> Self {
        Self {
            values: BTreeMap::new(),
            changed: BTreeSet::new(),
        }
    }
}

impl<V> Cells<V> {
    /// Adds a value after all others. Returns its number.
    pub fn push(&mut self, value: V) -> u64 {
        let number = self.values.last_key_value().map_or(1, |(last, _)| last + 1);
        self.put(number, value);
        number
    }

    /// Puts a value under a number of the caller's.
    pub fn put(&mut self, number: u64, value: V) {
        self.values.insert(number, value);
        self.changed.insert(number);
    }

    /// Puts a value that is stored already.
    pub fn restore(&mut self, number: u64, value: V) {
        self.values.insert(number, value);
    }

    /// The value with this number.
    pub fn get(&self, number: u64) -> Option<&V> {
        self.values.get(&number)
    }

    /// The value with this number, to change it.
    pub fn edit(&mut self, number: u64) -> Option<&mut V> {
        let value = self.values.get_mut(&number)?;
        self.changed.insert(number);
        Some(value)
    }

    /// The value with this number, to change what is stored elsewhere.
    pub fn edit_unstored(&mut self, number: u64) -> Option<&mut V> {
        self.values.get_mut(&number)
    }

    /// Takes a value out.
    pub fn remove(&mut self, number: u64) -> Option<V> {
        let value = self.values.remove(&number)?;
        self.changed.insert(number);
        Some(value)
    }

    /// Takes all values out, in order.
    pub fn take(&mut self) -> Vec<V> {
        self.changed.extend(self.values.keys());
        std::mem::take(&mut self.values).into_values().collect()
    }

    /// Number of the first value that is as wanted.
    pub fn find(&self, mut wanted: impl FnMut(&V) -> bool) -> Option<u64> {
        self.iter()
            .find(|(_, value)| wanted(value))
            .map(|(number, _)| number)
    }

    /// All, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &V)> {
        self.values.iter().map(|(number, value)| (*number, value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Numbers that changed, each with its value if it still has one. Afterwards nothing has changed.
    pub fn take_changes(&mut self) -> Vec<(u64, Option<&V>)> {
        let changed = std::mem::take(&mut self.changed);
        changed
            .into_iter()
            .map(|number| (number, self.values.get(&number)))
            .collect()
    }
}
