//! The ids of the recent past.

use std::collections::VecDeque;

/// How many are remembered.
const MAX: usize = 1024;

/// Ids, the oldest forgotten first.
#[derive(Debug, Default)]
pub struct Recent(VecDeque<String>);

impl Recent {
    /// Whether `id` is remembered.
    pub fn contains(&self, id: &str) -> bool {
        self.0.iter().any(|known| known == id)
    }

    /// Remembers `id`; false if it was known.
    pub fn insert(&mut self, id: &str) -> bool {
        if self.contains(id) {
            return false;
        }
        if self.0.len() == MAX {
            self.0.pop_front();
        }
        self.0.push_back(id.to_owned());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_the_oldest() {
        let mut recent = Recent::default();
        for n in 0..=MAX {
            assert!(recent.insert(&n.to_string()));
        }
        assert!(!recent.contains("0") && recent.contains("1"));
        assert!(!recent.insert("1") && recent.insert("0"));
        assert_eq!(recent.0.len(), MAX);
    }
}
