//! A page of `docs/` as it is read in a terminal: without the comments for tests, without links, which are useless there, and
//! with wide tables as lists. The topics that it links to are listed at its end.

use std::fmt::Write as _;

use super::topics::Topic;

/// Maximum number of characters in a row of a table; wider tables become lists.
const WIDEST_ROW: usize = 100;

/// The page's Markdown for a terminal.
pub(super) fn of_terminal(page: &str, topics: &[Topic]) -> String {
    let mut text = String::new();
    let mut linked: Vec<&str> = Vec::new();
    for (index, part) in page.split("\n```").enumerate() {
        // Every second part is the inside of a code block.
        if index % 2 == 1 {
            text.push_str("\n```");
            text.push_str(part);
        } else {
            text.push_str(if index == 0 { "" } else { "\n```" });
            let part = with_lists(&without_comments(part));
            without_links(&part, &mut text, |target| {
                let file = target.split_once(".md").map_or("", |(file, _)| file);
                if let Some(topic) = topics.iter().find(|topic| topic.file == file)
                    && !linked.contains(&topic.name)
                {
                    linked.push(topic.name);
                }
            });
        }
    }
    if !linked.is_empty() {
        let linked: Vec<String> =
            linked.iter().map(|name| format!("`tenter help {name}`")).collect();
        let _ = write!(text, "\n## See also\n\n{}\n", linked.join(", "));
    }
    text
}

/// `text` without HTML comments and the line ends after them.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.split_once("-->").map_or("", |(_, after)| after);
        kept.push_str(after.strip_prefix('\n').unwrap_or(after));
    }
    kept
}

/// `text` with wide tables as lists.
fn with_lists(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let mut table = vec![line];
        while line.starts_with('|')
            && let Some(row) = lines.next_if(|next| next.starts_with('|'))
        {
            table.push(row);
        }
        if table.iter().any(|row| line.starts_with('|') && row.chars().count() > WIDEST_ROW) {
            list(&table, &mut out);
        } else {
            out.push_str(&table.concat());
        }
    }
    out
}

/// Appends the rows of a table as items of a list: the first cell, those in between with their titles, and the last.
fn list(table: &[&str], out: &mut String) {
    let titles = cells(table[0]);
    for row in table.iter().skip(2) {
        let cells = cells(row);
        let Some(((name, between), last)) = cells.split_first().and_then(|(name, rest)| {
            rest.split_last().map(|(last, between)| ((name, between), last))
        }) else {
            continue;
        };
        let _ = write!(out, "- {name}");
        for (title, cell) in titles.iter().skip(1).zip(between).filter(|(_, cell)| !cell.is_empty())
        {
            let title = if title.is_empty() { String::new() } else { format!("{title}: ") };
            let _ = write!(out, " · {title}{cell}");
        }
        let _ = writeln!(out, "\n  {last}");
    }
}

/// The trimmed cells of a row; `\|` is part of a cell.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_matches('|').replace("\\|", "\0");
    row.split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// Appends `text` to `out` with relative links replaced by their texts, and calls `see` with their targets.
fn without_links(text: &str, out: &mut String, mut see: impl FnMut(&str)) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (target, behind) = after.split_once(')').unwrap_or((after, ""));
        match before.rsplit_once('[') {
            Some((before, label)) if !target.contains("://") => {
                out.push_str(before);
                out.push_str(label);
                see(target);
            }
            _ => {
                out.push_str(before);
                let _ = write!(out, "]({target})");
            }
        }
        rest = behind;
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::help::topics::TOPICS;

    #[test]
    fn comments_and_links_are_removed_and_linked_topics_are_listed() {
        let page = "See [trust](trust.md#files),\n[here](#a), [`x`\ny](trust.md) and [a](https://b.c).\n\n<!-- test: \
                    file x\nneeds: y -->\n```sh\n[a](b) <!-- c -->\n```\nEnd, [see](models.md).\n";
        let shown = "See trust,\nhere, `x`\ny and [a](https://b.c).\n\n\n```sh\n[a](b) <!-- c -->\n```\nEnd, see.\n\n\
                     ## See also\n\n`tenter help trust`, `tenter help models`\n";
        assert_eq!(of_terminal(page, TOPICS), shown);
    }

    #[test]
    fn wide_tables_become_lists() {
        let narrow = "| a | b |\n| --- | --- |\n| 1 | 2 |\n";
        assert_eq!(of_terminal(narrow, &[]), narrow);
        let long = "x".repeat(100);
        let wide = format!(
            "Text\n\n| Key | Type | |\n| --- | --- | --- |\n| `a\\|b` | text | {long} |\n| c | | d |\nEnd\n"
        );
        let shown = format!("Text\n\n- `a|b` · Type: text\n  {long}\n- c\n  d\nEnd\n");
        assert_eq!(of_terminal(&wide, &[]), shown);
    }

    #[test]
    fn a_comment_or_a_link_without_an_end_is_no_error() {
        assert_eq!(of_terminal("a <!-- b", &[]), "a ");
        assert_eq!(of_terminal("[a](b", &[]), "a");
        assert_eq!(of_terminal("a](b)", &[]), "a](b)");
    }

    #[test]
    fn every_page_has_a_title() {
        for topic in TOPICS {
            assert!(topic.page.starts_with("# "), "{}", topic.file);
        }
    }
}
