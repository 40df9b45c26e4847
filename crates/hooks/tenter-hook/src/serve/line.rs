//! Reads lines of limited length.

use std::io::{self, BufRead, Read as _};

/// Maximum length of a line, in bytes.
pub(super) const MAX_LINE: u64 = 16 << 20;

impl Line {
    /// Returns the length of the text that was read, in bytes.
    pub(super) fn len(&self) -> usize {
        let (Self::Whole(line) | Self::Cut(line)) = self;
        line.len()
    }
}

/// The lines of a stream.
pub(super) struct Lines<R> {
    reader: R,
}

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line within the limit.
    Whole(Vec<u8>),
    /// The beginning of a longer line, whose rest was skipped.
    Cut(Vec<u8>),
}

impl<R: BufRead> Lines<R> {
    /// Creates the lines of `reader`.
    pub(super) fn new(reader: R) -> Self {
        Self { reader }
    }

    /// Reads the next line; `None` at the end, or if the stream cannot be read any more.
    pub(super) fn next(&mut self) -> Option<Line> {
        self.try_next(MAX_LINE).ok().flatten()
    }

    fn try_next(&mut self, limit: u64) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        self.reader.by_ref().take(limit + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Some(Line::Whole(line)));
        }
        if line.len() as u64 <= limit {
            return Ok(Some(Line::Whole(line)));
        }
        self.reader.skip_until(b'\n')?;
        Ok(Some(Line::Cut(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_lines_are_cut_and_the_next_one_is_whole() {
        let text = b"ab\n12345678\n\nabc";
        let mut lines = Lines::new(&text[..]);
        let mut next = || lines.try_next(3).unwrap();
        assert_eq!(next(), Some(Line::Whole(b"ab".to_vec())));
        assert_eq!(next(), Some(Line::Cut(b"1234".to_vec())));
        assert_eq!(next(), Some(Line::Whole(Vec::new())));
        assert_eq!(next(), Some(Line::Whole(b"abc".to_vec())));
        assert_eq!(next(), None);
    }
}
