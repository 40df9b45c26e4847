//! A reproducible source of choices, for generated tests.

/// Choices that are the same in every run that starts with the same seed.
#[derive(Debug, Clone)]
pub struct Choices(u64);

impl Choices {
    /// Creates choices that begin with `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `limit`.
    ///
    /// # Panics
    /// `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit
    }

    /// Returns one of `all`.
    ///
    /// # Panics
    /// `all` is empty.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Returns `true` once in `count` times.
    pub fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}
