//! Changes of files as diffs.

use std::path::Path;
use std::time::Duration;

use anstyle::Style;
use similar::{ChangeTag, DiffOp, TextDiff};
use tenter_base::{excerpt, sanitize, visible};
use tenter_protocol::tool_metadata::{Edit, FileEdit};

use super::code::{CodeLanguage, highlight};
use crate::style::{BAD, FAINT, GOOD, styled};

/// Maximum number of lines of a diff.
const LINES: usize = 40;
/// Maximum number of characters shown of a line.
const LINE_LENGTH: usize = 400;
/// Number of unchanged lines around a change.
const AROUND: usize = 3;
/// Time after which a diff may be longer than necessary.
const TIMEOUT: Duration = Duration::from_millis(200);
/// Ends all styles.
const RESET: &str = "\x1b[0m";
/// The indentation of each line, and its width together with the sign.
const INDENT: &str = "    ";
const MARGIN: usize = 5;
/// The sign of the rest of a line that is too wide.
const CONTINUATION: char = '↪';

/// Returns the diff of an edit of a file whose other lines are unknown, in lines of at most `width` columns.
pub fn render_edit(edit: &FileEdit, width: usize) -> Vec<String> {
    let language = CodeLanguage::from_file(Path::new(&edit.file_path));
    let hunks = edit.edits.iter().flat_map(|one| {
        let first = usize::try_from(one.start_line).unwrap_or(1);
        hunks(&one.old_content, &one.new_content, first, |line, is_deleted| {
            rows(line, width, language.filter(|_| !is_deleted))
        })
    });
    shorten(hunks.collect(), LINES)
}

/// Returns the diff of a changed file with code in `language`, in lines of at most `width` columns.
pub fn render_files(
    before: &str,
    after: &str,
    language: Option<&CodeLanguage>,
    width: usize,
) -> Vec<String> {
    let rows = |line: &str, is_deleted: bool| rows(line, width, language.filter(|_| !is_deleted));
    shorten(hunks(before, after, 1, rows), LINES)
}

/// Returns the diff of a trusted file, of at most `most` lines: lines are not cut, and characters that could forge others are
/// escaped.
pub fn render_trusted(before: &str, after: &str, most: usize) -> Vec<String> {
    shorten(hunks(before, after, 1, |line, _| vec![with_spaces(&visible(line))]), most)
}

/// Returns the text of a file after an edit; `None` if the text before it is not the one that was edited.
pub fn edited(before: &str, edit: &FileEdit) -> Option<String> {
    let first = edit.edits.first()?;
    let is_same =
        |one: &Edit| one.old_content == first.old_content && one.new_content == first.new_content;
    let is_known = !first.old_content.is_empty() && before.contains(&first.old_content);
    let count = if edit.replace_all { usize::MAX } else { 1 };
    let text = || before.replacen(&first.old_content, &first.new_content, count);
    (is_known && edit.edits.iter().all(is_same)).then(text)
}

/// Returns the rows of a line: its indentation is kept, and a wide one continues below.
fn rows(line: &str, width: usize, language: Option<&CodeLanguage>) -> Vec<String> {
    let line = excerpt::chars(&sanitize(line), LINE_LENGTH).into_owned();
    let line = highlight(&with_spaces(&line), language);
    let width = width.saturating_sub(MARGIN).max(MARGIN);
    line.broken(width).iter().map(ToString::to_string).collect()
}

/// Returns the line with tabs as spaces.
fn with_spaces(line: &str) -> String {
    line.replace('\t', "    ")
}

