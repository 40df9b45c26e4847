//! Completes the incomplete end of a text, so that it can be rendered before the rest arrives: opened marks are closed, and marks
//! whose meaning is not known yet are left out.

use super::line_start::{Fence, begins_item, is_heading};

/// Maximum number of bytes that are rendered while a block grows. Only its end is on the screen.
const MAX_LENGTH: usize = 16 * 1024;
/// Maximum number of nested marks that are closed.
const MAX_DEPTH: usize = 16;
/// Characters that mean nothing yet if a line consists of them: they may begin an item, a heading, a rule or a row.
const MARKS: &str = "-=*_#`~+|>:[]!\\<";
/// Characters that mean nothing yet at the end of a line.
const LAST_MARKS: &str = "*_~`[!\\<";

/// Returns the lines of the open block and the incomplete line after them, as if the text ended there.
pub(super) fn closed(block: &str, line: &str) -> (String, String) {
    let (mut block, line) = (recent_lines(block), without_open_marks(recent_words(line)));
    if is_head_of_table(&block, line) {
        let head = format!("{block}{line}");
        let (row, cells) = (head.trim_end(), cells(&head));
        let marks = closing_marks(last_cell(row));
        return (format!("{row}{marks}\n|{}\n", "-|".repeat(cells)), String::new());
    }
    let marks = missing_marks(&block, line);
    if !line.is_empty() {
        return (block, format!("{line}{marks}"));
    }
    block.insert_str(block.trim_end().len(), &marks);
    (block, String::new())
}

/// Returns the last lines of a long block. A table keeps its head.
fn recent_lines(block: &str) -> String {
    if block.len() <= MAX_LENGTH {
        return block.to_owned();
    }
    let is_table = block.starts_with('|');
    let mut head: Vec<&str> = block.split_inclusive('\n').take(2).filter(|_| is_table).collect();
    let tail = &block[block.ceil_char_boundary(block.len() - MAX_LENGTH)..];
    head.push(tail.split_once('\n').map_or(tail, |(_, lines)| lines));
    head.concat()
}

/// Returns the last words of a long line.
fn recent_words(line: &str) -> &str {
    if line.len() <= MAX_LENGTH {
        return line;
    }
    let tail = &line[line.ceil_char_boundary(line.len() - MAX_LENGTH)..];
    tail.split_once(' ').map_or(tail, |(_, words)| words)
}

/// Returns the line without marks at its end whose meaning depends on what follows.
fn without_open_marks(line: &str) -> &str {
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || LAST_MARKS.contains(c));
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = rest.len() < line.len() && matches!(rest, "" | "." | ")");
    let is_open = is_number || line.chars().all(|c| c.is_whitespace() || MARKS.contains(c));
    if is_open && Fence::read(line).is_none() { "" } else { line }
}

/// Checks whether this is only the first row of a table, and the row that makes it a table does not follow yet.
fn is_head_of_table(block: &str, line: &str) -> bool {
    let rows = if block.is_empty() { line } else { block };
    rows.starts_with('|') && rows.lines().count() == 1 && (block.is_empty() || line.is_empty())
}

/// Returns the number of cells in a row of a table.
fn cells(row: &str) -> usize {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row).replace("\\|", "");
    row.split('|').count()
}

/// Returns the marks that close what is open at the end of the text.
fn missing_marks(block: &str, line: &str) -> String {
    if Fence::read(line).is_some() {
        return String::new();
    }
    let Some(start) = last_paragraph(block) else { return String::new() };
    if begins_paragraph(line) {
        return closing_marks(last_cell(line));
    }
    closing_marks(last_cell(&format!("{}{line}", &block[start..])))
}

/// Returns the start of the last paragraph of a block; `None` if code is open.
fn last_paragraph(block: &str) -> Option<usize> {
    let (mut start, mut end, mut open) = (0, 0, None::<Fence>);
    for line in block.split_inclusive('\n') {
        let text = line.trim();
        end += line.len();
        if let Some(fence) = open {
            open = Some(fence).filter(|fence| !fence.is_closed_by(text));
            start = end;
        } else if let Some((fence, _)) = Fence::read(text) {
            open = Some(fence);
        } else if text.is_empty() {
            start = end;
        } else if begins_paragraph(text) {
            start = end - line.len();
        }
    }
    open.is_none().then_some(start)
}

fn begins_paragraph(line: &str) -> bool {
    let line = line.trim_start();
    begins_item(line) || is_heading(line) || line.starts_with('|')
}

/// Returns the last cell of a row of a table; other text as it is.
fn last_cell(text: &str) -> &str {
    if text.trim_start().starts_with('|') {
        text.trim_end().rsplit('|').next().unwrap_or_default()
    } else {
        text
    }
}

