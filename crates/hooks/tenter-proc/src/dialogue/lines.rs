//! Splits what a program writes into lines of bounded length.

use super::listener::DialogueListener;

/// Capacity of a buffer that is kept while it is empty.
pub(super) const IDLE_CAPACITY: usize = 16 << 10;

/// The line that has begun.
pub(super) struct Lines {
    max: usize,
    partial: Vec<u8>,
    /// True while a line that is too long is skipped.
    is_skipped: bool,
}

impl Lines {
    pub(super) fn new(max: usize) -> Self {
        Self { max, partial: Vec::new(), is_skipped: false }
    }

    /// Adds the next bytes and passes on the lines that they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], listener: &mut impl DialogueListener) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.add(&bytes[..end], listener);
            bytes = &bytes[end + 1..];
            if !std::mem::take(&mut self.is_skipped) {
                listener.line(&self.partial);
            }
            self.partial.clear();
            if self.partial.capacity() > IDLE_CAPACITY {
                self.partial = Vec::new();
            }
        }
        self.add(bytes, listener);
    }

    fn add(&mut self, bytes: &[u8], listener: &mut impl DialogueListener) {
        if self.is_skipped {
            return;
        }
        if self.partial.len() + bytes.len() > self.max {
            self.is_skipped = true;
            self.partial = Vec::new();
            listener.line_too_long();
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::listener::DialogueEnd;
    use super::*;

    /// The lines; `None` for one that was too long.
    #[derive(Default)]
    struct Heard(Vec<Option<Vec<u8>>>);

    impl DialogueListener for Heard {
        fn line(&mut self, line: &[u8]) {
            self.0.push(Some(line.to_vec()));
        }

        fn line_too_long(&mut self) {
            self.0.push(None);
        }

        fn ended(&mut self, _: DialogueEnd) {}
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_they_arrive(
            parts in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..12), 0..12),
            max in 0_usize..8,
        ) {
            let all = parts.concat();
            let mut heard = Heard::default();
            let mut lines = Lines::new(max);
            for part in &parts {
                lines.push(part, &mut heard);
                prop_assert!(lines.partial.len() <= max);
            }
            let mut expected: Vec<Option<Vec<u8>>> = all
                .split(|byte| *byte == b'\n')
                .map(|line| (line.len() <= max).then(|| line.to_vec()))
                .collect();
            // What follows the last line break is not a line yet, but may already be too long.
            if expected.last().is_some_and(Option::is_some) {
                expected.pop();
            }
            prop_assert_eq!(heard.0, expected);
        }
    }
}
