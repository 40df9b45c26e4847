//! Output that waits until an open question is answered.

use std::collections::VecDeque;

use super::Stream;

/// Maximum number of bytes held.
const LIMIT: usize = 1 << 20;

/// Texts in the order in which they were printed.
#[derive(Default)]
pub(super) struct Held {
    texts: VecDeque<(Stream, String)>,
    bytes: usize,
    /// Number of lines that were dropped because there were too many.
    dropped_lines: usize,
}

impl Held {
    /// Adds a text. If there are too many, the first ones are dropped.
    pub(super) fn push(&mut self, stream: Stream, text: &str) {
        self.bytes += text.len();
        self.texts.push_back((stream, text.to_owned()));
        while self.bytes > LIMIT {
            let Some((_, text)) = self.texts.pop_front() else { break };
            self.bytes -= text.len();
            self.dropped_lines += text.lines().count();
        }
    }

    /// Returns everything that is held, after a line about what was dropped.
    pub(super) fn take(&mut self) -> Vec<(Stream, String)> {
        let output = std::mem::take(self);
        let note = (output.dropped_lines > 0)
            .then(|| (Stream::Stderr, format!("… {} lines are not shown\n", output.dropped_lines)));
        note.into_iter().chain(output.texts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_and_is_emptied() {
        let mut output = Held::default();
        output.push(Stream::Stdout, "a\n");
        output.push(Stream::Stderr, "b\n");
        let texts = output.take();
        assert_eq!(texts, [(Stream::Stdout, "a\n".to_owned()), (Stream::Stderr, "b\n".to_owned())]);
        assert!(output.take().is_empty());
    }

    #[test]
    fn the_first_texts_are_dropped_if_there_are_too_many() {
        let mut output = Held::default();
        let long = "x\n".repeat(LIMIT / 4);
        for _ in 0..3 {
            output.push(Stream::Stdout, &long);
        }
        let texts = output.take();
        let lines = LIMIT / 4;
        assert_eq!(texts[0], (Stream::Stderr, format!("… {lines} lines are not shown\n")));
        assert_eq!(texts.len(), 3);
    }
}
