//! What hooks answered, remembered between processes (R11). It may always be deleted: what it holds is asked again.
//!
//! Only definite answers are kept. A hook that hung, crashed or could not be started may do better next time.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_protocol::executable;

use super::Answer;
use crate::hook::Fingerprint;
use crate::replace_file;
use crate::stamp::FileStamp;

/// Another version may know other events, so it does not read these answers.
const VERSION: &str = concat!("1/", env!("CARGO_PKG_VERSION"));

/// What is known of the file of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its content.
    pub fingerprint: Fingerprint,
    /// What it answered: subscriptions, or text that names no event.
    pub answer: Answer,
}

/// The remembered answers. Without a path it remembers nothing.
#[derive(Debug, Default)]
pub struct Cache {
    path: Option<PathBuf>,
    entries: BTreeMap<String, Entry>,
    fresh: BTreeMap<String, Entry>,
}

#[derive(Default, Serialize, Deserialize)]
struct File {
    version: String,
    hooks: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    stamp: FileStamp,
    hash: Fingerprint,
    answer: Kept,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kept {
    /// The spellings that subscribe.
    Events(Vec<String>),
    Printed(String),
}

impl Cache {
    /// The answers kept in the file at `path`. What cannot be read counts as nothing and is replaced at the next
    /// [`save`](Cache::save).
    pub fn open(path: Option<&Path>) -> Self {
        let entries = path.map(read).unwrap_or_default();
        Self { path: path.map(Path::to_owned), entries, fresh: BTreeMap::new() }
    }

    /// What is known of the file at `real_path`, a path without links, as long as it looks like `stamp`.
    pub fn get(&self, real_path: &Path, stamp: FileStamp) -> Option<Known> {
        let entry = self.entries.get(real_path.to_str()?).filter(|entry| entry.stamp == stamp)?;
        let answer = match &entry.answer {
            Kept::Events(events) => {
                Answer::Subscriptions(executable::subscriptions(&events.join("\n")).ok()?)
            }
            Kept::Printed(text) => Answer::Printed(text.clone()),
        };
        Some(Known { fingerprint: entry.hash.clone(), answer })
    }

    /// Remembers what the file at `real_path` answered while it looked like `stamp`; nothing, if that was not definite.
    pub fn put(&mut self, real_path: &Path, stamp: FileStamp, known: &Known) {
        let answer = match &known.answer {
            Answer::Subscriptions(subscriptions) => Kept::Events(
                subscriptions.iter().map(|subscription| subscription.spelling.to_owned()).collect(),
            ),
            Answer::Printed(text) => Kept::Printed(text.clone()),
            Answer::Failed(_) => return,
        };
        if let Some(path) = real_path.to_str() {
            self.fresh
                .insert(path.to_owned(), Entry { stamp, hash: known.fingerprint.clone(), answer });
        }
    }

    /// Writes the file, if there is anything new: with what other processes wrote meanwhile, without files that are gone.
    pub fn save(&self) -> io::Result<()> {
        let Some(path) = self.path.as_ref().filter(|_| !self.fresh.is_empty()) else {
            return Ok(());
        };
        let mut hooks = read(path);
        hooks.extend(self.fresh.clone());
        hooks.retain(|hook, _| Path::new(hook).exists());
        let file = File { version: VERSION.to_owned(), hooks };
        replace_file::replace(path, &serde_json::to_vec(&file)?)
    }
}

fn read(path: &Path) -> BTreeMap<String, Entry> {
    let file: File = fs::read(path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    if file.version == VERSION { file.hooks } else { BTreeMap::new() }
}
