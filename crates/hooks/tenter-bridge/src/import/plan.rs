//! What an import changes in a directory of hooks: it creates hooks, and updates or removes those of an earlier import that the
//! user has not edited.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::files::{HookFiles, short};
use super::{Import, ImportedHook, Source};

/// What an import does.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The hooks of the settings, and those of an earlier import that are no longer in them.
    pub hooks: Vec<PlannedHook>,
    /// What the user should know of all of them.
    pub notes: Vec<String>,
    /// What is not carried over, and why.
    pub left_out: Vec<String>,
}

/// One hook of an import.
#[derive(Debug, Clone)]
pub struct PlannedHook {
    /// Its name, which is that of its directory.
    pub name: String,
    /// What it was in the settings.
    pub about: String,
    /// How it differs from what it is in Claude Code.
    pub remarks: Vec<String>,
    /// Its files.
    pub files: HookFiles,
    /// What happens to it.
    pub change: Change,
}

/// What happens to a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is created.
    Create,
    /// It is replaced.
    Update,
    /// It is as it should be.
    Keep,
    /// It was imported and edited, so it stays as it is.
    KeepEdited,
    /// It is no longer in the settings.
    Remove,
}

impl Plan {
    /// Whether it changes anything.
    pub fn is_change(&self) -> bool {
        self.hooks.iter().any(|hook| hook.change.is_change())
    }
}

impl Change {
    /// Whether files change.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Remove)
    }
}

/// A hook of an earlier import.
struct Existing {
    key: String,
    is_unedited: bool,
    files: HookFiles,
}

/// Plans to write an import to a directory of hooks.
pub fn plan(import: Import, source: &Source, hooks: &Path) -> Plan {
    let mut directory = HooksDirectory::read(hooks, &source.origin);
    let mut plan = Plan { hooks: Vec::new(), notes: import.notes, left_out: import.left_out };
    let mut keys = BTreeSet::new();
    for hook in import.hooks {
        if !keys.insert(hook.key.clone()) {
            continue; // it is there twice
        }
        match directory.planned(&hook, source) {
            Some(planned) => plan.hooks.push(planned),
            None => plan.left_out.push(format!("{}: it has control characters", hook.about)),
        }
    }
    plan.hooks.extend(directory.gone());
    plan
}

/// The names in a directory of hooks.
struct HooksDirectory {
    names: BTreeSet<String>,
    imported: BTreeMap<String, Existing>,
}

impl HooksDirectory {
    fn read(path: &Path, origin: &str) -> Self {
        let mut directory = Self { names: BTreeSet::new(), imported: BTreeMap::new() };
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let files = HookFiles::read(&entry.path());
            let mark = files.as_ref().and_then(HookFiles::mark);
            if let (Some(files), Some(mark)) = (files, mark.filter(|mark| mark.origin == origin)) {
                let existing = Existing { key: mark.key, is_unedited: mark.is_unedited, files };
                directory.imported.insert(name.clone(), existing);
            }
            directory.names.insert(name);
        }
        directory
    }

    fn planned(&mut self, hook: &ImportedHook, source: &Source) -> Option<PlannedHook> {
        let known = self.imported.iter().find(|(_, existing)| existing.key == short(&hook.key));
        let known = known.map(|(name, _)| name.clone());
        let (name, existing) = match known {
            Some(name) => {
                let existing = self.imported.remove(&name);
                (name, existing)
            }
            None => (self.free_name(&hook.names), None),
        };
        let files = HookFiles::new(hook, &name, source)?;
        self.names.insert(name.clone());
        let change = match existing {
            None => Change::Create,
            Some(existing) if existing.files.is_same(&files) => Change::Keep,
            Some(existing) if existing.is_unedited => Change::Update,
            Some(_) => Change::KeepEdited,
        };
        let ImportedHook { about, remarks, .. } = hook.clone();
        Some(PlannedHook { name, about, remarks, files, change })
    }

    fn free_name(&self, names: &[String]) -> String {
        let is_free = |name: &String| !self.names.contains(name);
        let last = names.last().cloned().unwrap_or_else(|| "claude-hook".to_owned());
        let numbered = (2u32..).map(|number| format!("{last}-{number}"));
        names.iter().cloned().chain(numbered).find(is_free).unwrap_or(last)
    }

    /// The imported hooks that are no longer in the settings.
    fn gone(self) -> impl Iterator<Item = PlannedHook> {
        self.imported.into_iter().map(|(name, existing)| PlannedHook {
            about: "no longer in the settings".to_owned(),
            name,
            remarks: Vec::new(),
            files: existing.files,
            change: if existing.is_unedited { Change::Remove } else { Change::KeepEdited },
        })
    }
}
