//! Renders streamed Markdown for a terminal. Text arrives in pieces of any size, and each block is returned once, when it is
//! complete. Code is returned line by line, because code blocks are long.
//!
//! Only complete lines decide where a block ends, so the result does not depend on how the text was split. What Markdown would
//! hide (HTML, the targets of links) is shown, and no control character reaches the terminal.

mod block;

use crate::sanitize::sanitize;
use block::{code_line, language_line, render};

/// A renderer for one text.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    /// The incomplete last line.
    line: String,
    /// The lines of the incomplete last block.
    block: String,
    open: Open,
    /// Whether anything was returned.
    begun: bool,
    /// Whether an empty line precedes the next block.
    gap: bool,
}

/// The kind of the incomplete last block.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// No block is open.
    #[default]
    Nothing,
    /// A block that an empty line ends.
    Text,
    /// An item of a list, which continues after an empty line if the next line is indented.
    Item {
        /// Whether the last line was empty.
        blank: bool,
    },
    /// Code, returned line by line.
    Code(Fence),
}

/// The first line of a code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Markdown {
    /// Appends a piece of text and returns the blocks that it completed, styled.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        let mut lines = piece.split('\n');
        self.line.push_str(lines.next().unwrap_or_default());
        for begun in lines {
            self.end_line(&mut out);
            self.line.push_str(begun);
        }
        out
    }

    /// Returns the rest and resets the renderer.
    pub(crate) fn finish(&mut self) -> String {
        let mut out = String::new();
        if !self.line.is_empty() {
            self.end_line(&mut out);
        }
        self.flush(&mut out);
        self.discard();
        out
    }

    /// Drops everything that was not returned yet.
    pub(crate) fn discard(&mut self) {
        *self = Self::default();
    }

    fn end_line(&mut self, out: &mut String) {
        let line = std::mem::take(&mut self.line);
        let line = sanitize(line.strip_suffix('\r').unwrap_or(&line));
        match self.open {
            Open::Code(fence) if fence.is_closed_by(&line) => self.open = Open::Nothing,
            Open::Code(fence) => out.push_str(&code_line(fence.without_indent(&line))),
            _ if line.trim().is_empty() => self.empty_line(out),
            Open::Item { blank } if is_indented(&line) => {
                self.block.push_str(if blank { "\n" } else { "" });
                self.add(&line, Open::Item { blank: false });
            }
            Open::Item { blank: true } => {
                self.flush(out);
                self.gap = true;
                self.begin_or_continue(&line, out);
            }
            _ => self.begin_or_continue(&line, out),
        }
    }

    fn empty_line(&mut self, out: &mut String) {
        if let Open::Item { blank } = &mut self.open {
            *blank = true;
            return;
        }
        self.flush(out);
        self.gap = true;
    }

    /// Handles a line that begins a block or continues the open one.
    fn begin_or_continue(&mut self, line: &str, out: &mut String) {
        if let Some((fence, language)) = Fence::read(line) {
            self.flush(out);
            self.emit(&language_line(language), out);
            self.open = Open::Code(fence);
        } else if is_heading(line) {
            self.flush(out);
            self.add(line, Open::Text);
            self.flush(out);
        } else if begins_item(line) {
            self.flush(out);
            self.add(line, Open::Item { blank: false });
        } else if self.open == Open::Nothing || is_rule(line) && self.open != Open::Text {
            self.flush(out);
            self.add(line, Open::Text);
        } else {
            self.add(line, self.open);
        }
    }

    fn add(&mut self, line: &str, open: Open) {
        self.block.push_str(line);
        self.block.push('\n');
        self.open = open;
    }

    /// Renders the open block, which is complete.
    fn flush(&mut self, out: &mut String) {
        let block = std::mem::take(&mut self.block);
        if !block.is_empty() {
            self.emit(&render(&block), out);
        }
        self.open = Open::Nothing;
    }

    /// Appends rendered text, after an empty line if the text had any.
    fn emit(&mut self, rendered: &str, out: &mut String) {
        if std::mem::take(&mut self.gap) && self.begun {
            out.push('\n');
        }
        out.push_str(rendered);
        self.begun = true;
    }
}

