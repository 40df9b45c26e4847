//! What Tenter reads from `metadata` (R17). `metadata` is open: other keys are anybody's, unless they look like one of ours that
//! is misspelt. A value of ours that is not understood is an error: a guard that says `fail: close` must not run as if it had
//! said nothing.

use tenter_base::{edits, nearest, or_list};

use super::action;
use super::findings::METADATA_KEY;
use super::reader::Reader;
use super::scalar::{Meaning, Scalar};
use super::tree::{Entry, Node, NodeKind, shown};
use crate::manifest::Extensions;

/// The keys below `metadata` that Tenter reads.
pub(super) const KEYS: [&str; 6] = ["fail", "protected", "workdir", "env", "payload", "triggers"];
/// The keys of a hook without code, beside those that belong to its action.
const ACTION_KEYS: [&str; 2] = ["action", "when"];

/// Reads the extensions from the entries of `metadata`.
pub(super) fn read(entries: &[Entry], reader: &mut Reader<'_, '_>) -> Extensions {
    let mut extensions = Extensions::default();
    for entry in entries {
        match entry.key.name.as_str() {
            "fail" => {
                let word = reader.word(entry, ["open", "closed"]);
                extensions.fail_closed = word.map(|word| word == "closed");
            }
            "workdir" => {
                let word = reader.word(entry, ["project", "hook"]);
                extensions.starts_in_own_folder = word == Some("hook");
            }
            "payload" => {
                let word = reader.word(entry, ["full", "light"]);
                extensions.light_payload = word == Some("light");
            }
            "protected" => extensions.protected = reader.flag(entry),
            "env" => extensions.env = reader.variables(entry),
            _ => {}
        }
    }
    reader.misspelt_keys(entries);
    extensions
}

/// Whether Tenter reads this key below `metadata`.
pub(super) fn is_known(key: &str) -> bool {
    KEYS.contains(&key) || ACTION_KEYS.contains(&key) || action_keys().any(|known| known == key)
}

fn action_keys() -> impl Iterator<Item = &'static str> {
    action::KEYS.iter().map(|(key, _)| *key)
}

/// The key of ours that `key` was probably meant to be. Other people's keys are many, so it has to be very near.
fn meant(key: &str, has_action: bool) -> Option<&'static str> {
    let known = KEYS.into_iter().chain(ACTION_KEYS);
    let known = known.chain(action_keys().filter(|_| has_action));
    let initial = |word: &str| word.chars().next().map(|letter| letter.to_ascii_lowercase());
    let is_near = |known: &&str| {
        let most = if known.len() > 5 { 2 } else { 1 };
        initial(known) == initial(key) && edits(key, known) <= most
    };
    let about_failure = key.to_ascii_lowercase().starts_with("fail").then_some("fail");
    known.into_iter().find(is_near).or(about_failure)
}

impl Reader<'_, '_> {
    fn misspelt_keys(&mut self, entries: &[Entry]) {
        let has_action = entries.iter().any(|entry| entry.key.name == "action");
        for entry in entries.iter().filter(|entry| !is_known(&entry.key.name)) {
            let key = entry.key.name.as_str();
            let Some(known) = meant(key, has_action) else { continue };
            let message = format!("`metadata.{}` has no effect", shown(key));
            let help = format!("did you mean `{known}`?");
            self.findings.add(&METADATA_KEY, Some(&entry.key.at), message, help);
        }
    }

    fn word(&mut self, entry: &Entry, known: [&'static str; 2]) -> Option<&'static str> {
        let written = scalar(&entry.value).map_or("", |scalar| scalar.text.as_str());
        let found = known.into_iter().find(|word| *word == written);
        if found.is_none() {
            let help = match nearest(written, &known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write {}", or_list(&known)),
            };
            self.reject(entry, &entry.value, &help);
        }
        found
    }

    fn flag(&mut self, entry: &Entry) -> bool {
        let meaning = scalar(&entry.value).map(Scalar::meaning);
        if let Some(Meaning::Boolean(boolean)) = meaning {
            return boolean;
        }
        self.reject(entry, &entry.value, "write `true` or `false`, without quotes");
        false
    }

    fn variables(&mut self, entry: &Entry) -> Vec<String> {
        let help = "write a list of names of variables, such as `[MY_API_KEY]`";
        let NodeKind::Sequence(items) = &entry.value.kind else {
            self.reject(entry, &entry.value, help);
            return Vec::new();
        };
        let mut names = Vec::new();
        for item in items {
            match scalar(item).filter(|scalar| is_variable(&scalar.text)) {
                Some(name) => names.push(name.text.clone()),
                None => self.reject(entry, item, help),
            }
        }
        names
    }
}

fn scalar(node: &Node) -> Option<&Scalar> {
    match &node.kind {
        NodeKind::Scalar(scalar) => Some(scalar),
        _ => None,
    }
}

fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
