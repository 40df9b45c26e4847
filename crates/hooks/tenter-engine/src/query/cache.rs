//! Caches replies of hooks and contents of manifests between processes (R11). It may be deleted at any time: hooks are
//! then queried, and manifests read, again.
//!
//! Only definite results are cached. A hook that hung, crashed or could not be started may succeed next time, and a
//! manifest with errors is read again to report them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_base::{FileStamp, KnownTree, replace_file, untrusted_file, versioned};
use tenter_protocol::executable::{self, Announcement};
use tenter_protocol::manifest::Manifest;
use tenter_protocol::runtime::SERVE;

use super::QueryReply;
use super::kept_script::KeptScript;
use crate::hook_stamp::HookStamp;
use crate::matcher::HookRules;
use crate::source::{Candidate, Script};
use crate::trust::Fingerprint;

/// Another version may know other events, so it does not read these replies.
const VERSION: &str = concat!("12/", env!("CARGO_PKG_VERSION"));
/// Maximum size of the cache, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The cached facts about the file of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// The file's own fingerprint.
    pub(crate) fingerprint: Fingerprint,
    /// The fingerprint of the helper files next to it, which may have influenced its reply.
    pub(crate) beside: Option<Fingerprint>,
    /// Its reply: subscriptions, or text that names no event.
    pub(crate) answer: QueryReply,
}

/// The cached facts about the directory of a hook.
#[derive(Debug, Clone)]
pub(crate) struct KnownManifest {
    /// The contents of its manifest. If it is from the cache, it lacks the rules and the metadata.
    pub(crate) manifest: Manifest,
    /// The rules of its manifest, if it has any.
    pub(crate) rules: Option<HookRules>,
    /// The directory's own fingerprint.
    pub(crate) fingerprint: Fingerprint,
    /// The script that it runs.
    pub(crate) script: Script,
}

/// The cached replies. Without a path nothing is cached.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    path: Option<PathBuf>,
    old: Kept,
    fresh: Kept,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct Kept {
    hooks: BTreeMap<String, CachedHook>,
    manifests: BTreeMap<String, ManifestEntry>,
    directories: BTreeMap<String, DirectoryEntry>,
}

impl Kept {
    fn is_empty(&self) -> bool {
        let Self { hooks, manifests, directories } = self;
        hooks.is_empty() && manifests.is_empty() && directories.is_empty()
    }
}

/// The fingerprint of the helper files next to the hooks of a directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DirectoryEntry {
    /// The digest of their stamps.
    stamp: String,
    hash: Fingerprint,
}

