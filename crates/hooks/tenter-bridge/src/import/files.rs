//! The files of an imported hook. A digest in the manifest shows whether the user has edited them since.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use tenter_protocol::manifest::rule::{Rule, UncertainPolicy};
use tenter_protocol::runtime::Runtime;

use super::{ImportedAction, ImportedHook, Source};
use crate::digest::digest;

/// The name of the manifest in the hook's directory.
pub const MANIFEST: &str = "HOOK.md";
/// The name of the script in the hook's directory.
pub const SCRIPT: &str = "scripts/run.sh";
/// The line of a manifest with the key of its hook and the digest of its files.
const IMPORTED: &str = "  imported: ";
/// The line of a manifest with the settings that it comes from.
const ORIGIN: &str = "  origin: ";
/// The priority of permission rules: a hook that denies the same call comes first, so that its reason is given.
const RULE_PRIORITY: &str = "50";
/// Maximum number of characters of a description.
const MAX_DESCRIPTION: usize = 300;
/// Number of characters of each digest.
const DIGEST_LENGTH: usize = 16;

/// The files of an imported hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFiles {
    /// The text of the manifest.
    pub manifest: String,
    /// The text of the script; `None` if the hook is static.
    pub script: Option<String>,
    /// True if only the user may read the script.
    pub is_private: bool,
}

/// The record of an import in the manifest of its hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportMark {
    /// The settings that it comes from.
    pub origin: String,
    /// The key of the hook in these settings.
    pub key: String,
    /// True if the files are unchanged since the import.
    pub is_unedited: bool,
}

/// Shortens the key of a hook to the form in manifests.
pub(super) fn short(key: &str) -> &str {
    key.get(..DIGEST_LENGTH).unwrap_or(key)
}

impl ImportedFiles {
    /// Writes the files of a hook with this name. `None` if a value has characters that a manifest cannot contain.
    pub(super) fn new(hook: &ImportedHook, name: &str, source: &Source) -> Option<Self> {
        let description = format!("Imported from {}: {}", source.origin, hook.about);
        let description: String = description.chars().take(MAX_DESCRIPTION).collect();
        let mut front = FrontMatter::default();
        front.word("name", name);
        front.text("description", &description)?;
        if matches!(hook.action, ImportedAction::Rules(_) | ImportedAction::Decide { .. }) {
            front.word("priority", RULE_PRIORITY);
        }
        front.word("trigger", hook.trigger.as_str());
        let matcher = [("  tool", &hook.matcher.tool), ("  pattern", &hook.matcher.pattern)];
        if matcher.iter().any(|(_, part)| part.is_some()) {
            front.word("matcher", "");
        }
        for (key, part) in matcher {
            if let Some(part) = part {
                front.text(key, part)?;
            }
        }
        front.action(&hook.action)?;
        let script = script(&hook.action);
        if let Some(root) = source.plugin_root.as_ref().filter(|_| script.is_some()) {
            front.text("  plugin_root", root.to_str()?)?;
        }
        front.text("  origin", &source.origin)?;
        let FrontMatter(text) = front;
        let digest = content_digest(&text, script.as_deref());
        let manifest = format!("---\n{text}{IMPORTED}{}-{digest}\n---\n", short(&hook.key));
        let is_private = matches!(hook.action, ImportedAction::Command { is_private: true, .. });
        Some(Self { manifest, script, is_private })
    }

    /// Reads the files in a hook's directory; `None` if it has no manifest.
    pub(super) fn read(directory: &Path) -> Option<Self> {
        let read = |name: &str| tenter_base::untrusted_file::read_to_string(&directory.join(name));
        Some(Self { manifest: read(MANIFEST).ok()?, script: read(SCRIPT).ok(), is_private: false })
    }

    /// Returns whether the texts are the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.manifest, &self.script) == (&other.manifest, &other.script)
    }

    /// Reads the record of the import in the manifest; `None` if the hook was not imported.
    pub(super) fn mark(&self) -> Option<ImportMark> {
        let front = self.manifest.strip_prefix("---\n")?;
        let (text, rest) = front.split_once(IMPORTED)?;
        let (key, digest) = rest.lines().next()?.split_once('-')?;
        let origin = text.lines().find_map(|line| line.strip_prefix(ORIGIN))?;
        let origin = origin.strip_prefix('\'')?.strip_suffix('\'')?.replace("''", "'");
        let is_whole = rest == format!("{key}-{digest}\n---\n");
        let is_unedited = is_whole && digest == content_digest(text, self.script.as_deref());
        Some(ImportMark { origin, key: key.to_owned(), is_unedited })
    }
}

