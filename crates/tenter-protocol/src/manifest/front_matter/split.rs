//! Where the front matter begins and ends (R14, R70). It looks at bytes and lines only.

use std::ops::Range;

use super::findings::{ENCODING, FENCE, Findings};
use crate::source_text::BOM;

const FENCE_LINE: &[u8] = b"---";
const COMMENT_START: &[u8] = b"<!--";
const COMMENT_END: &[u8] = b"-->";

/// The parts of a file, in bytes from its beginning. Line ends belong to no line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fences {
    /// The `---` that begins.
    pub(super) opening: Range<usize>,
    /// What stands between the two.
    pub(super) yaml: Range<usize>,
    /// The `---` that ends.
    pub(super) closing: Range<usize>,
    /// Where the Markdown begins.
    pub(super) body: usize,
}

/// Why there is no front matter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unsplit {
    /// The first line with anything on it is not `---`.
    NoOpening(Range<usize>),
    /// No line after the first is `---`.
    NotClosed {
        opening: Range<usize>,
        /// A line that may have been meant.
        meant: Option<Range<usize>>,
    },
}

/// Finds the front matter: from a line `---` up to the next line `---`. A byte order mark, blank lines and HTML comments may
/// come before the first, and white space may follow the hyphens of both.
pub(super) fn split(bytes: &[u8]) -> Result<Fences, Unsplit> {
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let mut lines = Lines { bytes, next: start };
    let opening = first_text(&mut lines).unwrap_or(bytes.len()..bytes.len());
    if !is_fence(&bytes[opening.clone()]) {
        return Err(Unsplit::NoOpening(opening));
    }
    let first = lines.next;
    let closing = lines.by_ref().find(|line| is_fence(&bytes[line.clone()]));
    let Some(closing) = closing else {
        let mut after = Lines { bytes, next: first };
        let meant = after.find(|line| looks_like_a_fence(&bytes[line.clone()]));
        return Err(Unsplit::NotClosed { opening, meant });
    };
    Ok(Fences { opening, yaml: first..closing.start, body: lines.next, closing })
}

fn is_fence(line: &[u8]) -> bool {
    line.trim_ascii_end() == FENCE_LINE
}

/// The first line that is neither blank nor part of an HTML comment. A comment without an end is such a line.
fn first_text(lines: &mut Lines<'_>) -> Option<Range<usize>> {
    loop {
        let line = lines.next()?;
        let text = lines.bytes[line.clone()].trim_ascii_start();
        if text.is_empty() {
            continue;
        }
        let start = line.end - text.len();
        match comment_end(&lines.bytes[start..]) {
            // What follows the comment on its last line is the next line.
            Some(length) => lines.next = start + length,
            None => return Some(line),
        }
    }
}

/// The length of the HTML comment that `bytes` begin with.
fn comment_end(bytes: &[u8]) -> Option<usize> {
    let text = bytes.strip_prefix(COMMENT_START)?;
    let length = text.windows(COMMENT_END.len()).position(|window| window == COMMENT_END)?;
    Some(COMMENT_START.len() + length + COMMENT_END.len())
}

fn looks_like_a_fence(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line == b"..." || (line.len() >= 2 && line.iter().all(|byte| *byte == b'-'))
}

impl Unsplit {
    /// Says why there is no front matter.
    pub(super) fn report(&self, bytes: &[u8], findings: &mut Findings<'_>) {
        match self {
            Self::NoOpening(_)
                if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") =>
            {
                findings.add(&ENCODING, None, "the file is UTF-16", "save the file as UTF-8");
            }
            Self::NoOpening(line) => {
                let message = "the file does not begin with front matter";
                findings.add(&FENCE, Some(line), message, opening_help(&bytes[line.clone()]));
            }
            Self::NotClosed { meant: Some(line), .. } => {
                let message = "this line does not end the front matter, and no other does";
                findings.add(&FENCE, Some(line), message, FENCE_HELP);
            }
            Self::NotClosed { opening, meant: None } => {
                let message = "the front matter that begins here has no end";
                findings.add(&FENCE, Some(opening), message, "end it with a line `---`");
            }
        }
    }
}

const FENCE_HELP: &str = "write exactly `---`: three hyphens at the beginning of the line";

fn opening_help(line: &[u8]) -> &'static str {
    if line.trim_ascii() == FENCE_LINE {
        return FENCE_HELP;
    }
    if line.trim_ascii_start().starts_with(COMMENT_START) {
        return "end the comment that begins here with `-->`";
    }
    if line.starts_with(FENCE_LINE) {
        return "write `---` on a line of its own, and the first key on the next";
    }
    "begin with a line `---`, then `name: …`, `description: …`, `trigger: …`, then a line `---`"
}

/// The lines of some bytes from `next` on, without their ends.
struct Lines<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.next;
        let rest = self.bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|byte| *byte == b'\n');
        let line = &rest[..length.unwrap_or(rest.len())];
        self.next = start + length.map_or(rest.len(), |length| length + 1);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Some(start..start + line.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (&str, &str) {
        let fences = split(text.as_bytes()).unwrap();
        (&text[fences.yaml], &text[fences.body..])
    }

    #[test]
    fn only_a_line_of_exactly_three_hyphens_ends_it() {
        assert_eq!(parts("---\na: 1\n --- \n----\n---x\n---\nbody\n---\n").1, "body\n---\n");
        assert_eq!(parts("---\ndescription: a --- b\n---").0, "description: a --- b\n");
    }

    #[test]
    fn a_byte_order_mark_blank_lines_and_carriage_returns_are_accepted() {
        assert_eq!(parts("\u{feff}\r\n \n---\r\na: 1\r\n---\r\nbody"), ("a: 1\r\n", "body"));
    }

    #[test]
    fn white_space_after_the_hyphens_is_accepted() {
        assert_eq!(parts("--- \t\na: 1\n---  \r\nbody"), ("a: 1\n", "body"));
    }

    #[test]
    fn html_comments_before_it_are_accepted() {
        for before in [
            "<!-- markdownlint-disable -->\n",
            "\u{feff}\n<!-- one\n---\nallowed_tools: []\n---\n-->\r\n\n  <!-- two --> <!-- three -->\n",
        ] {
            assert_eq!(parts(&format!("{before}---\na: 1\n---\nbody")), ("a: 1\n", "body"));
        }
        for before in ["<!-- no end\n", "<!-- a --> text\n", "<!- a -->\n", "<!-->\n"] {
            let text = format!("{before}---\na: 1\n---\n");
            assert!(matches!(split(text.as_bytes()), Err(Unsplit::NoOpening(_))), "{before}");
        }
    }

    #[test]
    fn a_missing_end_names_the_line_that_was_meant() {
        assert_eq!(
            split(b"---\na: 1\n ---\n"),
            Err(Unsplit::NotClosed { opening: 0..3, meant: Some(9..13) })
        );
        assert_eq!(split(b"---\na"), Err(Unsplit::NotClosed { opening: 0..3, meant: None }));
        assert_eq!(split(b"\n# Title\n---\n"), Err(Unsplit::NoOpening(1..8)));
        assert_eq!(split(b""), Err(Unsplit::NoOpening(0..0)));
    }
}
