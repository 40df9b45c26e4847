//! The events that a manifest is for: spellings from the lifecycle table (R1), or the nearest one as a hint. `trigger` names
//! one, as the specification has it, and `metadata.triggers` further ones (R67).

use tenter_base::{nearest, or_list};

use super::findings::{EXTENSION, Findings, TRIGGER};
use super::reader::Reader;
use super::scalar::Meaning;
use super::tree::{Entry, Node, NodeKind, shown};
use crate::executable::Subscription;
use crate::lifecycle::{TABLE, by_claude_code};

/// The event that `word` names, with the table's copy of the word.
fn named(word: &str, node: &Node, findings: &mut Findings<'_>) -> Option<Subscription> {
    let found = TABLE.iter().find_map(|row| {
        let spelling = row.manifest.iter().find(|spelling| **spelling == word)?;
        Some(Subscription { event: row.event, spelling })
    });
    if found.is_none() {
        let message = format!("`{}` is not an event", shown(word));
        findings.add(&TRIGGER, Some(&node.at), message, help(word));
    }
    found
}

/// What would be right instead of `word`.
fn help(word: &str) -> String {
    let meant: Vec<&str> =
        TABLE.iter().filter(|row| row.executable.contains(&word)).map(|row| row.name).collect();
    if !meant.is_empty() {
        let meant = or_list(&meant);
        return format!("did you mean {meant}? `{word}` is what an executable hook prints");
    }
    if let Some(event) = by_claude_code(word) {
        return format!("did you mean `{event}`? `{}` is Claude Code's name", shown(word));
    }
    let spellings: Vec<&str> = TABLE.iter().flat_map(|row| row.manifest).copied().collect();
    match nearest(word, &spellings) {
        Some(spelling) => format!("did you mean `{spelling}`?"),
        None => format!("events are {}", events()),
    }
}

/// All canonical names, as the end of a sentence.
fn events() -> String {
    let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    or_list(&names)
}

impl<'a> Reader<'a, '_> {
    /// The event of `trigger`.
    pub(super) fn trigger(&mut self) -> Option<Subscription> {
        let meant = format!("one of {}", events());
        let entry = self.required("trigger", &TRIGGER, &meant)?;
        let text = self.text(entry, &TRIGGER, &meant)?;
        named(&text, &entry.value, self.findings)
    }

    /// The events of `metadata.triggers`, less those that are `known` already.
    pub(super) fn further_triggers(&mut self, known: Option<Subscription>) -> Vec<Subscription> {
        let Some(entry) = self.below_metadata("triggers") else { return Vec::new() };
        let NodeKind::Sequence(items) = &entry.value.kind else {
            let help = "it is a list of events, such as `[after_tool, after_tool_failure]`";
            self.reject(entry, &entry.value, help);
            return Vec::new();
        };
        let mut found: Vec<Subscription> = Vec::new();
        for item in items {
            let Some(event) = self.event(entry, item) else { continue };
            if known.iter().chain(&found).all(|other| other.event != event.event) {
                found.push(event);
            }
        }
        found
    }

    fn event(&mut self, entry: &Entry, item: &Node) -> Option<Subscription> {
        match &item.kind {
            NodeKind::Scalar(scalar) if scalar.meaning() == Meaning::Text => {
                named(&scalar.text, item, self.findings)
            }
            _ => {
                self.reject(entry, item, "write the name of an event");
                None
            }
        }
    }

    /// The field below `metadata`, where that is a mapping that has it.
    fn below_metadata(&self, key: &str) -> Option<&'a Entry> {
        let NodeKind::Mapping(entries) = &self.entry("metadata")?.value.kind else { return None };
        entries.iter().find(|entry| entry.key.name == key)
    }

    /// Says that a value below `metadata` is not understood, and what it has to be.
    pub(super) fn reject(&mut self, entry: &Entry, value: &Node, help: &str) {
        let message = format!("this value of `metadata.{}` is not understood", entry.key.name);
        let at = if value.at.is_empty() { &entry.key.at } else { &value.at };
        self.findings.add(&EXTENSION, Some(at), message, help);
    }
}
