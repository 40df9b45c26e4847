//! The end of a running tool's output, for displays.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tenter_base::{lock, sanitize};
use tenter_engine::inspect::KeyMask;

/// Maximum size of a tail, in bytes.
const MAX_TAIL: usize = 8 << 10;

/// The end of a tool's output. The tool adds to it, and displays read it whenever they redraw. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct OutputTail {
    bytes: Arc<Mutex<TailBytes>>,
    keys: KeyMask,
}

#[derive(Debug, Default)]
struct TailBytes {
    last: VecDeque<u8>,
    /// Earlier bytes were dropped.
    is_cut: bool,
}

impl OutputTail {
    /// Creates an empty tail, in which model keys are masked (R80).
    pub fn new(keys: KeyMask) -> Self {
        Self { keys, ..Self::default() }
    }

    /// Adds output.
    pub fn push(&self, output: &[u8]) {
        let output = &output[output.len().saturating_sub(MAX_TAIL)..];
        let mut bytes = lock(&self.bytes);
        let excess = (bytes.last.len() + output.len()).saturating_sub(MAX_TAIL);
        bytes.is_cut |= excess > 0 || output.len() == MAX_TAIL;
        bytes.last.drain(..excess);
        bytes.last.extend(output);
    }

    /// Returns the last `count` lines that are not empty, sanitised and with keys masked. A line that was overwritten after a
    /// carriage return has its last version.
    pub fn lines(&self, count: usize) -> Vec<String> {
        let (text, is_cut) = {
            let bytes = lock(&self.bytes);
            let (first, second) = bytes.last.as_slices();
            (String::from_utf8_lossy(&[first, second].concat()).into_owned(), bytes.is_cut)
        };
        // The beginning of a cut line may be the rest of a key or of an escape sequence.
        let whole =
            if is_cut { text.split_once(['\n', '\r']).map_or("", |(_, rest)| rest) } else { &text };
        let masked_text = self.keys.text(whole);
        let lines = masked_text.lines().map(|line| {
            let visible = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
            sanitize(visible).trim_end().to_owned()
        });
        let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(count)..].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&str]) -> Vec<String> {
        let tail = OutputTail::default();
        for piece in pieces {
            tail.push(piece.as_bytes());
        }
        tail.lines(3)
    }

    #[test]
    fn returns_the_last_lines_including_the_incomplete_one() {
        assert_eq!(lines(&["one\ntw", "o\n\nthree\nfo"]), ["two", "three", "fo"]);
        assert!(lines(&[]).is_empty());
    }

    #[test]
    fn an_overwritten_line_is_shown_as_it_is_now() {
        assert_eq!(lines(&["a\r\n10 %\r50 %", "\r70 %\r"]), ["a", "70 %"]);
    }

    #[test]
    fn control_sequences_are_removed() {
        assert_eq!(lines(&["\x1b[31mred\x1b[0m\x1b]0;x\x07\n"]), ["red"]);
    }

    #[test]
    fn long_output_loses_its_beginning_and_the_line_that_is_cut() {
        let tail = OutputTail::default();
        tail.push(&b"x".repeat(MAX_TAIL));
        assert!(tail.lines(3).is_empty());
        tail.push(b"\nend");
        assert_eq!(tail.lines(3), ["end"]);
        tail.push(&b"y\n".repeat(MAX_TAIL));
        assert_eq!(tail.lines(3), ["y"; 3]);
    }
}
