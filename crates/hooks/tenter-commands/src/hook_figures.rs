//! The figures of this project's hooks, and what of them needs attention. Terminal, diagnostics and pages show the same.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use tenter_engine::inspect::{Catalog, Hook};
use tenter_engine::journal::JournalDirectories;
use tenter_engine::{Layer, builtin};
use tenter_inspect::JournalIndex;
use tenter_inspect::figures::KnownHook;
use tenter_protocol::{Diagnostic, EventName, Severity};

/// The events of every tool call.
const EVERY_CALL: [EventName; 2] = [EventName::BeforeTool, EventName::AfterTool];

/// Returns the hooks of a catalog that can run.
pub(crate) fn known(catalog: &Catalog) -> Vec<KnownHook> {
    let external = catalog.hooks().iter().filter(|hook| hook.layer != Layer::BuiltIn);
    external.map(known_hook).collect()
}

fn known_hook(hook: &Arc<Hook>) -> KnownHook {
    let is_at_a_call = EVERY_CALL.into_iter().any(|event| hook.subscription(event).is_some());
    let selects = hook.options.matcher.is_some() || hook.options.rules.is_some();
    KnownHook {
        name: hook.name.clone(),
        hash: hook.fingerprint.0.clone(),
        budget: hook.policy.budget,
        is_at_every_call: is_at_a_call && !selects && !hook.policy.asynchronous,
    }
}

/// Checks whether a recorded hook is part of Tenter: users have no use for its figures.
pub(crate) fn is_built_in(name: &str) -> bool {
    name == builtin::NAME
}

/// Reads the records of `journals` since a time, or all of them. A journal that cannot be read is reported; the others are read.
pub(crate) fn read(
    journals: &JournalDirectories,
    since: Option<Timestamp>,
) -> (JournalIndex, Vec<Diagnostic>) {
    let mut index = JournalIndex::new(journals).since(since);
    let mut unread = Vec::new();
    if let Err(error) = index.advance(None) {
        unread.push(unreadable(journals.first(), &error.to_string()));
    }
    unread.extend(index.failed().map(|(id, why)| unreadable(&journals.path(id), why)));
    unread.extend(index.cut().map(|id| cut(&journals.path(id))));
    (index, unread)
}

/// Returns the warning that only the newest part of a journal was read.
fn cut(path: &Path) -> Diagnostic {
    let message = "the journal is very long: the figures are of its newest part";
    Diagnostic::new("journal-cut", Severity::Warning, message)
        .at(path)
        .help("delete the file if you do not need it")
}

fn unreadable(directory: &Path, why: &str) -> Diagnostic {
    let message = format!("cannot read the journal: {why}");
    Diagnostic::new("journal-not-read", Severity::Warning, message).at(directory)
}
