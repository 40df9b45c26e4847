//! Wraps the paragraphs and list items of Markdown for a terminal. Tables and headings stay as they are.

/// Maximum number of columns of a line, unless a word is longer.
const WIDTH: usize = 80;

/// `text` with wrapped paragraphs and list items. It must not contain code blocks.
pub(super) fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut paragraph = Paragraph::default();
    for line in text.lines() {
        let is_item = item_marker(line).is_some();
        if is_item || line.trim().is_empty() || line.starts_with(['#', '|']) {
            paragraph.flush(&mut out);
        }
        if let Some((marker, rest)) = item_marker(line) {
            marker.clone_into(&mut paragraph.marker);
            rest.clone_into(&mut paragraph.text);
        } else if line.trim().is_empty() || line.starts_with(['#', '|']) {
            out.push_str(line);
            out.push('\n');
        } else {
            paragraph.text.push(' ');
            paragraph.text.push_str(line);
        }
    }
    paragraph.flush(&mut out);
    if !text.ends_with('\n') {
        out.pop();
    }
    out
}

/// Appends the words of `text` in lines, the first one after `first` and the others after `rest`. Code is not broken: a line end
/// in it would be shown as a space.
pub(super) fn fill(text: &str, first: &str, rest: &str, out: &mut String) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in unbreakable(text) {
        let width = line.chars().count() + 1 + word.chars().count();
        if !is_empty && width > WIDTH && !begins_a_block(&word) {
            out.push_str(&line);
            out.push('\n');
            rest.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    out.push_str(&line);
    out.push('\n');
}

/// The words of `text`. Words that contain parts of the same code are one.
fn unbreakable(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut code = None;
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if code.is_some() => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        code = code_after(word, code);
    }
    words
}

/// The number of backquotes that close the code in which `word` ends, given those of the code in which it begins.
fn code_after(word: &str, code: Option<usize>) -> Option<usize> {
    let runs = word.split(|char| char != '`').map(str::len).filter(|length| *length > 0);
    runs.fold(code, |code, length| match code {
        None => Some(length),
        Some(opened) if opened == length => None,
        opened => opened,
    })
}

/// A paragraph or a list item.
#[derive(Default)]
struct Paragraph {
    /// The marker of an item with the space around it; empty in a paragraph.
    marker: String,
    text: String,
}

impl Paragraph {
    fn flush(&mut self, out: &mut String) {
        let Self { marker, text } = std::mem::take(self);
        if !text.trim().is_empty() {
            fill(&text, &marker, &" ".repeat(marker.chars().count()), out);
        }
    }
}

/// The marker of a list item with the space around it, and the rest of the line.
fn item_marker(line: &str) -> Option<(&str, &str)> {
    let (marker, rest) = line.trim_start().split_once(' ')?;
    let is_number = marker.strip_suffix('.').is_some_and(|digits| digits.parse::<u8>().is_ok());
    (marker == "-" || is_number).then(|| (&line[..line.len() - rest.len()], rest))
}

/// Whether a line that begins with this word is no longer part of its paragraph.
fn begins_a_block(word: &str) -> bool {
    let number = word.trim_end_matches(['.', ')']);
    matches!(word, "-" | "+" | "*")
        || word.starts_with(['#', '>', '|'])
        || number.len() < word.len() && number.parse::<u64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_items_are_wrapped() {
        let long = "word ".repeat(17);
        let text = format!("# {long}\n\n{long}\nmore\n\n- one\n  {long}\n12. two\n\n| {long} |\n");
        let words = |count| ["word"].repeat(count).join(" ");
        let shown = format!(
            "# {long}\n\n{}\n{} more\n\n- one {}\n  {}\n12. two\n\n| {long} |\n",
            words(16),
            words(1),
            words(15),
            words(2)
        );
        assert_eq!(wrapped(&text), shown);
    }

    #[test]
    fn the_end_of_the_text_and_empty_lines_are_kept() {
        for text in ["", "\n", "\n\na", "a\n\n\nb\n"] {
            assert_eq!(wrapped(text), text);
        }
    }

    #[test]
    fn no_line_begins_a_block() {
        let long = "x".repeat(78);
        for word in ["-", "#1", "3.", "2)", ">"] {
            assert_eq!(wrapped(&format!("{long} {word} y")), format!("{long} {word}\ny"));
        }
    }

    #[test]
    fn code_is_not_broken() {
        let long = "x".repeat(78);
        assert_eq!(wrapped(&format!("{long} (`a b`) c")), format!("{long}\n(`a b`) c"));
        assert_eq!(wrapped(&format!("{long} (` ``` `) c")), format!("{long}\n(` ``` `) c"));
    }
}
