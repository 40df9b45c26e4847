//! Computes the output that replaces the live region by another one. Cursor movements are relative.

use std::fmt::Write as _;

use super::rows::width;

/// The terminal shows everything between these at once, if it can.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// Rows of the region never wrap, whatever the terminal thinks of the width of a character.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
/// Erases from the cursor to the end of the screen.
const ERASE_BELOW: &str = "\x1b[J";
/// Erases the cursor's line.
const ERASE_LINE: &str = "\x1b[2K";

/// The live region as it is on the terminal. The cursor is in its last row.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Region {
    /// The rows.
    pub(super) rows: Vec<String>,
    /// Number of columns that the terminal had.
    pub(super) columns: usize,
    /// Number of columns between the cursor and the end of the last row.
    pub(super) cursor_left: usize,
}

impl Region {
    /// Returns the number of rows on a terminal that has `columns` now. Terminals wrap what has become too long for them.
    fn height(&self, columns: usize) -> usize {
        if columns >= self.columns {
            return self.rows.len();
        }
        self.rows.iter().map(|row| width(row).div_ceil(columns.max(1)).max(1)).sum()
    }
}

/// Returns the output that replaces `before` by `lines`, which stay, and by the region `after` below them. Empty if nothing changes.
pub(super) fn replace(before: &Region, lines: &str, after: &Region) -> String {
    if lines.is_empty() && (before == after || before.rows.is_empty() && after.rows.is_empty()) {
        return String::new();
    }
    let has_same_rows = before.rows.len() == after.rows.len() && before.columns == after.columns;
    if lines.is_empty() && has_same_rows {
        let cursor = to_cursor(after);
        return format!("{BEGIN}{NO_WRAP}{}{cursor}{WRAP}{END}", changed_rows(before, after));
    }
    let mut bytes = BEGIN.to_owned();
    if !before.rows.is_empty() {
        bytes.push_str(&to_first_row(before.height(after.columns)));
        bytes.push_str(ERASE_BELOW);
    }
    bytes.push_str(lines);
    if !after.rows.is_empty() {
        let cursor = to_cursor(after);
        let _ = write!(bytes, "{NO_WRAP}{}{cursor}{WRAP}", after.rows.join("\n"));
    }
    bytes + END
}

fn changed_rows(before: &Region, after: &Region) -> String {
    let mut bytes = to_first_row(after.rows.len());
    for (index, (old, new)) in before.rows.iter().zip(&after.rows).enumerate() {
        if index > 0 {
            bytes.push('\n');
        }
        if old != new || index + 1 == after.rows.len() {
            let _ = write!(bytes, "\r{ERASE_LINE}{new}");
        }
    }
    bytes
}

/// Moves the cursor from the end of the last row to its place.
fn to_cursor(region: &Region) -> String {
    match region.cursor_left {
        0 => String::new(),
        left => format!("\x1b[{left}D"),
    }
}

/// Moves the cursor from the last row of a region to the beginning of its first.
fn to_first_row(height: usize) -> String {
    match height.saturating_sub(1) {
        0 => "\r".to_owned(),
        above => format!("\r\x1b[{above}A"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(rows: &[&str], columns: usize) -> Region {
        Region { rows: rows.iter().map(|row| (*row).to_owned()).collect(), columns, cursor_left: 0 }
    }

    #[test]
    fn the_cursor_is_where_the_user_types() {
        let input = Region { cursor_left: 2, ..region(&["> abc"], 20) };
        let begin = "\x1b[?2026h\x1b[?7l> abc\x1b[2D\x1b[?7h\x1b[?2026l";
        assert_eq!(replace(&region(&[], 20), "", &input), begin);
        let region = Region { cursor_left: 1, ..input.clone() };
        let moving = "\x1b[?2026h\x1b[?7l\r\r\x1b[2K> abc\x1b[1D\x1b[?7h\x1b[?2026l";
        assert_eq!(replace(&input, "", &region), moving);
    }

    #[test]
    fn nothing_is_written_if_nothing_changes() {
        let same = region(&["a", "b"], 20);
        assert_eq!(replace(&same, "", &same), "");
    }

    #[test]
    fn lines_are_written_above_the_region() {
        assert_eq!(
            replace(&region(&["a", "b"], 20), "line\n", &region(&["c"], 20)),
            "\x1b[?2026h\r\x1b[1A\x1b[Jline\n\x1b[?7lc\x1b[?7h\x1b[?2026l"
        );
    }

    #[test]
    fn only_changed_rows_are_written() {
        let output = replace(&region(&["a", "b", "c"], 20), "", &region(&["a", "x", "c"], 20));
        assert_eq!(
            output,
            "\x1b[?2026h\x1b[?7l\r\x1b[2A\n\r\x1b[2Kx\n\r\x1b[2Kc\x1b[?7h\x1b[?2026l"
        );
    }

    #[test]
    fn rows_that_a_narrower_terminal_wrapped_are_erased() {
        let before = region(&["123456789012", "ab", ""], 20);
        assert_eq!(replace(&before, "", &region(&[], 5)), "\x1b[?2026h\r\x1b[4A\x1b[J\x1b[?2026l");
    }
}
