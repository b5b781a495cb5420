use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The newest entries of a map: a bounded cache.
#[derive(Debug)]
pub struct Recent<K, V> {
    values: HashMap<K, V>,
    order: VecDeque<K>,
    most: usize,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    /// A cache of at most `most` entries.
    pub fn new(most: usize) -> Self {
        Self {
            values: HashMap::new(),
            order: VecDeque::new(),
            most,
        }
    }

    /// The value of a key.
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.values.get(key)
    }

    /// Puts a value; the oldest entry goes if there is no room.
    pub fn put(&mut self, key: K, value: V) {
        if self.values.insert(key.clone(), value).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > self.most {
            if let Some(oldest) = self.order.pop_front() {
                self.values.remove(&oldest);
            }
        }
    }

    /// Takes an entry out.
    pub fn remove<Q>(&mut self, key: &Q)
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if self.values.remove(key).is_some() {
            self.order.retain(|other| other.borrow() != key);
        }
    }
}
