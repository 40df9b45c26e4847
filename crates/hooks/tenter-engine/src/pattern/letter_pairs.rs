//! Quick tests that rule out most texts that a pattern does not fit.

/// The pairs of letters that follow each other in a text, each as one of 64 bits: a text that contains another has its pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LetterPairs(u64);

impl LetterPairs {
    pub(crate) fn new(text: &str) -> Self {
        let pairs = text.as_bytes().windows(2);
        let bit = |pair: &[u8]| (usize::from(pair[0]) * 31 + usize::from(pair[1])) % 64;
        Self(pairs.fold(0, |bits, pair| bits | 1 << bit(pair)))
    }

    /// Returns these pairs and others.
    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn contain(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Returns one of 64 bits for a name: equal names have the same one.
pub(crate) fn name_bit(name: &str) -> u64 {
    let letters = [name.bytes().next(), name.bytes().next_back()];
    let sum: usize = letters.into_iter().flatten().map(usize::from).sum();
    1 << ((sum + 7 * name.len()) % 64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::LetterPairs;

    proptest! {
        #[test]
        fn a_text_has_the_pairs_of_what_it_contains(text in "[a-z./]{0,20}", part in "[a-z./]{0,6}") {
            let whole = format!("{text}{part}{text}");
            prop_assert!(LetterPairs::new(&whole).contain(LetterPairs::new(&part)));
        }
    }
}
