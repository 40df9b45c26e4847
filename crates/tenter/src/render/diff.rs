//! Changes of files as diffs.

use std::time::Duration;

use anstyle::Style;
use similar::{ChangeTag, DiffOp, TextDiff};
use tenter_protocol::tool_metadata::FileEdit;

use super::cut;
use crate::sanitize::visible;
use crate::ui::{BAD, FAINT, GOOD, styled};

/// Maximum number of lines of a diff.
const LINES: usize = 40;
/// Number of unchanged lines around a change.
const AROUND: usize = 3;
/// Time after which a diff may be longer than necessary.
const TIMEOUT: Duration = Duration::from_millis(200);

/// The diff of an edit.
pub(super) fn of_edit(edit: &FileEdit) -> Vec<String> {
    let hunks = edit.edits.iter().flat_map(|one| {
        let first = usize::try_from(one.start_line).unwrap_or(1);
        hunks(&one.old_content, &one.new_content, first)
    });
    shortened(hunks.collect(), LINES)
}

/// The diff of a replaced file.
pub(crate) fn of_files(before: &str, after: &str) -> Vec<String> {
    shortened(hunks(before, after, 1), LINES)
}

/// The diff of a trusted file, of at most `most` lines: lines are not cut, and characters that could forge others are escaped.
pub(crate) fn of_trusted(before: &str, after: &str, most: usize) -> Vec<String> {
    shortened(hunks_of(before, after, 1, |line| visible(line).into_owned()), most)
}

/// The hunks of a diff. `first` is the number of the first line.
fn hunks(before: &str, after: &str, first: usize) -> Vec<String> {
    hunks_of(before, after, first, cut)
}

/// [`hunks`], with `shown` applied to each line.
fn hunks_of(
    before: &str,
    after: &str,
    first: usize,
    shown: impl Fn(&str) -> String,
) -> Vec<String> {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(before, after);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(AROUND) {
        lines.push(place(&group, first));
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (mark, style) = match change.tag() {
                ChangeTag::Delete => ('-', BAD),
                ChangeTag::Insert => ('+', GOOD),
                ChangeTag::Equal => (' ', Style::new()),
            };
            let line = change.value();
            let text = shown(line.strip_suffix('\n').unwrap_or(line));
            lines.push(format!("    {}", styled(style, format!("{mark}{text}"))));
        }
    }
    lines
}

fn place(group: &[DiffOp], first: usize) -> String {
    let start = group.first().map_or(0, |op| op.new_range().start);
    styled(FAINT, format!("    @@ line {} @@", start + first.max(1)))
}

fn shortened(mut lines: Vec<String>, most: usize) -> Vec<String> {
    let left = lines.len().saturating_sub(most);
    if left > 0 {
        lines.truncate(most);
        lines.push(styled(FAINT, format!("    … {left} more lines")));
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
    fn a_replaced_file_is_shown_by_its_changes() {
        let lines = of_files("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\n");
        let shown =
            ["    @@ line 2 @@", "     b", "     c", "     d", "    -e", "    +E", "     f"];
        assert_eq!(plain(&lines), shown);
        assert!(of_files("same\n", "same\n").is_empty());
    }

    #[test]
    fn an_edit_has_its_line_numbers_in_the_file() {
        let one = Edit {
            start_line: 7,
            end_line: 7,
            old_content: "b() {".into(),
            new_content: "c() {\n  x\x1b[2J".into(),
        };
        let lines = of_edit(&FileEdit { edits: vec![one], ..FileEdit::default() });
        assert_eq!(plain(&lines), ["    @@ line 7 @@", "    -b() {", "    +c() {", "    +  x"]);
    }

    #[test]
    fn a_long_diff_is_cut() {
        let after = "x\n".repeat(100);
        let lines = plain(&of_files("", &after));
        assert_eq!((lines.len(), lines[40].as_str()), (41, "    … 61 more lines"));
    }
}
