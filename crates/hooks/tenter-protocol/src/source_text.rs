//! The bytes of a file, and spans in them as an editor counts: by line and character.

use std::ops::Range;

use crate::diagnostic::Span;

/// The byte order mark, in UTF-8.
pub(crate) const BOM: &[u8] = "\u{feff}".as_bytes();

/// The file that diagnostics point into. Ranges are in bytes; a range that ends after the file is cut.
#[derive(Debug, Clone, Copy)]
pub struct SourceText<'a> {
    bytes: &'a [u8],
}

impl<'a> SourceText<'a> {
    /// Wraps the content of a file, which need not be UTF-8.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the whole file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the number of the line that contains `offset`, from 1.
    pub fn line(&self, offset: usize) -> usize {
        let before = &self.bytes[..offset.min(self.bytes.len())];
        before.split(|byte| *byte == b'\n').count()
    }

    /// Returns the text of `range`; empty where it is not UTF-8.
    pub(crate) fn text(&self, range: &Range<usize>) -> &'a str {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Returns the span of `range`, cut at the end of its first line.
    pub fn span(&self, range: &Range<usize>) -> Span {
        let line = self.line_around(range.start);
        let start = range.start.clamp(line.start, line.end);
        let end = range.end.clamp(start, line.end);
        let source = String::from_utf8_lossy(&self.bytes[line.clone()]).into_owned();
        let total = source.chars().count();
        let before = self.characters(line.start..start).min(total);
        let length = self.characters(start..end).min(total - before).max(1);
        Span { line: self.line(start), column: before + 1, length, source }
    }

    /// Returns the line that contains `offset`, without its line ending and without a byte order mark.
    fn line_around(&self, offset: usize) -> Range<usize> {
        let (before, after) = self.bytes.split_at(offset.min(self.bytes.len()));
        let newline = before.iter().rposition(|byte| *byte == b'\n');
        let start = newline.map_or(0, |newline| newline + 1);
        let rest = after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len());
        let line = &self.bytes[start..before.len() + rest];
        let end = start + line.strip_suffix(b"\r").unwrap_or(line).len();
        let bom = if start == 0 && line.starts_with(BOM) { BOM.len() } else { 0 };
        start + bom..end
    }

    fn characters(&self, range: Range<usize>) -> usize {
        String::from_utf8_lossy(&self.bytes[range]).chars().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str, range: Range<usize>) -> (usize, usize, usize, String) {
        let Span { line, column, length, source } = SourceText::new(text.as_bytes()).span(&range);
        (line, column, length, source)
    }

    #[test]
    fn columns_and_lengths_count_characters() {
        assert_eq!(span("a\r\nñé: ü\r\nb", 9..11), (2, 5, 1, "ñé: ü".to_owned()));
    }

    #[test]
    fn a_range_of_several_lines_is_cut_at_the_first() {
        assert_eq!(span("ab\ncd\n", 1..5), (1, 2, 1, "ab".to_owned()));
    }

    #[test]
    fn a_range_after_the_end_of_the_file_is_cut() {
        assert_eq!(span("ab", 7..9), (1, 3, 1, "ab".to_owned()));
        assert_eq!(span("", 0..0), (1, 1, 1, String::new()));
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_shift_a_span() {
        let span = SourceText::new(b"\xff\xfe\nab \xff cd\n").span(&(8..10));
        assert_eq!((span.line, span.column, span.length), (2, 6, 2));
        assert_eq!(span.source, "ab \u{fffd} cd");
    }

    #[test]
    fn a_byte_order_mark_is_not_a_column() {
        assert_eq!(span("\u{feff}---\n", 3..6), (1, 1, 3, "---".to_owned()));
        assert_eq!(span("\u{feff}---\n", 0..0), (1, 1, 1, "---".to_owned()));
    }
}
