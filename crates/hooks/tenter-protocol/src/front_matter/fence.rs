//! Finds the begin and the end of front matter (R14, R70): bytes and lines only, no YAML.

use std::ops::Range;

use super::report::Report;
use crate::source_text::BOM;

const FENCE_LINE: &[u8] = b"---";
const COMMENT_START: &[u8] = b"<!--";
const COMMENT_END: &[u8] = b"-->";

/// The parts of a file, in bytes. Line endings are not part of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fences {
    /// The first `---` line.
    pub(super) opening: Range<usize>,
    /// The YAML between the fences.
    pub(super) yaml: Range<usize>,
    /// The second `---` line.
    pub(super) closing: Range<usize>,
    /// The start of the text after the front matter.
    pub(super) body: usize,
}

/// The reason why there is no front matter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoFrontMatter {
    /// The first line that is not blank is not `---`.
    NotOpened(Range<usize>),
    /// No later line is `---`.
    NotClosed {
        opening: Range<usize>,
        /// A line that was probably meant to be one.
        candidate: Option<Range<usize>>,
    },
}

/// Finds the front matter: from a `---` line to the next one. A byte order mark, blank lines and HTML comments may precede
/// it, and white space may follow the hyphens.
pub(super) fn split(bytes: &[u8]) -> Result<Fences, NoFrontMatter> {
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let mut lines = Lines { bytes, next: start };
    let opening = first_text_line(&mut lines).unwrap_or(bytes.len()..bytes.len());
    if !is_fence(&bytes[opening.clone()]) {
        return Err(NoFrontMatter::NotOpened(opening));
    }
    let first = lines.next;
    let closing = lines.by_ref().find(|line| is_fence(&bytes[line.clone()]));
    let Some(closing) = closing else {
        let mut after = Lines { bytes, next: first };
        let candidate = after.find(|line| resembles_fence(&bytes[line.clone()]));
        return Err(NoFrontMatter::NotClosed { opening, candidate });
    };
    Ok(Fences { opening, yaml: first..closing.start, body: lines.next, closing })
}

fn is_fence(line: &[u8]) -> bool {
    line.trim_ascii_end() == FENCE_LINE
}

/// Returns the first line that is neither blank nor part of an HTML comment. An unclosed comment counts as text.
fn first_text_line(lines: &mut Lines<'_>) -> Option<Range<usize>> {
    loop {
        let line = lines.next()?;
        let text = lines.bytes[line.clone()].trim_ascii_start();
        if text.is_empty() {
            continue;
        }
        let start = line.end - text.len();
        match comment_length(&lines.bytes[start..]) {
            // Text after the comment counts as the next line.
            Some(length) => lines.next = start + length,
            None => return Some(line),
        }
    }
}

/// Returns the length of the HTML comment at the beginning of `bytes`.
fn comment_length(bytes: &[u8]) -> Option<usize> {
    let text = bytes.strip_prefix(COMMENT_START)?;
    let length = text.windows(COMMENT_END.len()).position(|window| window == COMMENT_END)?;
    Some(COMMENT_START.len() + length + COMMENT_END.len())
}

fn resembles_fence(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line == b"..." || (line.len() >= 2 && line.iter().all(|byte| *byte == b'-'))
}

impl NoFrontMatter {
    /// Reports why there is no front matter.
    pub(super) fn report(&self, report: &mut Report<'_>) {
        let (bytes, format) = (report.source().bytes(), report.format());
        match self {
            Self::NotOpened(_)
                if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") =>
            {
                report.add(&format.encoding, None, "the file is UTF-16", "save the file as UTF-8");
            }
            Self::NotOpened(line) => {
                let help = opening_help(&bytes[line.clone()], format.required_fields);
                report.add(&format.fence, line, "the file does not begin with front matter", help);
            }
            Self::NotClosed { candidate: Some(line), .. } => {
                let message = "this line does not end the front matter, and no other does";
                report.add(&format.fence, line, message, FENCE_HELP);
            }
            Self::NotClosed { opening, candidate: None } => {
                let message = "the front matter that begins here has no end";
                report.add(&format.fence, opening, message, "end it with a line `---`");
            }
        }
    }
}

const FENCE_HELP: &str = "write exactly `---`: three hyphens at the beginning of the line";

fn opening_help(line: &[u8], keys: &[&str]) -> String {
    if line.trim_ascii() == FENCE_LINE {
        return FENCE_HELP.to_owned();
    }
    if line.trim_ascii_start().starts_with(COMMENT_START) {
        return "close the comment that begins here with `-->`".to_owned();
    }
    if line.starts_with(FENCE_LINE) {
        return "write `---` on a line of its own, and the first key on the next".to_owned();
    }
    let fields: Vec<String> = keys.iter().map(|key| format!("`{key}: …`")).collect();
    format!("begin with a line `---`, then {}, then a line `---`", fields.join(", "))
}

/// The lines of `bytes` from `next` on, without their line endings.
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
            assert!(matches!(split(text.as_bytes()), Err(NoFrontMatter::NotOpened(_))), "{before}");
        }
    }

    #[test]
    fn a_missing_end_names_the_line_that_was_probably_meant() {
        assert_eq!(
            split(b"---\na: 1\n ---\n"),
            Err(NoFrontMatter::NotClosed { opening: 0..3, candidate: Some(9..13) })
        );
        assert_eq!(
            split(b"---\na"),
            Err(NoFrontMatter::NotClosed { opening: 0..3, candidate: None })
        );
        assert_eq!(split(b"\n# Title\n---\n"), Err(NoFrontMatter::NotOpened(1..8)));
        assert_eq!(split(b""), Err(NoFrontMatter::NotOpened(0..0)));
    }
}
