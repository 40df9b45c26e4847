//! A file's front matter as a whole.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use super::fence::{Fences, NoFrontMatter, split};
use super::report::{Format, Report, Strictness};
use super::tree::{Field, NodeKind};
use super::yaml;
use crate::Diagnostic;

/// Maximum size of front matter, in bytes.
pub const MAX_SIZE: usize = 64 * 1024;

/// The front matter of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// The fields, each key once, in the order of the file.
    pub fields: Vec<Field>,
    /// The `---` line that begins the front matter, in bytes; empty without front matter.
    pub opening: Range<usize>,
    /// The byte at which the text after the front matter begins.
    pub body: usize,
}

/// Parses the front matter of the report's file. Without front matter, a format that does not require it has an
/// empty document. `None`, with an error in the report, if it cannot be parsed.
pub fn parse(report: &mut Report<'_>) -> Option<Document> {
    if !report.is_within_limit() {
        return None;
    }
    let bytes = report.source().bytes();
    let fences = match split(bytes) {
        Ok(fences) => fences,
        Err(NoFrontMatter::NotOpened(_)) if report.format().required_fields.is_empty() => {
            return Some(Document::default());
        }
        Err(missing) => {
            missing.report(report);
            return None;
        }
    };
    let yaml = yaml_text(&fences, report)?;
    let root = yaml::parse(yaml, fences.yaml.start, report)?;
    let NodeKind::Mapping(fields) = root.kind else {
        let message = "the front matter is not a mapping";
        report.add(&report.format().fence, &root.at, message, "write `key: value` lines");
        return None;
    };
    Some(Document { fields, opening: fences.opening, body: fences.body })
}

/// Parses front matter of no particular format. There is a document exactly when no diagnostic is an error.
pub fn read(path: &Path, bytes: &[u8]) -> (Option<Document>, Vec<Diagnostic>) {
    let mut report = Report::new(path, bytes, Strictness::Tolerant, &Format::GENERIC);
    let document = parse(&mut report);
    report.finish(document)
}

fn yaml_text<'a>(fences: &Fences, report: &mut Report<'a>) -> Option<&'a str> {
    if fences.yaml.len() > MAX_SIZE {
        let message = format!("the front matter is longer than {} KiB", MAX_SIZE / 1024);
        let help = "front matter is a few lines; is a line `---` missing?";
        report.add(&report.format().too_large, &fences.opening, message, help);
        return None;
    }
    report.decode(fences.closing.end)?.get(fences.yaml.clone())
}

/// Returns true if `bytes`, the beginning of a file, contain all of its front matter, so that the rest need not be read.
pub fn is_complete(bytes: &[u8]) -> bool {
    // Without its line ending, the last line may still grow into another one.
    split(bytes).is_ok_and(|fences| bytes[fences.closing.end..].contains(&b'\n'))
}

/// Returns the text after the front matter; empty if the front matter is incomplete. Invalid UTF-8 is replaced.
pub fn body(bytes: &[u8]) -> Cow<'_, str> {
    let start = split(bytes).map_or(bytes.len(), |fences| fences.body);
    String::from_utf8_lossy(&bytes[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Document>, Vec<&'static str>) {
        let (document, diagnostics) = super::read(Path::new("a.md"), text.as_bytes());
        (document, diagnostics.iter().map(|diagnostic| diagnostic.id).collect())
    }

    #[test]
    fn values_have_their_text_and_their_positions() {
        let text = "---\nn: 007\nnone:\nlist: [a, \"b\"]\nmap: {k: true}\n---\nbody";
        let (document, ids) = read(text);
        let document = document.unwrap();
        assert_eq!((&text[document.body..], ids.len()), ("body", 0));
        let keys = document.fields.iter().map(|field| &text[field.key_at.clone()]);
        assert_eq!(keys.collect::<Vec<_>>(), ["n", "none", "list", "map"]);
        let [number, none, list, mapping] = document.fields.as_slice() else { panic!() };
        assert_eq!(number.value.as_text(), Some("007"));
        assert!(none.value.is_null());
        assert_eq!(&text[list.value.as_list().unwrap()[1].at.clone()], "\"b\"");
        assert_eq!(mapping.value.as_mapping().unwrap()[0].key, "k");
    }

    #[test]
    fn a_file_without_front_matter_has_an_empty_document() {
        assert_eq!(read("# Title\n---\n"), (Some(Document::default()), vec![]));
        assert_eq!(read(""), (Some(Document::default()), vec![]));
    }

    #[test]
    fn front_matter_that_cannot_be_parsed_is_an_error() {
        assert_eq!(read("---\na: 1\n"), (None, vec!["front-matter-incomplete"]));
        assert_eq!(read("---\na: [\n---\n"), (None, vec!["front-matter-syntax"]));
        assert_eq!(read("---\n- a\n---\n"), (None, vec!["front-matter-incomplete"]));
        assert_eq!(read("---\na: 1\na: 2\n---\n"), (None, vec!["front-matter-duplicate-key"]));
        assert_eq!(read("---\na: \"\\.\"\n---\n").1, ["front-matter-escape"]);
    }
}
