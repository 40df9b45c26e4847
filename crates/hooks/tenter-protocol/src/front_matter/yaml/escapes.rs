//! Keeps escapes that YAML does not have, such as `"\.py$"` in the specification's own examples (R14): their backslash is
//! doubled before the text is parsed again. The YAML parser decides which quoted text is affected.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::ErrorKind;

use super::events::events;
use crate::front_matter::report::Report;

/// Maximum number of quoted texts that are repaired; in the next one, an unknown escape is an error.
const MAX_REPAIRS: usize = 64;

/// YAML with the backslash of every unknown escape doubled.
pub(super) struct Repaired<'a> {
    pub(super) text: Cow<'a, str>,
    /// The positions of the inserted backslashes in the repaired text, ascending.
    insertions: Vec<usize>,
    /// The first unknown escape of each repaired text, with its position in the original.
    escapes: Vec<(Range<usize>, String)>,
}

impl<'a> Repaired<'a> {
    /// Repairs `yaml`. Other errors remain, for the parser to report.
    pub(super) fn new(yaml: &'a str) -> Self {
        let mut repaired =
            Self { text: Cow::Borrowed(yaml), insertions: Vec::new(), escapes: Vec::new() };
        if yaml.contains('\\') {
            while repaired.escapes.len() < MAX_REPAIRS
                && let Some(quote) = unknown_escape(&repaired.text)
                && repaired.repair(quote)
            {}
        }
        repaired
    }

    /// Converts a position in the repaired text into one in the original.
    pub(super) fn original(&self, offset: usize) -> usize {
        offset - self.insertions.partition_point(|insertion| *insertion < offset)
    }

    /// Reports what was repaired. The original begins at `base` in the file.
    pub(super) fn report(&self, base: usize, report: &mut Report<'_>) {
        for (at, escape) in &self.escapes {
            let at = base + at.start..base + at.end;
            let message = format!("YAML has no escape `{escape}`; the backslash is kept");
            let help = "use single quotes, which have no escapes, or double the backslash";
            report.add(&report.format().escape, &at, message, help);
        }
    }

    /// Doubles the backslashes of unknown escapes in the text whose opening quote is at `quote`. `false` if there are none.
    fn repair(&mut self, quote: usize) -> bool {
        let text = std::mem::take(&mut self.text);
        let mut fixed = String::with_capacity(text.len() + 8);
        let mut position = 0;
        let before = self.insertions.len();
        for backslash in backslashes(&text, quote) {
            let rest = &text[backslash + 1..];
            if is_known(rest) {
                continue;
            }
            if self.insertions.len() == before {
                let start = self.original(backslash);
                let escape: String = text[backslash..].chars().take(2).collect();
                self.escapes.push((start..start + escape.len(), escape));
            }
            fixed.push_str(&text[position..backslash]);
            position = backslash;
            self.insertions.push(fixed.len());
            fixed.push('\\');
        }
        fixed.push_str(&text[position..]);
        self.text = Cow::Owned(fixed);
        self.insertions.len() > before
    }
}

/// Returns the opening quote of the first text with an unknown escape.
fn unknown_escape(yaml: &str) -> Option<usize> {
    let error = events(yaml).find_map(Result::err)?;
    let unknown = matches!(
        error.kind(),
        ErrorKind::UnknownQuotedScalarEscape | ErrorKind::InvalidQuotedScalarHexEscape
    );
    error.marker().byte_offset().filter(|_| unknown)
}

/// Returns the backslashes that begin an escape in the text whose opening quote is at `quote`.
fn backslashes(text: &str, quote: usize) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut places = Vec::new();
    let mut at = quote + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        if bytes[at] == b'\\' {
            places.push(at);
            at += 1;
        }
        at += 1;
    }
    places
}

/// Returns true if YAML has the escape that continues with `rest`.
fn is_known(rest: &str) -> bool {
    let digits = match rest.bytes().next() {
        Some(b'x') => 2,
        Some(b'u') => 4,
        Some(b'U') => 8,
        Some(byte) => return b"0abt\tnvfre \"/\\N_LP\r\n".contains(&byte),
        None => return true,
    };
    let code = rest.as_bytes().get(1..=digits);
    code.is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_the_backslash_of_unknown_escapes_only() {
        let yaml = "a: \"\\.py\\n\\\\.\\\"\"\nb: '\\.'\nc: \"\\d\\é\\x4\\u0041\"\n";
        let repaired = Repaired::new(yaml);
        let expected = "a: \"\\\\.py\\n\\\\.\\\"\"\nb: '\\.'\nc: \"\\\\d\\\\é\\\\x4\\u0041\"\n";
        assert_eq!(repaired.text, expected);
        let escapes = repaired.escapes.iter().map(|(at, text)| (&yaml[at.clone()], text.as_str()));
        let escapes: Vec<(&str, &str)> = escapes.collect();
        assert_eq!(escapes, [("\\.", "\\."), ("\\d", "\\d")]);
    }

    #[test]
    fn positions_after_a_repair_are_those_of_the_original() {
        let yaml = "a: \"\\.\\w\"\nb: \"\\d\" # x\n";
        let repaired = Repaired::new(yaml);
        for sought in ["a:", "b:", "# x"] {
            let place = repaired.text.find(sought).unwrap();
            assert_eq!(repaired.original(place), yaml.find(sought).unwrap());
        }
    }

    #[test]
    fn other_errors_are_not_repaired() {
        for yaml in ["a: \"\\", "a: \"\\ud800\"", "\\: [", "a: 'x\\'"] {
            assert_eq!(Repaired::new(yaml).text, yaml);
        }
    }
}
