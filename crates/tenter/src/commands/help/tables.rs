//! Turns wide tables of Markdown into lists, which a terminal can show.

use std::fmt::Write as _;

use super::wrap::fill;

/// Maximum number of characters in a row of a table; wider tables become lists.
const WIDEST_ROW: usize = 100;

/// `text` with wide tables as lists. It must not contain code blocks.
pub(super) fn with_lists(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let mut table = vec![line];
        while line.starts_with('|')
            && let Some(row) = lines.next_if(|next| next.starts_with('|'))
        {
            table.push(row);
        }
        if line.starts_with('|') && table.iter().any(|row| row.chars().count() > WIDEST_ROW) {
            list(&table, &mut out);
        } else {
            out.push_str(&table.concat());
        }
    }
    out
}

/// Appends the rows of a table as items of a list: the first cell and those in between, with their titles, and below them
/// the last cell.
fn list(table: &[&str], out: &mut String) {
    let titles = cells(table[0]);
    for row in table.iter().skip(2) {
        let cells = cells(row);
        let [name, between @ .., last] = &cells[..] else { continue };
        let mut line = name.clone();
        for (title, cell) in titles.iter().skip(1).zip(between).filter(|(_, cell)| !cell.is_empty())
        {
            let title = if title.is_empty() { String::new() } else { format!("{title}: ") };
            let _ = write!(line, " · {title}{cell}");
        }
        fill(&line, "- ", "  ", out);
        fill(last, "  ", "  ", out);
    }
}

/// The trimmed cells of a row; `\|` is part of a cell.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_matches('|').replace("\\|", "\0");
    row.split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_become_lists() {
        let narrow = "| a | b |\n| --- | --- |\n| 1 | 2 |\n";
        assert_eq!(with_lists(narrow), narrow);
        let long = "x".repeat(100);
        let wide = format!(
            "Text\n\n| Key | Type | |\n| --- | --- | --- |\n| `a\\|b` | text | {long} |\n| c | | d |\nEnd\n"
        );
        let shown = format!("Text\n\n- `a|b` · Type: text\n  {long}\n- c\n  d\nEnd\n");
        assert_eq!(with_lists(&wide), shown);
    }
}
