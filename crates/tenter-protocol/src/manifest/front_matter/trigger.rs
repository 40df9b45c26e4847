//! The event that a manifest is for: a spelling from the lifecycle table (R1), or the nearest one as a hint.

use super::findings::{Findings, TRIGGER};
use super::suggest::{listed, nearest};
use super::tree::{Node, shown};
use crate::EventName;
use crate::lifecycle::TABLE;

/// The event that `word` names, with the table's copy of the word.
pub(super) fn check(
    word: &str,
    node: &Node,
    findings: &mut Findings<'_>,
) -> Option<(EventName, &'static str)> {
    let found = TABLE.iter().find_map(|row| {
        let spelling = row.manifest.iter().find(|spelling| **spelling == word)?;
        Some((row.event, *spelling))
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
        let meant = listed(&meant);
        return format!("did you mean {meant}? `{word}` is what an executable hook prints");
    }
    let spellings: Vec<&str> = TABLE.iter().flat_map(|row| row.manifest).copied().collect();
    match nearest(word, &spellings) {
        Some(spelling) => format!("did you mean `{spelling}`?"),
        None => format!("events are {}", events()),
    }
}

/// All canonical names, as the end of a sentence.
pub(super) fn events() -> String {
    let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    listed(&names)
}
