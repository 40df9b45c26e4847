//! Backslashes in double quotes that YAML does not know, such as `"\.py$"` in the specification's own examples: they are kept
//! as they stand (R14). The YAML parser says which text is meant; nothing else is touched.

use std::borrow::Cow;
use std::ops::Range;

use serde_saphyr::granit_parser::{ErrorKind, Parser};

use super::findings::{ESCAPE, Findings};
use super::tree::options;

/// After so many repaired texts the next one is an error.
const MOST: usize = 64;

/// YAML in which every unknown escape has its backslash doubled.
pub(super) struct Repaired<'a> {
    pub(super) text: Cow<'a, str>,
    /// Where a backslash was put in, ascending, in the repaired text.
    inserted: Vec<usize>,
    /// The first unknown escape of each repaired text, with its place in the original.
    escapes: Vec<(Range<usize>, String)>,
}

impl<'a> Repaired<'a> {
    /// Repairs `yaml`. Other errors than unknown escapes are left to the reader.
    pub(super) fn new(yaml: &'a str) -> Self {
        let mut repaired =
            Self { text: Cow::Borrowed(yaml), inserted: Vec::new(), escapes: Vec::new() };
        if yaml.contains('\\') {
            while repaired.escapes.len() < MOST
                && let Some(quote) = unknown_escape(&repaired.text)
                && repaired.repair(quote)
            {}
        }
        repaired
    }

    /// The place in the original of a place in the repaired text.
    pub(super) fn original(&self, offset: usize) -> usize {
        offset - self.inserted.partition_point(|inserted| *inserted < offset)
    }

    /// Says what was repaired. The original begins at `base` in the file.
    pub(super) fn report(&self, base: usize, findings: &mut Findings<'_>) {
        for (at, escape) in &self.escapes {
            let at = base + at.start..base + at.end;
            let message = format!("YAML does not know `{escape}`; it is kept as it stands");
            let help = "put the text in single quotes, where a backslash means itself, or double the backslash";
            findings.add(&ESCAPE, Some(&at), message, help);
        }
    }

    /// Doubles the unknown backslashes of the text whose opening quote is at `quote`. `false` when there are none.
    fn repair(&mut self, quote: usize) -> bool {
        let text = std::mem::take(&mut self.text);
        let mut fixed = String::with_capacity(text.len() + 8);
        let mut copied = 0;
        let before = self.inserted.len();
        for backslash in backslashes(&text, quote) {
            let escaped = &text[backslash + 1..];
            if is_known(escaped) {
                continue;
            }
            if self.inserted.len() == before {
                let start = self.original(backslash);
                let escape: String = text[backslash..].chars().take(2).collect();
                self.escapes.push((start..start + escape.len(), escape));
            }
            fixed.push_str(&text[copied..backslash]);
            copied = backslash;
            self.inserted.push(fixed.len());
            fixed.push('\\');
        }
        fixed.push_str(&text[copied..]);
        self.text = Cow::Owned(fixed);
        self.inserted.len() > before
    }
}

/// The opening quote of the first text with an escape that YAML does not know.
fn unknown_escape(yaml: &str) -> Option<usize> {
    let error = Parser::new_from_str_with_options(yaml, options()).find_map(Result::err)?;
    let unknown = matches!(
        error.kind(),
        ErrorKind::UnknownQuotedScalarEscape | ErrorKind::InvalidQuotedScalarHexEscape
    );
    error.marker().byte_offset().filter(|_| unknown)
}

/// The backslashes that begin an escape, in the text whose opening quote is at `quote`.
fn backslashes(text: &str, quote: usize) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = quote + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        if bytes[at] == b'\\' {
            found.push(at);
            at += 1;
        }
        at += 1;
    }
    found
}

/// Whether YAML knows the escape that goes on with `rest`.
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
    fn unknown_escapes_are_doubled_and_known_ones_are_not() {
        let yaml = "a: \"\\.py\\n\\\\.\\\"\"\nb: '\\.'\nc: \"\\d\\é\\x4\\u0041\"\n";
        let repaired = Repaired::new(yaml);
        let expected = "a: \"\\\\.py\\n\\\\.\\\"\"\nb: '\\.'\nc: \"\\\\d\\\\é\\\\x4\\u0041\"\n";
        assert_eq!(repaired.text, expected);
        let escapes = repaired.escapes.iter().map(|(at, text)| (&yaml[at.clone()], text.as_str()));
        let escapes: Vec<(&str, &str)> = escapes.collect();
        assert_eq!(escapes, [("\\.", "\\."), ("\\d", "\\d")]);
    }

    #[test]
    fn places_after_a_repair_are_those_of_the_original() {
        let yaml = "a: \"\\.\\w\"\nb: \"\\d\" # x\n";
        let repaired = Repaired::new(yaml);
        for sought in ["a:", "b:", "# x"] {
            let found = repaired.text.find(sought).unwrap();
            assert_eq!(repaired.original(found), yaml.find(sought).unwrap());
        }
    }

    #[test]
    fn what_is_wrong_otherwise_is_left_alone() {
        for yaml in ["a: \"\\", "a: \"\\ud800\"", "\\: [", "a: 'x\\'"] {
            assert_eq!(Repaired::new(yaml).text, yaml);
        }
    }
}
