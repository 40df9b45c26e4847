//! What Tenter reads from `metadata` (R17). `metadata` is open: other keys are anybody's, and only a value that Tenter does not
//! understand is worth a warning.

use super::findings::EXTENSION;
use super::reader::Reader;
use super::scalar::{Meaning, Scalar};
use super::suggest::listed;
use super::tree::{Entry, Node, NodeKind};
use crate::manifest::Extensions;

/// The keys below `metadata` that Tenter reads.
pub(super) const KEYS: [&str; 5] = ["fail", "protected", "workdir", "env", "payload"];

/// Reads the extensions from the entries of `metadata`.
pub(super) fn read(entries: &[Entry], reader: &mut Reader<'_, '_>) -> Extensions {
    let mut extensions = Extensions::default();
    for entry in entries {
        match entry.key.name.as_str() {
            "fail" => {
                let word = reader.word(entry, ["open", "closed"]);
                extensions.fail_closed = word.map(|word| word == "closed");
            }
            "workdir" => {
                let word = reader.word(entry, ["project", "hook"]);
                extensions.starts_in_own_folder = word == Some("hook");
            }
            "payload" => {
                let word = reader.word(entry, ["full", "light"]);
                extensions.light_payload = word == Some("light");
            }
            "protected" => extensions.protected = reader.flag(entry),
            "env" => extensions.env = reader.variables(entry),
            _ => {}
        }
    }
    extensions
}

impl Reader<'_, '_> {
    fn word(&mut self, entry: &Entry, known: [&'static str; 2]) -> Option<&'static str> {
        let found = scalar(&entry.value)
            .and_then(|scalar| known.into_iter().find(|word| *word == scalar.text));
        if found.is_none() {
            self.warn(entry, &entry.value, &format!("it is {}", listed(&known)));
        }
        found
    }

    fn flag(&mut self, entry: &Entry) -> bool {
        let meaning = scalar(&entry.value).map(Scalar::meaning);
        if let Some(Meaning::Boolean(boolean)) = meaning {
            return boolean;
        }
        self.warn(entry, &entry.value, "it is `true` or `false`, without quotes");
        false
    }

    fn variables(&mut self, entry: &Entry) -> Vec<String> {
        let help = "it is a list of names of variables, such as `[MY_API_KEY]`";
        let NodeKind::Sequence(items) = &entry.value.kind else {
            self.warn(entry, &entry.value, help);
            return Vec::new();
        };
        let mut names = Vec::new();
        for item in items {
            match scalar(item).filter(|scalar| is_variable(&scalar.text)) {
                Some(name) => names.push(name.text.clone()),
                None => self.warn(entry, item, help),
            }
        }
        names
    }

    fn warn(&mut self, entry: &Entry, value: &Node, help: &str) {
        let message = format!(
            "this value of `metadata.{}` is not understood and has no effect",
            entry.key.name
        );
        let at = if value.at.is_empty() { &entry.key.at } else { &value.at };
        self.findings.add(&EXTENSION, Some(at), message, help);
    }
}

fn scalar(node: &Node) -> Option<&Scalar> {
    match &node.kind {
        NodeKind::Scalar(scalar) => Some(scalar),
        _ => None,
    }
}

fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
