//! Randomness that a seed decides wholly, so that a run can be repeated.

/// SplitMix64.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of numbers that belongs to `seed` and `part` of it.
    pub fn of(seed: u64, part: u64) -> Self {
        let mut random = Self(seed ^ part.wrapping_mul(0xa076_1d64_78bd_642f));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of `low..high`.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.within(0, n) == 0
    }

    /// The same things in another order.
    pub fn shuffled<T: Clone>(&mut self, things: &[T]) -> Vec<T> {
        let mut things = things.to_vec();
        for at in (1..things.len()).rev() {
            things.swap(at, self.within(0, at as u64 + 1) as usize);
        }
        things
    }
}