/// A manifest without errors, and the fingerprint of its directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ManifestEntry {
    /// The digest of the directory's stamp.
    stamp: String,
    hash: Fingerprint,
    /// The manifest as JSON, since its settings have no fixed form. Its rules are cached on their own: most of them are not read.
    manifest: String,
    rules: Option<HookRules>,
    script: KeptScript,
    /// The names in the directory, once it has not changed for a while.
    tree: Option<KnownTree>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CachedHook {
    stamp: FileStamp,
    hash: Fingerprint,
    beside: Option<Fingerprint>,
    answer: KeptAnswer,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeptAnswer {
    /// The lines that it printed: the spellings that subscribe, and `serve`.
    Events(Vec<String>),
    Printed(String),
}

impl Cache {
    /// Reads the cache in the file at `path`. An unreadable one counts as empty and is replaced at the next
    /// [`save`](Cache::save).
    pub(crate) fn open(path: Option<&Path>) -> Self {
        let old = path.map(read).unwrap_or_default();
        Self { path: path.map(Path::to_owned), old, fresh: Kept::default() }
    }

    /// Returns the cached facts about the file at `real_path`, a path without symlinks, as long as its stamp is `stamp` and the
    /// helper files next to it have the fingerprint `beside`.
    pub(crate) fn get(
        &self,
        real_path: &Path,
        stamp: FileStamp,
        beside: Option<&Fingerprint>,
    ) -> Option<Known> {
        let entry = self.old.hooks.get(real_path.to_str()?)?;
        if entry.stamp != stamp || entry.beside.as_ref() != beside {
            return None;
        }
        let answer = match &entry.answer {
            KeptAnswer::Events(events) => {
                QueryReply::Announced(executable::announcement(&events.join("\n")).ok()?)
            }
            KeptAnswer::Printed(text) => QueryReply::Printed(text.clone()),
        };
        Some(Known { fingerprint: entry.hash.clone(), beside: entry.beside.clone(), answer })
    }

    /// Caches the reply of the file at `real_path` with the stamp `stamp`, if it was definite.
    pub(crate) fn put(&mut self, real_path: &Path, stamp: FileStamp, facts: &Known) {
        let answer = match &facts.answer {
            QueryReply::Announced(announcement) => KeptAnswer::Events(lines(announcement)),
            QueryReply::Printed(text) => KeptAnswer::Printed(text.clone()),
            QueryReply::Failed(_) => return,
        };
        if let Some(path) = real_path.to_str() {
            let (hash, beside) = (facts.fingerprint.clone(), facts.beside.clone());
            self.fresh.hooks.insert(path.to_owned(), CachedHook { stamp, hash, beside, answer });
        }
    }

    /// Returns the cached facts about the directory of a candidate, as long as its stamp is `stamp`.
    pub(crate) fn manifest(
        &self,
        candidate: &Candidate,
        stamp: &HookStamp,
    ) -> Option<KnownManifest> {
        let entry = self.old.manifests.get(candidate.real_path.to_str()?)?;
        let stored_manifest = || {
            Some(KnownManifest {
                manifest: serde_json::from_str(&entry.manifest).ok()?,
                rules: entry.rules.clone(),
                fingerprint: entry.hash.clone(),
                script: entry.script.read(&candidate.path)?,
            })
        };
        let is_whole = entry.rules.as_ref().is_none_or(HookRules::is_whole);
        (is_whole && entry.stamp == stamp.digest()).then(stored_manifest)?
    }

    /// Caches a manifest without errors.
    pub(crate) fn put_manifest(
        &mut self,
        real_path: &Path,
        stamp: &HookStamp,
        facts: &KnownManifest,
    ) {
        if let (Some(path), Some(script)) = (real_path.to_str(), KeptScript::new(&facts.script)) {
            let mut manifest = facts.manifest.clone();
            manifest.extensions.rules = Vec::new();
            let Ok(manifest) = serde_json::to_string(&manifest) else { return };
            let entry = ManifestEntry {
                stamp: stamp.digest(),
                hash: facts.fingerprint.clone(),
                manifest,
                rules: facts.rules.clone(),
                script,
                tree: None,
            };
            self.fresh.manifests.insert(path.to_owned(), entry);
        }
    }

    /// Returns what is known of the tree of the directory at `real_path`.
    pub(crate) fn tree(&self, real_path: &Path) -> Option<&KnownTree> {
        self.old.manifests.get(real_path.to_str()?)?.tree.as_ref()
    }

    /// Adds what is known of its tree to the cached manifest in the directory at `real_path`.
    pub(crate) fn put_tree(&mut self, real_path: &Path, tree: KnownTree) {
        let path = real_path.to_str().unwrap_or_default();
        if let Some(entry) = self.old.manifests.get(path) {
            let entry = ManifestEntry { tree: Some(tree), ..entry.clone() };
            self.fresh.manifests.insert(path.to_owned(), entry);
        }
    }

    /// Returns the fingerprint of the helper files next to the hooks in `directory`, as long as the digest of their stamps is
    /// `stamp`.
    pub(crate) fn directory(&self, directory: &Path, stamp: &str) -> Option<Fingerprint> {
        let entry = self.old.directories.get(directory.to_str()?)?;
        (entry.stamp == stamp).then(|| entry.hash.clone())
    }

    /// Caches the fingerprint of the helper files next to the hooks in `directory`.
    pub(crate) fn put_directory(&mut self, directory: &Path, stamp: String, hash: Fingerprint) {
        if let Some(path) = directory.to_str() {
            self.fresh.directories.insert(path.to_owned(), DirectoryEntry { stamp, hash });
        }
    }

    /// Writes the file if there is anything new: with what other processes wrote meanwhile, without entries of removed
    /// hooks.
    pub(crate) fn save(&self) -> io::Result<()> {
        let Some(path) = self.path.as_ref().filter(|_| !self.fresh.is_empty()) else {
            return Ok(());
        };
        let mut cache = read(path);
        cache.hooks.extend(self.fresh.hooks.clone());
        cache.manifests.extend(self.fresh.manifests.clone());
        cache.directories.extend(self.fresh.directories.clone());
        cache.hooks.retain(|hook, _| Path::new(hook).exists());
        cache.manifests.retain(|hook, _| Path::new(hook).exists());
        cache.directories.retain(|directory, _| Path::new(directory).exists());
        let bytes = versioned::to_bytes(VERSION, &cache).map_err(io::Error::other)?;
        replace_file::replace(path, &bytes)
    }
}

fn lines(announcement: &Announcement) -> Vec<String> {
    let spellings = announcement.subscriptions.iter().map(|subscription| subscription.spelling);
    spellings.chain(announcement.serves.then_some(SERVE)).map(str::to_owned).collect()
}

fn read(path: &Path) -> Kept {
    let bytes = untrusted_file::read(path, MAX_BYTES).ok();
    bytes.and_then(|bytes| versioned::from_bytes(VERSION, &bytes)).unwrap_or_default()
}
