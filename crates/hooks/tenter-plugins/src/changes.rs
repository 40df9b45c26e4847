//! The differences between two versions of a plugin, file by file.

use std::collections::BTreeSet;

use crate::content::{Content, TreeEntry};

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginChange<'c> {
    /// The path in the plugin.
    pub path: &'c str,
    /// The difference.
    pub kind: FileDifference<'c>,
}

/// The difference between two versions of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileDifference<'c> {
    /// The file is new.
    Added(&'c TreeEntry),
    /// The file was removed.
    Removed(&'c TreeEntry),
    /// The old and the new file.
    Changed(&'c TreeEntry, &'c TreeEntry),
}

impl FileDifference<'_> {
    /// Returns the name in listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Added(_) => "added",
            Self::Removed(_) => "removed",
            Self::Changed(..) => "changed",
        }
    }
}

/// Returns all differences, by path.
pub fn changes<'c>(before: &'c Content, after: &'c Content) -> Vec<PluginChange<'c>> {
    let paths: BTreeSet<&String> = before.0.keys().chain(after.0.keys()).collect();
    let change = |path: &'c String| {
        let kind = match (before.0.get(path), after.0.get(path)) {
            (None, Some(new)) => FileDifference::Added(new),
            (Some(old), None) => FileDifference::Removed(old),
            (Some(old), Some(new)) if old != new => FileDifference::Changed(old, new),
            _ => return None,
        };
        Some(PluginChange { path, kind })
    };
    paths.into_iter().filter_map(change).collect()
}
