//! Front matter of files that are no manifests, such as recipes: the same YAML, with the place of every value. What its keys
//! mean is for whoever asks; a file may have none.

use std::ops::Range;
use std::path::Path;

use super::findings::{FENCE, Findings};
use super::scalar::Meaning;
use super::split::{Unsplit, split};
use super::tree::{self, Entry, Node, NodeKind};
use super::{Rules, front_matter};
use crate::{Diagnostic, Severity};

/// What the findings about any front matter are called where it is no manifest's.
const IDS: [(&str, &str); 6] = [
    ("manifest-too-large", "front-matter-too-large"),
    ("manifest-encoding", "front-matter-encoding"),
    ("manifest-no-front-matter", "front-matter-incomplete"),
    ("manifest-syntax", "front-matter-syntax"),
    ("manifest-duplicate-key", "front-matter-duplicate-key"),
    ("manifest-escape", "front-matter-escape"),
];

/// A file's front matter, and where its text begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its keys in their order, each of them once.
    pub fields: Vec<Field>,
    /// Where the text after the front matter begins, in bytes.
    pub body: usize,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub key: String,
    /// Where the key stands, in bytes.
    pub key_at: Range<usize>,
    /// Its value.
    pub value: Located,
}

/// A value and its place in the file, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Where it stands.
    pub at: Range<usize>,
    /// What stands there.
    pub value: Written,
}

/// A value as it was written: a number and a truth value are their text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// `null`, or nothing after the colon.
    Nothing,
    /// A single value.
    Text(String),
    /// A list.
    List(Vec<Located>),
    /// A mapping.
    Fields(Vec<Field>),
}

/// Reads the front matter of a file. There is a document exactly when no finding is an error; a file that does not begin with
/// `---` is one without keys. The text itself is not looked at.
pub fn document(path: &Path, bytes: &[u8]) -> (Option<Document>, Vec<Diagnostic>) {
    let mut findings = Findings::new(path, bytes, Rules::Tolerant);
    let document = read(bytes, &mut findings);
    let mut found = findings.into_diagnostics();
    for finding in &mut found {
        if let Some((_, id)) = IDS.iter().find(|(of_manifest, _)| *of_manifest == finding.id) {
            finding.id = id;
        }
    }
    let broken = found.iter().any(|finding| finding.severity == Severity::Error);
    (document.filter(|_| !broken), found)
}

fn read(bytes: &[u8], findings: &mut Findings<'_>) -> Option<Document> {
    let fences = match split(bytes) {
        Ok(fences) => fences,
        Err(Unsplit::NoOpening(_)) => return Some(Document { fields: Vec::new(), body: 0 }),
        Err(unsplit) => {
            unsplit.report(bytes, findings);
            return None;
        }
    };
    let text = front_matter(&bytes[..fences.closing.end], &fences, findings)?;
    let root = tree::parse(text, &fences, findings)?;
    let at = root.at.clone();
    let Written::Fields(fields) = written(root) else {
        let message = "the front matter is no mapping of keys to values";
        findings.add(&FENCE, Some(&at), message, "write `key: value` lines");
        return None;
    };
    Some(Document { fields, body: fences.body })
}

fn located(node: Node) -> Located {
    Located { at: node.at.clone(), value: written(node) }
}

fn written(node: Node) -> Written {
    match node.kind {
        NodeKind::Scalar(scalar) if scalar.meaning() == Meaning::Null => Written::Nothing,
        NodeKind::Scalar(scalar) => Written::Text(scalar.text),
        NodeKind::Sequence(items) => Written::List(items.into_iter().map(located).collect()),
        NodeKind::Mapping(entries) => Written::Fields(entries.into_iter().map(field).collect()),
    }
}

fn field(entry: Entry) -> Field {
    Field { key: entry.key.name, key_at: entry.key.at, value: located(entry.value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Document>, Vec<&'static str>) {
        let (document, found) = document(Path::new("a.md"), text.as_bytes());
        (document, found.iter().map(|finding| finding.id).collect())
    }

    #[test]
    fn values_are_what_was_written_and_know_their_places() {
        let text = "---\nn: 007\nnone:\nlist: [a, \"b\"]\nmap: {k: true}\n---\nbody";
        let (document, found) = read(text);
        let document = document.unwrap();
        assert_eq!((&text[document.body..], found.len()), ("body", 0));
        let places = document.fields.iter().map(|field| &text[field.key_at.clone()]);
        assert_eq!(places.collect::<Vec<_>>(), ["n", "none", "list", "map"]);
        assert_eq!(document.fields[0].value.value, Written::Text("007".to_owned()));
        assert_eq!(document.fields[1].value.value, Written::Nothing);
        let Written::List(items) = &document.fields[2].value.value else { panic!() };
        assert_eq!(&text[items[1].at.clone()], "\"b\"");
        assert!(
            matches!(&document.fields[3].value.value, Written::Fields(map) if map[0].key == "k")
        );
    }

    #[test]
    fn a_file_without_front_matter_is_all_text() {
        let expected = Some(Document { fields: Vec::new(), body: 0 });
        assert_eq!(read("# Title\n---\n"), (expected.clone(), vec![]));
        assert_eq!(read(""), (expected, vec![]));
    }

    #[test]
    fn what_cannot_be_read_is_told_and_nothing_is_guessed() {
        assert_eq!(read("---\na: 1\n"), (None, vec!["front-matter-incomplete"]));
        assert_eq!(read("---\na: [\n---\n"), (None, vec!["front-matter-syntax"]));
        assert_eq!(read("---\n- a\n---\n"), (None, vec!["front-matter-incomplete"]));
        assert_eq!(read("---\na: 1\na: 2\n---\n"), (None, vec!["front-matter-duplicate-key"]));
        assert_eq!(read("---\na: \"\\.\"\n---\n").1, ["front-matter-escape"]);
    }
}