impl Fence {
    /// The fence in a line, and its language; `None` if the line is no fence.
    fn read(line: &str) -> Option<(Self, &str)> {
        let rest = line.trim_start_matches(' ');
        let mark = rest.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
        let language = rest.trim_start_matches(mark);
        let (length, indent) = (rest.len() - language.len(), line.len() - rest.len());
        let is_inline = mark == '`' && language.contains('`');
        let fence = Self { mark, length, indent };
        (length >= 3 && indent <= 3 && !is_inline).then_some((fence, language.trim()))
    }

    fn is_closed_by(self, line: &str) -> bool {
        Self::read(line).is_some_and(|(fence, language)| {
            fence.mark == self.mark && fence.length >= self.length && language.is_empty()
        })
    }

    fn without_indent(self, line: &str) -> &str {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        &line[spaces.min(self.indent)..]
    }
}

fn is_indented(line: &str) -> bool {
    line.starts_with("  ") || line.starts_with('\t')
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && (rest.is_empty() || rest.starts_with(' '))
}

fn begins_item(line: &str) -> bool {
    let rest = line.trim_start_matches(' ');
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = match (digits, &rest[digits..]) {
        (0, rest) => rest.strip_prefix(['-', '*', '+']),
        (1..=9, rest) => rest.strip_prefix(['.', ')']),
        _ => None,
    };
    line.len() - rest.len() <= 3
        && !is_rule(line)
        && after.is_some_and(|after| after.starts_with(' '))
}

