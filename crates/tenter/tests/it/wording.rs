//! The words of the project: phrases that make a reader stumble, and type names that say nothing, do not come back.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::architecture::{root, sources};

/// Phrases that have a plain replacement. They are matched word by word, ignoring case, across line breaks, and in the
/// parts of identifiers that underscores separate.
const PHRASES: &[(&str, &str)] = &[
    ("nobody", "say what does not happen: `not awaited`, `no user to ask`"),
    ("somebody", "name the actor: the user, the caller, another process"),
    ("whoever", "the caller, the user, any code that …"),
    ("the person", "the user"),
    ("the persons", "the user's"),
    ("nobodys", "name whose it is not"),
    ("a person", "the user, a user"),
    ("is told", "receives, is notified, reads"),
    ("are told", "receive, are notified, read"),
    ("be told", "receive, be notified"),
    ("is held to", "is limited by, must satisfy"),
    ("are held to", "are limited by, must satisfy"),
    ("in vain", "without success, after N attempts"),
    ("goes on", "continues"),
    ("go on", "continue"),
    ("went on", "continued"),
    ("gone on", "continued"),
    ("stands in", "is in, replaces"),
    ("stand in", "are in, replace"),
    ("lies in", "is in"),
    ("lie in", "are in"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("lesser", "smaller, cheaper"),
    ("displaced", "shadowed"),
    ("unawaited", "asynchronous, not awaited"),
    ("takes the place of", "replaces"),
    ("take the place of", "replace"),
    ("in the place of", "instead of"),
    ("what there is of", "name it"),
    ("has to do with", "is about"),
    ("comes about", "happens"),
    ("does it", "delete the comment, or say what the item does"),
    ("stranger", "untrusted, unknown"),
    ("folder", "directory"),
    ("folders", "directories"),
];

/// Type names that could mean several things: each needs its noun (`CatalogEntry`, `StopReason`).
const TYPE_NAMES: &[&str] = &[
    "Answer", "Entry", "Found", "Given", "Item", "Listed", "Place", "Said", "Seen", "Stop", "Told",
    "Trouble", "Wish",
];

/// Texts that contain a phrase and stay: machine-read names, and names that others chose.
const ALLOWED: &[&str] = &[
    "nobody to ask",        // a value in the journal and the JSON stream
    "starts in own folder", // a field of cached manifests
    "folder scratch root",  // a key of the demo's JSON
    "hooks folder unreadable",
    "plugins folder failed",
    "plugins folder unreadable",
    "plugin no folder",
    "manifest folder name",
    "recipe folder missing",
    "trust folder",         // an option of Copilot CLI
    "directory dir folder", // fields of tools
];

/// This file.
const LIST: &str = "crates/tenter/tests/it/wording.rs";

/// Files beside Rust sources whose words users read.
const TEXTS: &[&str] = &["md", "sh", "py", "mjs", "toml"];

/// The words of a text in lower case, each with its line.
struct Words {
    list: Vec<(usize, String)>,
    /// Where each word occurs in `list`.
    occurrences: HashMap<String, Vec<usize>>,
}

impl Words {
    fn of(text: &str) -> Self {
        let mut list = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let parts = line.split(|c: char| !c.is_alphabetic());
            let parts = parts.filter(|word| !word.is_empty());
            list.extend(parts.map(|word| (index + 1, word.to_lowercase())));
        }
        let mut occurrences = HashMap::<String, Vec<usize>>::new();
        for (index, (_, word)) in list.iter().enumerate() {
            occurrences.entry(word.clone()).or_default().push(index);
        }
        Self { list, occurrences }
    }

    /// Where a phrase begins, as indices of words.
    fn positions(&self, phrase: &str) -> Vec<usize> {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        let starts = self.occurrences.get(phrase[0]).map_or(&[][..], Vec::as_slice);
        let matches = |start: &usize| {
            let words = self.list[*start..].iter().map(|(_, word)| word.as_str());
            words.take(phrase.len()).eq(phrase.iter().copied())
        };
        starts.iter().copied().filter(matches).collect()
    }

    /// The lines on which a phrase begins, except inside an allowed text.
    fn lines_with(&self, phrase: &str) -> Vec<usize> {
        let mut found = self.positions(phrase);
        for text in ALLOWED {
            let length = text.split(' ').count();
            for start in self.positions(text) {
                found.retain(|index| !(start..start + length).contains(index));
            }
        }
        found.into_iter().map(|index| self.list[index].0).collect()
    }
}

/// Every file below `directory` that ends as one of `extensions`, with its path from the root.
fn texts_below(directory: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts_below(&path, texts);
        } else if path.extension().is_some_and(|end| TEXTS.iter().any(|text| end == *text)) {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            texts.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// All texts that readers of the project and users of the program see.
fn all_texts() -> Vec<(String, String)> {
    let mut texts = sources();
    texts_below(&root().join("crates"), &mut texts);
    texts_below(&root().join("docs"), &mut texts);
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        texts.push((name.to_owned(), fs::read_to_string(root().join(name)).unwrap()));
    }
    texts.retain(|(name, _)| name != LIST);
    texts
}

#[test]
fn phrases_with_a_plain_replacement_do_not_occur() {
    let mut flaws = Vec::new();
    for (name, text) in all_texts() {
        // A file of another agent.
        let words = Words::of(&text.replace("trusted_folders.toml", ""));
        for (phrase, instead) in PHRASES {
            let lines = words.lines_with(phrase).into_iter();
            flaws.extend(lines.map(|line| format!("{name}:{line}: {phrase:?}; write: {instead}")));
        }
    }
    assert!(flaws.is_empty(), "{} odd phrases:\n{}", flaws.len(), flaws.join("\n"));
}

#[test]
fn types_have_names_that_mean_one_thing() {
    let mut flaws = Vec::new();
    for (name, text) in sources() {
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let declares = |word: &&str| ["struct", "enum", "trait"].contains(word);
            if !line.trim_start().starts_with("//") && words.any(|word| declares(&word)) {
                let declared = words.next().unwrap_or_default();
                if TYPE_NAMES.contains(&declared) {
                    flaws.push(format!("{name}:{}: the type {declared} needs a noun", index + 1));
                }
            }
        }
    }
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}

#[test]
fn a_phrase_is_found_across_lines_and_in_identifiers() {
    let words =
        Words::of("fn it_goes_on() {}\n// It Goes\n// on.\nlet ongoing = \"nobody to ask\";");
    assert_eq!(words.lines_with("goes on"), [1, 2]);
    assert!(words.lines_with("nobody").is_empty());
}

/// Changes are added by merging both sides, which can leave a line or a group twice.
#[test]
fn the_changelog_says_everything_once() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let unreleased = text.split("\n## ").nth(1).unwrap();
    let (mut section, mut seen) = ("", HashSet::new());
    for line in unreleased.lines().filter(|line| line.starts_with(['#', '-'])) {
        if line.starts_with("### ") {
            section = line;
        }
        let key = if line.starts_with("####") { (section, line) } else { ("", line) };
        assert!(seen.insert(key), "twice in CHANGELOG.md: {line}");
    }
}