/// Returns the hunks of a diff. `first` is the number of the first line, and `rows` returns the rows that show a line, which may
/// be a deleted one.
fn hunks(
    before: &str,
    after: &str,
    first: usize,
    rows: impl Fn(&str, bool) -> Vec<String>,
) -> Vec<String> {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(before, after);
    let changes_line_ends = before.contains("\r\n") != after.contains("\r\n");
    let changes_last_end = before.ends_with('\n') != after.ends_with('\n') && !before.is_empty();
    let mut lines = Vec::new();
    for group in diff.grouped_ops(AROUND) {
        lines.push(place(&group, first));
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', BAD),
                ChangeTag::Insert => ('+', GOOD),
                ChangeTag::Equal => (' ', Style::new()),
            };
            let line = change.value();
            let line = line.strip_suffix('\n').unwrap_or(line);
            let text = match line.strip_suffix('\r') {
                Some(text) if changes_line_ends => &format!("{text}␍"),
                Some(text) => text,
                None => line,
            };
            let is_deleted = change.tag() == ChangeTag::Delete;
            for (index, row) in rows(text, is_deleted).iter().enumerate() {
                let sign = if index == 0 { sign } else { CONTINUATION };
                // Each colour of code ends the colour of the line.
                let row = row.replace(RESET, &format!("{RESET}{style}"));
                lines.push(format!("{INDENT}{}", styled(style, format!("{sign}{row}"))));
            }
            if changes_last_end && change.missing_newline() {
                lines.push(styled(FAINT, format!("{INDENT}{CONTINUATION}no line end")));
            }
        }
    }
    lines
}

fn place(group: &[DiffOp], first: usize) -> String {
    let start = group.first().map_or(0, |op| op.new_range().start);
    styled(FAINT, format!("{INDENT}@@ line {} @@", start + first.max(1)))
}

fn shorten(mut lines: Vec<String>, most: usize) -> Vec<String> {
    let rest = lines.len().saturating_sub(most);
    if rest > 0 {
        lines.truncate(most);
        lines.push(styled(FAINT, format!("{INDENT}… {rest} more lines")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use tenter_protocol::tool_metadata::Edit;

    use super::*;

    fn plain(lines: &[String]) -> Vec<String> {
        lines.iter().map(|line| strip_str(line).to_string()).collect()
    }

    #[test]
    fn a_changed_file_is_shown_by_its_changes() {
        let lines = render_files("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\n", None, 80);
        let expected =
            ["    @@ line 2 @@", "     b", "     c", "     d", "    -e", "    +E", "     f"];
        assert_eq!(plain(&lines), expected);
        assert!(render_files("same\n", "same\n", None, 80).is_empty());
    }

    #[test]
    fn an_edit_of_a_known_file_is_shown_in_whole_lines() {
        let one = |old: &str, new: &str| Edit {
            old_content: old.into(),
            new_content: new.into(),
            ..Edit::default()
        };
        let edit = FileEdit { edits: vec![one("b", "c")], ..FileEdit::default() };
        assert_eq!(edited("a\n\tb\n", &edit).as_deref(), Some("a\n\tc\n"));
        assert_eq!(edited("a\n", &edit), None);
        let all = FileEdit { edits: vec![one("b", "c"); 2], replace_all: true, ..edit };
        assert_eq!(edited("b\n\tb\n", &all).as_deref(), Some("c\n\tc\n"));
    }

    #[test]
    fn an_edit_of_an_unknown_file_has_its_line_numbers() {
        let one = Edit {
            start_line: 7,
            end_line: 7,
            old_content: "b() {".into(),
            new_content: "c() {\n  x\x1b[2J".into(),
        };
        let lines = render_edit(&FileEdit { edits: vec![one], ..FileEdit::default() }, 80);
        assert_eq!(plain(&lines), ["    @@ line 7 @@", "    -b() {", "    +c() {", "    +  x"]);
    }

    #[test]
    fn indentation_is_kept_and_wide_lines_continue_below() {
        let lines = plain(&render_files("", "\tabcdefgh字\n", None, 16));
        assert_eq!(lines, ["    @@ line 1 @@", "    +    abcdefg", "    ↪h字"]);
    }

    #[test]
    fn changed_line_ends_can_be_seen() {
        let lines = plain(&render_files("a\r\n", "a\n", None, 80));
        assert_eq!(lines[1..], ["    -a␍", "    +a"]);
        let lines = plain(&render_files("a\n", "a", None, 80));
        assert_eq!(lines[1..], ["    -a", "    +a", "    ↪no line end"]);
        let lines = plain(&render_files("a\r\nb\r\n", "a\r\nc\r\n", None, 80));
        assert_eq!(lines[1..], ["     a", "    -b", "    +c"]);
    }

    #[test]
    fn a_long_diff_is_cut() {
        let after = "x\n".repeat(100);
        let lines = plain(&render_files("", &after, None, 80));
        assert_eq!((lines.len(), lines[40].as_str()), (41, "    … 61 more lines"));
    }
}
