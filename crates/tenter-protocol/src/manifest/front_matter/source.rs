//! The text of a file, and the places in it. It knows nothing of YAML.

use std::ops::Range;

use super::split::BOM;
use crate::diagnostic::Place;

/// The file that findings are about. Ranges count its bytes; one that goes beyond the file ends with it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    bytes: &'a [u8],
}

impl<'a> Source<'a> {
    /// The text of a file, which need not be UTF-8.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The number of the line in which `offset` lies, from 1.
    pub fn line(&self, offset: usize) -> usize {
        let before = &self.bytes[..offset.min(self.bytes.len())];
        before.split(|byte| *byte == b'\n').count()
    }

    /// The text of `range`; none where it is not UTF-8.
    pub(super) fn text(&self, range: &Range<usize>) -> &'a str {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// The place of `range`; what goes beyond its first line is left out.
    pub fn place(&self, range: &Range<usize>) -> Place {
        let line = self.line_around(range.start);
        let start = range.start.clamp(line.start, line.end);
        let end = range.end.clamp(start, line.end);
        let source = String::from_utf8_lossy(&self.bytes[line.clone()]).into_owned();
        let whole = source.chars().count();
        let before = self.characters(line.start..start).min(whole);
        let length = self.characters(start..end).min(whole - before).max(1);
        Place { line: self.line(start), column: before + 1, length, source }
    }

    /// The line in which `offset` lies, without its end and without a byte order mark.
    fn line_around(&self, offset: usize) -> Range<usize> {
        let (before, after) = self.bytes.split_at(offset.min(self.bytes.len()));
        let newline = before.iter().rposition(|byte| *byte == b'\n');
        let start = newline.map_or(0, |newline| newline + 1);
        let rest = after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len());
        let line = &self.bytes[start..before.len() + rest];
        let end = start + line.strip_suffix(b"\r").unwrap_or(line).len();
        let mark = if start == 0 && line.starts_with(BOM) { BOM.len() } else { 0 };
        start + mark..end
    }

    fn characters(&self, range: Range<usize>) -> usize {
        String::from_utf8_lossy(&self.bytes[range]).chars().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, range: Range<usize>) -> (usize, usize, usize, String) {
        let Place { line, column, length, source } = Source::new(text.as_bytes()).place(&range);
        (line, column, length, source)
    }

    #[test]
    fn columns_and_lengths_count_characters() {
        assert_eq!(place("a\r\nñé: ü\r\nb", 9..11), (2, 5, 1, "ñé: ü".to_owned()));
    }

    #[test]
    fn what_spans_lines_is_marked_on_its_first() {
        assert_eq!(place("ab\ncd\n", 1..5), (1, 2, 1, "ab".to_owned()));
    }

    #[test]
    fn nothing_lies_outside_the_file() {
        assert_eq!(place("ab", 7..9), (1, 3, 1, "ab".to_owned()));
        assert_eq!(place("", 0..0), (1, 1, 1, String::new()));
    }

    #[test]
    fn bytes_that_are_no_text_do_not_shift_a_place() {
        let place = Source::new(b"\xff\xfe\nab \xff cd\n").place(&(8..10));
        assert_eq!((place.line, place.column, place.length), (2, 6, 2));
        assert_eq!(place.source, "ab \u{fffd} cd");
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        assert_eq!(place("\u{feff}---\n", 3..6), (1, 1, 3, "---".to_owned()));
        assert_eq!(place("\u{feff}---\n", 0..0), (1, 1, 1, "---".to_owned()));
    }
}