/// Reads the record of the import in the manifest in a hook's directory; `None` if the hook was not imported.
pub fn import_mark(directory: &Path) -> Option<ImportMark> {
    ImportedFiles::read(directory)?.mark()
}

/// Returns whether the imported hook in this directory is unchanged since the import.
pub fn is_unedited(directory: &Path) -> bool {
    import_mark(directory).is_some_and(|mark| mark.is_unedited)
}

fn content_digest(front: &str, script: Option<&str>) -> String {
    short(&digest(&[front, script.unwrap_or_default()])).to_owned()
}

/// The lines of front matter.
#[derive(Default)]
struct FrontMatter(String);

impl FrontMatter {
    /// Writes a value that YAML reads as it is.
    fn word(&mut self, key: &str, value: &str) {
        let space = if value.is_empty() { "" } else { " " };
        let _ = writeln!(self.0, "{key}:{space}{value}");
    }

    /// Writes any text; `None` if it has control characters.
    fn text(&mut self, key: &str, value: &str) -> Option<()> {
        let is_writable = !value.chars().any(char::is_control);
        is_writable.then(|| self.word(key, &format!("'{}'", value.replace('\'', "''"))))
    }

    /// Writes a rule as an item of a list: its conditions and its decision. `None` if a value has control characters.
    fn rule(&mut self, rule: &Rule) -> Option<()> {
        let decision = rule.decision.as_ref()?;
        let uncertain = UncertainPolicy::WORDS.iter().find(|(_, policy)| *policy == rule.uncertain);
        let mut indent = "    - ";
        let conditions = serde_json::to_value(&rule.conditions).ok()?;
        for (key, mut value) in conditions.as_object()?.clone() {
            if let Some(count) = value.get_mut("count") {
                *count = json!({"min": count[0], "max": count[1]});
            }
            // JSON without control characters is YAML.
            let value = value.to_string();
            if value.contains("\\u") {
                return None;
            }
            self.word(&format!("{indent}{key}"), &value);
            indent = "      ";
        }
        self.word("      decision", decision.verdict.as_str());
        self.word("      uncertain", uncertain.map(|(word, _)| word)?);
        self.text("      reason", &decision.reason)
    }

    /// Writes the lines for an action; `None` if a value has control characters.
    fn action(&mut self, action: &ImportedAction) -> Option<()> {
        match action {
            ImportedAction::Command {
                event,
                matcher,
                timeout_ms,
                asynchronous,
                fail_closed,
                script: _,
                is_private: _,
            } => {
                self.word("timeout", &timeout_ms.to_string());
                if *asynchronous {
                    self.word("async", "true");
                }
                self.word("metadata", "");
                self.word("  dialect", "claude-code");
                self.word("  event", event);
                if *fail_closed {
                    self.word("  fail", "closed");
                }
                matcher.as_ref().map_or(Some(()), |matcher| self.text("  matcher", matcher))
            }
            ImportedAction::Judge { timeout_ms, script: _ } => {
                self.word("timeout", &timeout_ms.to_string());
                self.word("metadata", "");
                self.word("  runtime", Runtime::ServeOnly.as_str());
                self.word("  services", "[model, history]");
                Some(())
            }
            ImportedAction::Rules(rules) => {
                self.word("metadata", "");
                self.word("  match", "");
                rules.iter().try_for_each(|rule| self.rule(rule))
            }
            ImportedAction::Decide { action, reason } => {
                self.word("metadata", "");
                self.word("  action", action);
                self.text("  reason", reason)
            }
        }
    }
}

/// Returns the text of the script, if the hook has one.
fn script(action: &ImportedAction) -> Option<String> {
    match action {
        ImportedAction::Command { script, .. } | ImportedAction::Judge { script, .. } => {
            Some(format!("#!/bin/sh\n{}\n", script.trim_end_matches('\n')))
        }
        ImportedAction::Rules(_) | ImportedAction::Decide { .. } => None,
    }
}
