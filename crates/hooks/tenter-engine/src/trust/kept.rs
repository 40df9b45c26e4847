//! Trusted contents, kept to show what changed: one private file per fingerprint, beside the trust store. They do not
//! affect what may run: only fingerprints do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenter_base::{hex, replace_file, untrusted_file};
use tenter_proc::Cancel;

use super::fingerprint::{Covered, fingerprint_of_recipe};
use super::hasher::{Fingerprint, Hasher, MAX_HOOK_BYTES};
use super::record::{TrustEntry, TrustedKind};
use super::snapshot::Snapshot;
use crate::hook_policy::HookMode;
use crate::source::{Override, ProjectSetting};

/// Maximum length of a text that is kept, in bytes.
const LONGEST_TEXT: usize = 256 * 1024;
/// Maximum length of all texts of one hook that are kept, in bytes.
const LONGEST_TEXTS: usize = 1 << 20;
/// Maximum length of a file of kept texts, in bytes; JSON escapes make texts up to six times longer.
const LONGEST_KEPT: u64 = 8 << 20;

/// The files of a hook or recipe, by their path within its parent directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Contents(BTreeMap<String, FileContent>);

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileContent {
    /// True if its owner may execute it.
    pub executable: bool,
    /// Its content.
    pub data: Data,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// Text.
    Text(String),
    /// The SHA-256 of something that is not text or too long to be kept.
    Digest(String),
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedFileChange {
    /// Its path within the hook's parent directory.
    pub name: String,
    /// The old content; `None` if the file is new.
    pub before: Option<FileContent>,
    /// The new content; `None` if the file was removed.
    pub after: Option<FileContent>,
}

impl Contents {
    /// Reads everything that the trust in a hook covers, and returns the fingerprint of exactly that.
    ///
    /// # Errors
    /// A file cannot be read, was changed while it was read, or exceeds the limits of a hook.
    pub fn read(covered: &Covered) -> io::Result<(Fingerprint, Self)> {
        let cancel = Cancel::new();
        let Snapshot { fingerprint, own, beside } =
            Snapshot::read(covered, &Hasher::new(MAX_HOOK_BYTES, &cancel))?;
        let directory = covered.path.parent().unwrap_or(Path::new(""));
        let mut budget = LONGEST_TEXTS;
        let mut files = BTreeMap::new();
        for file in own.into_iter().chain(beside) {
            let name = file.path.strip_prefix(directory).unwrap_or(&file.path);
            let name = name.to_string_lossy().into_owned();
            let data = data(file.content.unwrap_or_default(), file.hash, &mut budget);
            files.entry(name).or_insert(FileContent { executable: file.is_executable, data });
        }
        files.extend(setting(covered));
        Ok((fingerprint, Self(files)))
    }

    /// Returns the recipe in the file at `path`, and its fingerprint.
    fn read_recipe(path: &Path) -> io::Result<(Fingerprint, Self)> {
        let text = untrusted_file::read_to_string(path)?;
        let fingerprint = fingerprint_of_recipe(text.as_bytes());
        let file = FileContent { executable: false, data: Data::Text(text) };
        Ok((fingerprint, Self([(name_of(path), file)].into())))
    }

    /// Returns every file, in the order of their paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, &FileContent)> {
        self.0.iter().map(|(name, file)| (name.as_str(), file))
    }

    /// Returns the text of the hook's own file of this name; `None` if it has none, or if it was not kept.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        let is_own = |path: &str| path.split_once('/').is_some_and(|(_, rest)| rest == name);
        let mut own = self.0.iter().filter(|(path, _)| is_own(path));
        own.find_map(|(_, file)| match &file.data {
            Data::Text(text) => Some(text.as_str()),
            Data::Digest(_) => None,
        })
    }

    /// Returns the files that differ in `later`, in the order of their paths.
    pub fn changes_to(&self, later: &Self) -> Vec<TrustedFileChange> {
        let names: BTreeSet<&String> = self.0.keys().chain(later.0.keys()).collect();
        let change = |name: &String| TrustedFileChange {
            name: name.clone(),
            before: self.0.get(name).cloned(),
            after: later.0.get(name).cloned(),
        };
        names.into_iter().map(change).filter(|change| change.before != change.after).collect()
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the text of a file if it fits into `budget` bytes; otherwise its digest.
fn data(content: Vec<u8>, hash: Fingerprint, budget: &mut usize) -> Data {
    let is_kept = content.len() <= LONGEST_TEXT.min(*budget) && !content.contains(&0);
    match String::from_utf8(content) {
        Ok(text) if is_kept && (!text.is_empty() || hash == empty()) => {
            *budget -= text.len();
            Data::Text(text)
        }
        _ => Data::Digest(hash.0),
    }
}

/// Returns the hash of an empty file.
fn empty() -> Fingerprint {
    Fingerprint(hex(&Sha256::digest([])))
}

/// Returns the settings of a project's `hooks.toml` for a hook, as a separate file: they are trusted, too.
fn setting(covered: &Covered) -> Option<(String, FileContent)> {
    let ProjectSetting { is_off, set } = covered.setting;
    let Override { priority, timeout, asynchronous, mode } = set;
    let lines = [
        is_off.then(|| "disabled".to_owned()),
        priority.map(|priority| format!("priority = {priority}")),
        timeout.map(|timeout| format!("timeout = {timeout}")),
        asynchronous.map(|asynchronous| format!("async = {asynchronous}")),
        mode.map(|mode| {
            let word = if mode == HookMode::Monitor { "monitor" } else { "enforce" };
            format!("mode = {word}")
        }),
    ];
    let text: String = lines.into_iter().flatten().map(|line| line + "\n").collect();
    let name = format!("hooks.toml, for {}", name_of(&covered.path));
    let file = FileContent { executable: false, data: Data::Text(text) };
    (covered.setting != ProjectSetting::default()).then_some((name, file))
}

/// The directory of kept contents.
#[derive(Debug, Clone)]
pub(super) struct KeptContents(PathBuf);

impl KeptContents {
    /// Returns the directory that belongs to the store at `store`.
    pub(super) fn beside(store: &Path) -> Self {
        Self(store.with_file_name("trusted"))
    }

    /// Keeps the content of an entry, if its fingerprint matches. Trust does not depend on it: what cannot be kept cannot
    /// be shown later.
    pub(super) fn keep(&self, entry: &TrustEntry) {
        let Some(path) = self.file(&entry.fingerprint) else { return };
        if path.exists() {
            return;
        }
        let now = match (&entry.covered, TrustedKind::from_name(&entry.name)) {
            (Some(covered), _) => Contents::read(covered),
            (None, Some(TrustedKind::Recipe)) => Contents::read_recipe(&entry.path),
            (None, _) => return,
        };
        let Ok((fingerprint, contents)) = now else { return };
        if fingerprint == entry.fingerprint {
            let bytes = serde_json::to_vec(&contents).unwrap_or_default();
            let _ = replace_file::replace(&path, &bytes);
        }
    }

    /// Returns the content kept for this fingerprint.
    pub(super) fn get(&self, fingerprint: &Fingerprint) -> Option<Contents> {
        let bytes = untrusted_file::read_prefix(&self.file(fingerprint)?, LONGEST_KEPT).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Removes everything but the contents with these fingerprints.
    pub(super) fn retain(&self, fingerprints: &BTreeSet<&str>) {
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(".json"));
            if stem.is_some_and(|stem| !stem.starts_with('.') && !fingerprints.contains(stem)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn file(&self, fingerprint: &Fingerprint) -> Option<PathBuf> {
        let is_digest =
            fingerprint.0.len() == 64 && fingerprint.0.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| self.0.join(format!("{}.json", fingerprint.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fingerprint::CoveredSiblings;
    use super::super::snapshot::MAX_SHOWN_BYTES;
    use super::*;

    fn text(text: &str) -> FileContent {
        FileContent { executable: false, data: Data::Text(text.to_owned()) }
    }

    #[test]
    fn changes_are_new_changed_and_removed_files() {
        let before = [("a", text("1")), ("b", text("1")), ("c", text("1"))];
        let after = [("b", text("2")), ("c", text("1")), ("d", text("1"))];
        let contents = |files: &[(&str, FileContent)]| {
            Contents(files.iter().map(|(name, file)| ((*name).to_owned(), file.clone())).collect())
        };
        let changes = contents(&before).changes_to(&contents(&after));
        let names: Vec<_> = changes
            .iter()
            .map(|change| (change.name.as_str(), change.before.is_some(), change.after.is_some()))
            .collect();
        assert_eq!(names, [("a", true, false), ("b", true, true), ("d", false, true)]);
    }

    fn covered(path: &Path) -> Covered {
        let (path, setting) = (path.to_owned(), ProjectSetting::default());
        Covered { path, beside: CoveredSiblings::Nothing, setting }
    }

    #[test]
    fn long_and_binary_files_are_kept_as_digests() {
        let scratch = tempfile::tempdir().unwrap();
        let hook = scratch.path().join("hook");
        fs::create_dir(&hook).unwrap();
        let long = "x".repeat(LONGEST_TEXT + 1);
        let longest = "x".repeat(usize::try_from(MAX_SHOWN_BYTES).unwrap() + 1);
        for (name, bytes) in [
            ("HOOK.md", "text"),
            ("empty", ""),
            ("long", &long),
            ("longest", &longest),
            ("zero", "a\0b"),
        ] {
            fs::write(hook.join(name), bytes).unwrap();
        }
        let (_, Contents(files)) = Contents::read(&covered(&hook)).unwrap();
        assert_eq!(files["hook/HOOK.md"], text("text"));
        assert_eq!(files["hook/empty"], text(""));
        for name in ["hook/long", "hook/longest", "hook/zero"] {
            assert!(matches!(files[name].data, Data::Digest(_)), "{name}");
        }
    }

    #[test]
    fn project_settings_are_part_of_it() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("guard");
        fs::write(&path, "").unwrap();
        let set = Override { priority: Some(5), ..Override::default() };
        let setting = ProjectSetting { is_off: false, set };
        let (_, Contents(files)) = Contents::read(&Covered { setting, ..covered(&path) }).unwrap();
        assert_eq!(files["hooks.toml, for guard"], text("priority = 5\n"));
    }

    #[test]
    fn content_that_differs_from_the_trusted_one_is_not_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("guard");
        fs::write(&path, "one").unwrap();
        let (fingerprint, _) = Contents::read(&covered(&path)).unwrap();
        let entry = TrustEntry {
            covered: Some(covered(&path)),
            ..TrustEntry::new("guard", fingerprint.clone(), &path)
        };
        let contents = KeptContents::beside(&scratch.path().join("state/trust.json"));
        fs::write(&path, "two").unwrap();
        contents.keep(&entry);
        assert_eq!(contents.get(&fingerprint), None);
        fs::write(&path, "one").unwrap();
        contents.keep(&entry);
        assert_eq!(contents.get(&fingerprint).unwrap().0["guard"], text("one"));
        contents.retain(&[fingerprint.0.as_str()].into());
        assert!(contents.get(&fingerprint).is_some());
        contents.retain(&BTreeSet::new());
        assert_eq!(contents.get(&fingerprint), None);
    }
}
