//! What differs between two states of a plugin, file by file.

use std::collections::BTreeSet;

use crate::content::{Content, Entry};

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<'c> {
    /// Its path in the plugin.
    pub path: &'c str,
    /// How it differs.
    pub kind: ChangeKind<'c>,
}

/// How a file differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind<'c> {
    /// It is new.
    Added(&'c Entry),
    /// It is gone.
    Removed(&'c Entry),
    /// It was the first and is the second.
    Changed(&'c Entry, &'c Entry),
}

impl ChangeKind<'_> {
    /// The word for it in listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Added(_) => "added",
            Self::Removed(_) => "removed",
            Self::Changed(..) => "changed",
        }
    }
}

/// Everything that differs, by path.
pub fn changes<'c>(before: &'c Content, after: &'c Content) -> Vec<Change<'c>> {
    let paths: BTreeSet<&String> = before.0.keys().chain(after.0.keys()).collect();
    let change = |path: &'c String| {
        let kind = match (before.0.get(path), after.0.get(path)) {
            (None, Some(new)) => ChangeKind::Added(new),
            (Some(old), None) => ChangeKind::Removed(old),
            (Some(old), Some(new)) if old != new => ChangeKind::Changed(old, new),
            _ => return None,
        };
        Some(Change { path, kind })
    };
    paths.into_iter().filter_map(change).collect()
}
