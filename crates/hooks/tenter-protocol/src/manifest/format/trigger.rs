//! The events of a manifest: `trigger` names one, as the specification has it, and `metadata.triggers` further ones (R67).
//! Spellings come from the lifecycle table (R1).

use tenter_base::{did_you_mean, or_list};

use super::codes::{EXTENSION, TRIGGER};
use crate::executable::Subscription;
use crate::front_matter::{Document, Field, Meaning, Node, Report, find, quotable};
use crate::lifecycle::{TABLE, by_claude_code};

/// Reads the event of `trigger`.
pub(super) fn first(document: &Document, report: &mut Report<'_>) -> Option<Subscription> {
    let expected = format!("one of {}", canonical_names());
    let field = report.required(document, "trigger", &TRIGGER, &expected)?;
    let text = report.text(field, &TRIGGER, &expected)?;
    subscription(&text, &field.value, report)
}

/// Reads the events of `metadata.triggers`, each once, without the event of `trigger`.
pub(super) fn further(
    fields: &[Field],
    first: Option<Subscription>,
    report: &mut Report<'_>,
) -> Vec<Subscription> {
    let metadata = find(fields, "metadata").and_then(|field| field.value.as_mapping());
    let Some(field) = metadata.and_then(|fields| find(fields, "triggers")) else {
        return Vec::new();
    };
    let expected = "a list of events, such as `[after_tool, after_tool_failure]`";
    let mut further: Vec<Subscription> = Vec::new();
    for item in report.list(field, &EXTENSION, expected).unwrap_or_default() {
        let Some(subscription) = item_subscription(item, report) else { continue };
        if first.iter().chain(&further).all(|other| other.event != subscription.event) {
            further.push(subscription);
        }
    }
    further
}

fn item_subscription(item: &Node, report: &mut Report<'_>) -> Option<Subscription> {
    let Some(scalar) = item.as_scalar().filter(|scalar| scalar.meaning() == Meaning::Text) else {
        let help = "write the name of an event";
        report.add(&EXTENSION, &item.at, "an item of `triggers` is not text", help);
        return None;
    };
    subscription(&scalar.text, item, report)
}

/// Returns the event with the spelling `word`.
fn subscription(word: &str, node: &Node, report: &mut Report<'_>) -> Option<Subscription> {
    let subscription = Subscription::in_manifest(word);
    if subscription.is_none() {
        let message = format!("`{}` is not an event", quotable(word));
        report.add(&TRIGGER, &node.at, message, help(word));
    }
    subscription
}

/// Returns the help for an unknown event.
fn help(word: &str) -> String {
    let canonical: Vec<&str> =
        TABLE.iter().filter(|row| row.executable.contains(&word)).map(|row| row.name).collect();
    if !canonical.is_empty() {
        let canonical = or_list(&canonical);
        return format!("did you mean {canonical}? `{word}` is for executable hooks");
    }
    if let Some(event) = by_claude_code(word) {
        return format!("did you mean `{event}`? `{}` is Claude Code's name", quotable(word));
    }
    let spellings: Vec<&str> = TABLE.iter().flat_map(|row| row.manifest).copied().collect();
    did_you_mean(word, &spellings, || format!("events are {}", canonical_names()))
}

/// Returns all canonical names, as a list in a sentence.
fn canonical_names() -> String {
    let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    or_list(&names)
}
