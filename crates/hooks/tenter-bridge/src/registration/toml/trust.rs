//! The hashes of trusted handlers in TOML: `[hooks.state."FILE:EVENT:GROUP:HANDLER"]` with `trusted_hash` (B41).

use ::toml::Value;
use tenter_protocol::Diagnostic;

use super::super::entry::Installed;
use super::document::{Document, TablePosition};
use super::handlers::written;

const PATH: [&str; 2] = ["hooks", "state"];
const HASH: &str = "trusted_hash";

/// The trust in one handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct TrustEntry {
    /// Where the handler is.
    pub(in super::super) key: String,
    /// Its hash.
    pub(in super::super) hash: String,
}

impl TrustEntry {
    /// Whether it is in a document.
    fn is_in(&self, document: &Document) -> bool {
        let state = PATH.iter().try_fold(None, |found: Option<&Value>, key| {
            let next = match found {
                None => document.root.get(*key),
                Some(value) => value.get(*key),
            };
            next.map(Some)
        });
        let hash = state.flatten().and_then(|state| state.get(&self.key)?.get(HASH)?.as_str());
        hash == Some(&self.hash)
    }

    fn is_about(&self, table: &TablePosition) -> bool {
        table.keys.iter().map(String::as_str).eq([PATH[0], PATH[1], self.key.as_str()])
    }
}

/// Adds the entries that are missing, and replaces those with another hash; `None` if none is missing.
pub(in super::super) fn with_trust(
    text: &str,
    entries: &[TrustEntry],
) -> Result<Option<Installed>, Diagnostic> {
    let document = Document::parse(text)?;
    let missing: Vec<&TrustEntry> =
        entries.iter().filter(|entry| !entry.is_in(&document)).collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let is_stale = |table: &TablePosition| missing.iter().any(|entry| entry.is_about(table));
    let clean = document.without(|_, table| is_stale(table));
    let tables = missing.iter().map(|TrustEntry { key, hash }| {
        let key = written(&key.as_str().into());
        format!("[{}.{}.{key}]\n{HASH} = \"{hash}\"\n", PATH[0], PATH[1])
    });
    Document::parse(&clean)?.append(&tables.collect::<Vec<_>>()).map(Some)
}

/// The number of entries that are missing.
pub(in super::super) fn missing_trust(
    text: &str,
    entries: &[TrustEntry],
) -> Result<usize, Diagnostic> {
    let document = Document::parse(text)?;
    Ok(entries.iter().filter(|entry| !entry.is_in(&document)).count())
}

/// Removes the entries, whatever their hashes are.
pub(in super::super) fn without_trust(
    text: &str,
    entries: &[TrustEntry],
) -> Result<String, Diagnostic> {
    let document = Document::parse(text)?;
    Ok(document.without(|_, table| entries.iter().any(|entry| entry.is_about(table))))
}