/// Returns the marks that close the code, the link and the emphasis that are open at the end of a text.
fn closing_marks(text: &str) -> String {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(mark) = rest.chars().next() {
        let mut length = mark.len_utf8();
        match mark {
            '\\' => length += rest[length..].chars().next().map_or(0, char::len_utf8),
            '`' => {
                length = run_length(rest);
                match end_of_code(&rest[length..], length) {
                    Some(end) => length += end,
                    None => {
                        return [&rest[..length]]
                            .into_iter()
                            .chain(open.into_iter().rev())
                            .collect();
                    }
                }
            }
            ']' if rest.starts_with("](") => match rest.find(')') {
                Some(end) => length = end,
                None => return [")"].into_iter().chain(open.into_iter().rev()).collect(),
            },
            '*' | '_' | '~' => {
                length = run_length(rest);
                let (run, after) = rest.split_at(length);
                see_emphasis(run, before, after.chars().next(), &mut open);
            }
            _ => {}
        }
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
    open.into_iter().rev().collect()
}

/// Returns the number of times that a text repeats its first character, which is ASCII.
fn run_length(text: &str) -> usize {
    text.bytes().take_while(|byte| text.as_bytes().first() == Some(byte)).count()
}

/// Returns the end of the code that a run of `length` backquotes opened; `None` if it is open.
fn end_of_code(text: &str, length: usize) -> Option<usize> {
    let mut end = 0;
    while let Some(start) = text[end..].find('`') {
        let rest = &text[end + start..];
        let run = run_length(rest);
        end += start + run;
        if run == length {
            return Some(end);
        }
    }
    None
}

/// Closes or opens emphasis at a run of marks between two characters.
fn see_emphasis<'t>(run: &'t str, before: char, after: Option<char>, open: &mut Vec<&'t str>) {
    let mut length = run.len();
    while length > 0
        && !before.is_whitespace()
        && let Some(at) =
            open.iter().rposition(|mark| mark[..1] == run[..1] && mark.len() <= length)
    {
        length -= open[at].len();
        open.truncate(at);
    }
    let opens = after.is_some_and(|after| !after.is_whitespace()) && !before.is_alphanumeric();
    let is_mark = |length: usize| !run.starts_with('~') || length == 2;
    while length > 0 && opens && open.len() < MAX_DEPTH && is_mark(length.min(2)) {
        open.push(&run[..length.min(2)]);
        length -= length.min(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opened_marks_are_closed() {
        for (line, marks) in [
            ("a **b", "**"),
            ("a **b *c", "***"),
            ("a ***b", "***"),
            ("a **b** *c* ~~d", "~~"),
            ("run `ls -l", "`"),
            ("**run `ls", "`**"),
            ("``a ` b", "``"),
            ("see [it](https://a.b", ")"),
            ("**see [it](https://a.b", ")**"),
            ("snake_case and 2 * 3 and 2*3", ""),
            ("\\*a", ""),
            ("`**` done", ""),
            ("- *a", "*"),
            ("~a", ""),
        ] {
            assert_eq!(closed("", &format!("{line} ")).1, format!("{line}{marks}"), "{line}");
        }
    }

    #[test]
    fn marks_without_a_meaning_yet_are_left_out() {
        for (line, shown) in [
            ("-", ""),
            ("2.", ""),
            ("##", ""),
            ("> ", ""),
            ("- [ ]", ""),
            ("- **", ""),
            ("a **", "a"),
            ("a **b*", "a **b**"),
            ("a **b**", "a **b**"),
            ("see [", "see"),
            ("1990 was", "1990 was"),
            ("a\\", "a"),
        ] {
            assert_eq!(closed("", line).1, shown, "{line}");
        }
    }

    #[test]
    fn marks_of_earlier_lines_and_paragraphs() {
        assert_eq!(closed("a **b\n", "c").1, "c**");
        assert_eq!(closed("a **b\n", "").0, "a **b**\n");
        assert_eq!(closed("- a **b\n\n", "  c").1, "  c");
        assert_eq!(closed("- a *b\n", "- c").1, "- c");
        assert_eq!(closed("- a\n  ```\n", "  *c").1, "  *c");
        assert_eq!(closed("- a\n  ```\n  x\n  ```\n", "  *c").1, "  *c*");
    }

    #[test]
    fn the_first_row_of_a_table_is_a_table() {
        assert_eq!(closed("", "| a | **b").0, "| a | **b**\n|-|-|\n");
        assert_eq!(closed("| a | b |\n", "|--").0, "| a | b |\n|-|-|\n");
        assert_eq!(closed("| a | b |\n|--|--|\n", "| c").1, "| c");
    }

    #[test]
    fn of_a_long_block_only_the_end_is_rendered() {
        let rows = "| row |\n".repeat(10_000);
        let (block, _) = closed(&format!("| head |\n|--|\n{rows}"), "");
        assert!(block.starts_with("| head |\n|--|\n| row |\n") && block.len() < 2 * MAX_LENGTH);
        let (_, line) = closed("", &"word ".repeat(10_000));
        assert!(line.starts_with("word word") && line.len() <= MAX_LENGTH);
    }
}
