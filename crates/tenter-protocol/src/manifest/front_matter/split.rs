//! Where the front matter begins and ends (R14). It looks at bytes and lines only.

use std::ops::Range;

use super::findings::{ENCODING, FENCE, Findings};

/// The mark that some editors put at the beginning of a file.
pub(super) const BOM: &[u8] = "\u{feff}".as_bytes();

const FENCE_LINE: &[u8] = b"---";

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

/// Finds the front matter: a line that is exactly `---` (a byte order mark and blank lines may come before it) up to the next
/// line that is exactly `---`.
pub(super) fn split(bytes: &[u8]) -> Result<Fences, Unsplit> {
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let mut lines = Lines { bytes, next: start };
    let opening = lines.by_ref().find(|line| !bytes[line.clone()].trim_ascii().is_empty());
    let opening = opening.unwrap_or(bytes.len()..bytes.len());
    if bytes[opening.clone()] != *FENCE_LINE {
        return Err(Unsplit::NoOpening(opening));
    }
    let first = lines.next;
    let closing = lines.by_ref().find(|line| bytes[line.clone()] == *FENCE_LINE);
    let Some(closing) = closing else {
        let mut after = Lines { bytes, next: first };
        let meant = after.find(|line| looks_like_a_fence(&bytes[line.clone()]));
        return Err(Unsplit::NotClosed { opening, meant });
    };
    Ok(Fences { opening, yaml: first..closing.start, body: lines.next, closing })
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
                let help =
                    "write exactly `---` on the line: three hyphens, nothing before or after";
                findings.add(&FENCE, Some(line), message, help);
            }
            Self::NotClosed { opening, meant: None } => {
                let message = "the front matter that begins here has no end";
                findings.add(&FENCE, Some(opening), message, "end it with a line `---`");
            }
        }
    }
}

fn opening_help(line: &[u8]) -> &'static str {
    if line.trim_ascii() == FENCE_LINE {
        return "write exactly `---` on the line: three hyphens, nothing before or after";
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
    fn only_a_line_that_is_exactly_three_hyphens_ends_it() {
        assert_eq!(parts("---\na: 1\n --- \n----\n---x\n---\nbody\n---\n").1, "body\n---\n");
        assert_eq!(parts("---\ndescription: a --- b\n---").0, "description: a --- b\n");
    }

    #[test]
    fn a_byte_order_mark_blank_lines_and_carriage_returns_are_accepted() {
        assert_eq!(parts("\u{feff}\r\n \n---\r\na: 1\r\n---\r\nbody"), ("a: 1\r\n", "body"));
    }

    #[test]
    fn a_missing_end_names_the_line_that_was_meant() {
        assert_eq!(
            split(b"---\na: 1\n--- \n"),
            Err(Unsplit::NotClosed { opening: 0..3, meant: Some(9..13) })
        );
        assert_eq!(split(b"---\na"), Err(Unsplit::NotClosed { opening: 0..3, meant: None }));
        assert_eq!(split(b"\n# Title\n---\n"), Err(Unsplit::NoOpening(1..8)));
        assert_eq!(split(b""), Err(Unsplit::NoOpening(0..0)));
    }
}
