//! Compares installed files with the lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;
use tenter_protocol::Diagnostic;

use crate::content::{Content, hash};
use crate::lock::LockedPlugin;
use crate::rules::refused;

/// A file that differs from what was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The path in the plugin.
    pub path: String,
    /// `changed`, `missing` or `extra`.
    pub what: &'static str,
}

/// Returns the differences between `directory` and `record`, and the files that could not be read.
pub fn verify(directory: &Path, record: &LockedPlugin) -> (Vec<Difference>, Vec<Diagnostic>) {
    let (content, mut findings) = Content::read_installed(directory);
    if hash(&record.files) != record.hash {
        let message = format!(
            "the lock file contradicts itself: the list of files of {} does not match its hash",
            record.name
        );
        findings.push(
            refused("plugin-lock-contradicts", message)
                .help("it was edited; add the plugin again with --force"),
        );
    }
    (differences(&record.files, &content.digests()), findings)
}

fn differences(
    lock: &BTreeMap<String, String>,
    real: &BTreeMap<String, String>,
) -> Vec<Difference> {
    let paths: BTreeSet<&String> = lock.keys().chain(real.keys()).collect();
    let difference = |path: &String| {
        let what = match (lock.get(path), real.get(path)) {
            (Some(_), None) => "missing",
            (None, Some(_)) => "extra",
            (lock, real) if lock != real => "changed",
            _ => return None,
        };
        Some(Difference { path: path.clone(), what })
    };
    paths.into_iter().filter_map(difference).collect()
}