/// Whether the line is `---` or similar. Right below a text it makes that a heading.
fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| *c != ' ');
    let Some(first @ ('-' | '*' | '_')) = marks.next() else { return false };
    let mut more = 0;
    marks.all(|mark| {
        more += 1;
        mark == first
    }) && more >= 2
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> String {
        let mut markdown = Markdown::default();
        markdown.push(text) + &markdown.finish()
    }

    fn plain(text: &str) -> String {
        strip_str(&whole(text)).to_string()
    }

    #[test]
    fn each_block_is_returned_once_when_it_is_complete() {
        let mut markdown = Markdown::default();
        assert_eq!(markdown.push("One **bo"), "");
        assert_eq!(markdown.push("ld** word\n"), "");
        assert_eq!(
            strip_str(&markdown.push("\n# Head\n")).to_string(),
            "One bold word\n\n# Head\n"
        );
        assert_eq!(markdown.push("rest"), "");
        assert_eq!(markdown.finish(), "rest\n");
        assert_eq!(markdown.finish(), "");
    }

    #[test]
    fn code_is_returned_line_by_line() {
        let mut markdown = Markdown::default();
        assert_eq!(
            strip_str(&markdown.push("```rust\nfn a() {}\n  // #")).to_string(),
            "  rust\n    fn a() {}\n"
        );
        assert_eq!(strip_str(&markdown.push(" x\n```\nafter")).to_string(), "      // # x\n");
        assert_eq!(markdown.finish(), "after\n");
    }

    #[test]
    fn discarded_text_leaves_nothing() {
        let mut markdown = Markdown::default();
        markdown.push("- half an it");
        markdown.discard();
        assert_eq!(markdown.finish(), "");
    }

    #[test]
    fn lists_keep_order_levels_and_code() {
        let text =
            "1. one\n2. two\n   - inner\n     more\n\n   ```sh\n   ls\n   ```\n3. three\n\nafter\n";
        let shown =
            "1. one\n2. two\n   • inner\n     more\n     sh\n       ls\n3. three\n\nafter\n";
        assert_eq!(plain(text), shown);
    }

    #[test]
    fn renders_quotes_rules_tables_and_links() {
        assert_eq!(plain("> said *so*\n> twice\n"), "│ said so\n│ twice\n");
        assert_eq!(plain("a\n\n---\n\nb"), format!("a\n\n{}\n\nb\n", "─".repeat(24)));
        assert_eq!(plain("Title\n---\nb"), "## Title\n\nb\n");
        assert_eq!(
            plain("| name | n |\n|:--|--:|\n| `x` | 1 |\n| **long** | 22 |\n"),
            "name │  n\n─────┼───\n`x`  │  1\nlong │ 22\n"
        );
        assert_eq!(
            plain("See [here](https://a.b/c) or <https://d.e>."),
            "See here (https://a.b/c) or https://d.e.\n"
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(
            plain("| 名前 | n |\n|--|--|\n| Ada | 1 |\n| 👩‍🚀 | 2 |\n"),
            "名前 │ n\n─────┼──\nAda  │ 1\n👩‍🚀   │ 2\n"
        );
        let long = "字".repeat(70_000);
        assert!(plain(&format!("| a | b |\n|--|--|\n| {long} | 1 |\n")).contains(&long));
    }

    #[test]
    fn hidden_parts_are_shown() {
        assert_eq!(plain("[1]: https://a.b\n"), "[1]: https://a.b\n");
        assert_eq!(plain("a Vec<String> and <br>\n"), "a Vec<String> and <br>\n");
        assert_eq!(plain("<!-- note -->\n"), "<!-- note -->\n");
        assert_eq!(plain("![cat](c.png)"), "cat (c.png)\n");
    }

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(plain("a\x1b[31mb"), "ab\n");
        assert_eq!(plain("a &#27;[31m b"), "a [31m b\n");
        assert_eq!(plain("```\x1b]0;x\x07\n\x1b[2J\n"), "    \n");
        assert_eq!(plain("[x](<a&#27;[2Jb>)"), "x (ab)\n");
    }

    /// Text with many marks of Markdown.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("\n"),
            Just("\n\n"),
            Just("- "),
            Just("1. "),
            Just("  "),
            Just("```"),
            Just("~~~ x"),
            Just("**"),
            Just("*"),
            Just("`"),
            Just("# "),
            Just("> "),
            Just("|"),
            Just("|--|\n"),
            Just("---"),
            Just("["),
            Just("](u)"),
            Just("<b>"),
            Just("\r\n"),
            Just("\r"),
            Just("\t"),
            Just("\x1b[1m"),
            Just("\x1b"),
            Just("&#27;"),
            Just("\u{202e}"),
            Just("é"),
            Just("word "),
            Just("[1]: u"),
            Just("![")
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn the_result_does_not_depend_on_the_pieces(text in text(), cuts in proptest::collection::vec(1_usize..7, 1..20)) {
            let mut markdown = Markdown::default();
            let mut shown = String::new();
            let mut rest = text.as_str();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at(rest.ceil_char_boundary((*cut).min(rest.len())));
                shown.push_str(&markdown.push(piece));
                rest = after;
            }
            shown.push_str(&markdown.finish());
            prop_assert_eq!(shown, whole(&text));
        }

        #[test]
        fn only_styles_contain_control_characters(text in prop_oneof![text(), any::<String>()]) {
            let shown = plain(&text);
            let safe = |c: char| c == '\n' || c == '\t' || !c.is_control();
            prop_assert!(shown.chars().all(safe), "{:?}", shown);
        }

        #[test]
        fn no_word_is_lost(words in proptest::collection::vec("[a-z]{3,6}", 1..12), mark in "[-*_`#>|~ \n\\[\\]()!.0-9<]{0,3}") {
            let text = words.join(&mark);
            let shown = plain(&text);
            for word in &words {
                prop_assert!(shown.contains(word), "{:?} of {:?} is not in {:?}", word, text, shown);
            }
        }
    }
}
