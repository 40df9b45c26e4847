//! Bounded capture of a stream: its head, its tail, and the number of bytes in total.
//!
//! The middle is dropped, never the end: the reason of a failure is usually there.

use std::collections::VecDeque;

use tenter_base::excerpt;

/// The captured part of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// The first bytes, or all of them if nothing was dropped.
    pub head: Vec<u8>,
    /// The last bytes, if not everything fits in `head`.
    pub tail: Vec<u8>,
    /// Number of bytes the stream had.
    pub total: u64,
}

impl CapturedOutput {
    /// Returns the whole stream, or `None` if bytes were dropped.
    pub fn whole(&self) -> Option<&[u8]> {
        (self.tail.is_empty() && self.dropped() == 0).then_some(&self.head)
    }

    /// Returns the number of bytes dropped between head and tail.
    pub fn dropped(&self) -> u64 {
        self.total.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }

    /// Returns true if the stream had no bytes.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns the captured bytes as text for display. Invalid UTF-8 is replaced. If bytes were dropped, a separate line says how
    /// many.
    pub fn text(&self) -> String {
        if let Some(whole) = self.whole() {
            return String::from_utf8_lossy(whole).into_owned();
        }
        let head = without_cut_end(&self.head);
        let tail = without_cut_start(&self.tail);
        let missing = self.total.saturating_sub((head.len() + tail.len()) as u64);
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let newline = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{newline}[… {missing} bytes dropped …]\n{tail}")
    }

    /// Returns the last `count` lines of [`CapturedOutput::text`], without a final newline.
    pub fn tail_lines(&self, count: usize) -> String {
        excerpt::last_lines(&self.text(), count).to_owned()
    }
}

/// Removes an incomplete UTF-8 character at the end.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    let cut = bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
    &bytes[..bytes.len() - cut]
}

/// Removes an incomplete UTF-8 character at the start.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let cut = bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    &bytes[cut..]
}

/// Captures a stream in bounded memory.
#[derive(Debug)]
pub(crate) struct Capture {
    keep: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    /// Keeps at most `keep` bytes: the whole stream if it fits, else half of them from the head and half from the tail.
    pub(crate) fn new(keep: usize) -> Self {
        Self { keep, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    /// Adds the next bytes of the stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let fits = self.total.saturating_add(bytes.len() as u64) <= self.keep as u64;
        if fits {
            self.head.extend_from_slice(bytes);
        } else {
            let rest = self.fill_head(bytes);
            self.push_tail(rest);
        }
        self.total = self.total.saturating_add(bytes.len() as u64);
    }

    /// Makes the head exactly half of `keep`, from bytes already kept or from new ones. Returns the new bytes that are left.
    fn fill_head<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let half = self.keep / 2;
        if self.head.len() > half {
            self.tail.extend(self.head.drain(half..));
        }
        let (head, rest) = bytes.split_at((half - self.head.len()).min(bytes.len()));
        self.head.extend_from_slice(head);
        rest
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        let room = self.keep - self.keep / 2;
        let bytes = &bytes[bytes.len().saturating_sub(room)..];
        let excess = (self.tail.len() + bytes.len()).saturating_sub(room);
        self.tail.drain(..excess);
        self.tail.extend(bytes);
    }

    /// Ends the capture.
    pub(crate) fn finish(self) -> CapturedOutput {
        CapturedOutput { head: self.head, tail: self.tail.into(), total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(keep: usize, parts: &[Vec<u8>]) -> CapturedOutput {
        let mut capture = Capture::new(keep);
        for part in parts {
            capture.push(part);
        }
        capture.finish()
    }

    fn cut(keep: usize, text: &str) -> CapturedOutput {
        captured(keep, &[text.into()])
    }

    proptest! {
        #[test]
        fn a_capture_is_the_whole_stream_or_its_two_ends_however_it_was_split(
            keep in 0_usize..40,
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..8),
        ) {
            let all = parts.concat();
            let captured = captured(keep, &parts);
            if all.len() <= keep {
                prop_assert_eq!(captured.whole(), Some(&all[..]));
            } else {
                prop_assert_eq!(captured.whole(), None);
                prop_assert_eq!(&captured.head, &all[..keep / 2]);
                prop_assert_eq!(&captured.tail, &all[all.len() - (keep - keep / 2)..]);
            }
            prop_assert_eq!(captured.total, all.len() as u64);
            prop_assert_eq!(captured.dropped(), all.len().saturating_sub(keep) as u64);
        }

        #[test]
        fn memory_is_bounded_during_the_capture(keep in 0_usize..40, part in 0_usize..100, times in 0_usize..20) {
            let mut capture = Capture::new(keep);
            for _ in 0..times {
                capture.push(&vec![b'x'; part]);
                prop_assert!(capture.head.len() + capture.tail.len() <= keep);
            }
        }

        #[test]
        fn text_of_a_truncated_stream_has_no_broken_characters(text in "[aé€😀\n]{0,40}", keep in 0_usize..60) {
            let cut_text = cut(keep, &text).text();
            prop_assert!(!cut_text.contains('\u{FFFD}'), "{cut_text:?}");
        }

        #[test]
        fn the_last_lines_are_those_of_the_text(text in "[ab\n]{0,40}", count in 0_usize..6) {
            let lines: Vec<_> = text.split_terminator('\n').collect();
            let expected = lines[lines.len().saturating_sub(count)..].join("\n");
            prop_assert_eq!(cut(1000, &text).tail_lines(count), expected);
        }
    }

    #[test]
    fn text_says_on_a_separate_line_how_much_is_missing() {
        assert_eq!(cut(8, "head, middle, tail").text(), "head\n[… 10 bytes dropped …]\ntail");
        assert_eq!(cut(8, "one\n and two").text(), "one\n[… 4 bytes dropped …]\n two");
        assert_eq!(cut(0, "lost").text(), "[… 4 bytes dropped …]\n");
        assert_eq!(cut(8, "short").text(), "short");
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(captured(8, &[b"a\xffb".to_vec()]).text(), "a\u{FFFD}b");
    }
}
