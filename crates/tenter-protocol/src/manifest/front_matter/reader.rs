//! What all fields have in common: is it there, is it text, is it a mapping.

use std::ops::Range;

use super::findings::{Findings, Kind};
use super::scalar::{Meaning, Scalar};
use super::split::Fences;
use super::tree::{Entry, NodeKind};

/// Reads the fields of a mapping, and says what is wrong with them.
pub(super) struct Reader<'a, 'f> {
    pub(super) entries: &'a [Entry],
    pub(super) fences: &'a Fences,
    pub(super) findings: &'a mut Findings<'f>,
}

impl<'a> Reader<'a, '_> {
    /// The field, which may be missing.
    pub(super) fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.entries.iter().find(|entry| entry.key.name == key)
    }

    /// The field, which may not be missing. `meant` is what to write, as the end of a sentence.
    pub(super) fn required(&mut self, key: &str, kind: &Kind, meant: &str) -> Option<&'a Entry> {
        let entry = self.entry(key);
        if entry.is_none() {
            let message = format!("the field `{key}` is missing");
            let help = format!("write `{key}: …`, {meant}");
            self.findings.add(kind, Some(&self.fences.opening), message, help);
        }
        entry
    }

    /// The scalar of a field that has to be `meant`.
    pub(super) fn scalar<'e>(
        &mut self,
        entry: &'e Entry,
        kind: &Kind,
        meant: &str,
    ) -> Option<&'e Scalar> {
        match &entry.value.kind {
            NodeKind::Scalar(scalar) if scalar.meaning() != Meaning::Null => return Some(scalar),
            NodeKind::Scalar(_) => self.ignore(entry, kind, "has no value", meant),
            NodeKind::Sequence(_) => self.ignore(entry, kind, "is a list", meant),
            NodeKind::Mapping(_) => self.ignore(entry, kind, "is a mapping", meant),
        }
        None
    }

    /// The text of a field. A number is told to be one, and its text is taken.
    pub(super) fn text(&mut self, entry: &Entry, kind: &Kind, meant: &str) -> Option<String> {
        let scalar = self.scalar(entry, kind, meant)?;
        let other = match scalar.meaning() {
            Meaning::Boolean(_) => Some("is `true` or `false`, not text"),
            Meaning::Integer(_) | Meaning::Number(_) => Some("is a number, not text"),
            Meaning::Text | Meaning::Null => None,
        };
        if let Some(other) = other {
            let message = format!("`{}` {other}", entry.key.name);
            let help = format!("put it in quotes: '{}'", scalar.text);
            self.findings.add(kind, Some(&entry.value.at), message, help);
        }
        Some(scalar.text.clone())
    }

    /// The entries of a field that has to be a mapping.
    pub(super) fn mapping<'e>(&mut self, entry: &'e Entry, kind: &Kind) -> Option<&'e [Entry]> {
        let meant = "`key: value` lines, indented below it";
        match &entry.value.kind {
            NodeKind::Mapping(entries) => return Some(entries),
            NodeKind::Scalar(scalar) if scalar.meaning() == Meaning::Null => {
                self.ignore(entry, kind, "has no value", meant);
            }
            NodeKind::Scalar(_) => self.ignore(entry, kind, "is a single value", meant),
            NodeKind::Sequence(_) => self.ignore(entry, kind, "is a list", meant),
        }
        None
    }

    /// Says what is wrong with a field, and what is meant to stand there.
    pub(super) fn complain(&mut self, entry: &Entry, kind: &Kind, what: &str, meant: &str) {
        let message = format!("`{}` {what}", entry.key.name);
        self.findings.add(kind, Some(place(entry)), message, format!("write {meant}"));
    }

    /// [`Reader::complain`] about a field that has no effect then.
    fn ignore(&mut self, entry: &Entry, kind: &Kind, what: &str, meant: &str) {
        let ignored = self.findings.instead(kind, "it is ignored");
        self.complain(entry, kind, &format!("{what}{ignored}"), meant);
    }

    /// Says that quotes make text of what has to be something else.
    pub(super) fn unquote(&mut self, entry: &Entry, scalar: &Scalar, kind: &Kind) {
        let message = format!("`{}` is text, because it is in quotes", entry.key.name);
        let help = format!("write `{}: {}`", entry.key.name, scalar.text);
        self.findings.add(kind, Some(&entry.value.at), message, help);
    }
}

/// What to mark for a value: the key when there is nothing after it.
pub(super) fn place(entry: &Entry) -> &Range<usize> {
    if entry.value.at.is_empty() { &entry.key.at } else { &entry.value.at }
}
