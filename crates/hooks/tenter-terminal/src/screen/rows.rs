//! Styled text as rows of a terminal.

use unicode_width::UnicodeWidthChar as _;

/// Distance between tab stops.
const TAB: usize = 8;
/// Ends all styles.
const RESET: &str = "\x1b[0m";

/// A part of styled text.
enum RowPart<'t> {
    /// A character, and the number of columns that it takes.
    Character(char, usize),
    /// A sequence that sets or ends styles.
    Style(&'t str),
}

/// Returns the rows of a text that is wrapped at `columns`, at any character. Each row sets its styles and ends them.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    text.lines().flat_map(|line| Wrapping::new(columns).rows_of(line)).collect()
}

/// Returns the beginning of a line, at most `columns` wide. An ellipsis shows that something is missing.
pub(super) fn cut(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return wrap(line, columns.max(1)).into_iter().next().unwrap_or_default();
    }
    let mut rows =
        wrap(line, columns.saturating_sub(1).max(1)).into_iter().take(columns.saturating_sub(1));
    format!("{}…", rows.next().unwrap_or_default())
}

/// Returns the number of columns that a line takes.
pub(super) fn width(line: &str) -> usize {
    parts(line).fold(0, |column, part| match part {
        RowPart::Character('\t', _) => column + TAB - column % TAB,
        RowPart::Character(_, width) => column + width,
        RowPart::Style(_) => column,
    })
}

/// Returns the parts of a line, without other escape sequences and control characters.
fn parts(line: &str) -> impl Iterator<Item = RowPart<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let character = rest.chars().next()?;
            if character == '\x1b' {
                let sequence = sequence(rest);
                rest = &rest[sequence.len()..];
                if sequence.starts_with("\x1b[") && sequence.ends_with('m') {
                    return Some(RowPart::Style(sequence));
                }
                continue;
            }
            rest = &rest[character.len_utf8()..];
            match character.width() {
                Some(width) => return Some(RowPart::Character(character, width)),
                None if character == '\t' => return Some(RowPart::Character(character, TAB)),
                None => {}
            }
        }
    })
}

/// Returns the escape sequence at the beginning of a text.
fn sequence(text: &str) -> &str {
    let Some(parameters) = text.strip_prefix("\x1b[") else { return &text[..1] };
    let end = parameters.find(|c: char| ('\x40'..='\x7e').contains(&c));
    &text[..end.map_or(text.len(), |end| "\x1b[".len() + end + 1)]
}

/// A line that is being wrapped.
struct Wrapping {
    columns: usize,
    rows: Vec<String>,
    row: String,
    column: usize,
    /// The sequences that set the present styles.
    styles: String,
}

impl Wrapping {
    fn new(columns: usize) -> Self {
        let columns = columns.max(1);
        let (row, styles) = (String::new(), String::new());
        Self { columns, rows: Vec::new(), row, column: 0, styles }
    }

    fn rows_of(mut self, line: &str) -> Vec<String> {
        for part in parts(line) {
            match part {
                RowPart::Style(sequence) => self.style(sequence),
                RowPart::Character('\t', _) => {
                    (0..TAB - self.column % TAB).for_each(|_| self.character(' ', 1));
                }
                RowPart::Character(character, width) => self.character(character, width),
            }
        }
        self.end_row();
        self.rows
    }

    fn style(&mut self, sequence: &str) {
        self.row.push_str(sequence);
        if [RESET, "\x1b[m"].contains(&sequence) {
            self.styles.clear();
        } else {
            self.styles.push_str(sequence);
        }
    }

    fn character(&mut self, character: char, width: usize) {
        if self.column + width > self.columns && self.column > 0 {
            self.end_row();
        }
        self.row.push(character);
        self.column += width;
    }

    fn end_row(&mut self) {
        if !self.styles.is_empty() {
            self.row.push_str(RESET);
        }
        self.rows.push(std::mem::replace(&mut self.row, self.styles.clone()));
        self.column = 0;
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wraps_at_any_character_and_counts_wide_ones() {
        assert_eq!(wrap("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrap("abcd\nef", 4), ["abcd", "ef"]);
        assert_eq!(wrap("a字字", 4), ["a字", "字"]);
        assert_eq!(wrap("e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}"]);
        assert_eq!(wrap("a\tb", 20), ["a       b"]);
        assert_eq!(wrap("字", 1), ["字"]);
        assert_eq!(wrap("", 4), [""; 0]);
        assert_eq!(wrap("a\n\nb", 4), ["a", "", "b"]);
    }

    #[test]
    fn each_row_has_its_styles() {
        assert_eq!(wrap("a\x1b[1mbcd\x1b[0me", 2), ["a\x1b[1mb\x1b[0m", "\x1b[1mcd\x1b[0m", "e"]);
    }

    #[test]
    fn other_sequences_are_dropped() {
        assert_eq!(wrap("a\x1b[2Jb\x07c\x1b", 9), ["abc"]);
    }

    #[test]
    fn a_cut_line_ends_with_an_ellipsis() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("字字字", 4), "字…");
        assert_eq!(cut("", 5), "");
        assert_eq!(cut("abc", 1), "…");
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_character_is_lost(text in "(\x1b\\[[01]m|[a-z 字é\n]){0,60}", columns in 2_usize..12) {
            let rows = wrap(&text, columns);
            for row in &rows {
                prop_assert!(width(row) <= columns, "{:?}", row);
            }
            let output: String = rows.iter().map(|row| strip_str(row).to_string()).collect();
            let input = strip_str(&text).to_string().replace('\n', "");
            prop_assert_eq!(output, input);
        }
    }
}
