//! The changes of an import in a directory of hooks: it creates hooks, and updates or removes hooks of an earlier import that the user
//! has not edited.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::files::{ImportedFiles, short};
use super::{Import, ImportedHook, Source};

/// The planned changes of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportPlan {
    /// The hooks of the settings, and the hooks of an earlier import that are no longer in the settings.
    pub hooks: Vec<PlannedHook>,
    /// Remarks that apply to all of them.
    pub notes: Vec<String>,
    /// The parts that are not carried over, with the reason.
    pub left_out: Vec<String>,
}

/// One hook of an import.
#[derive(Debug, Clone)]
pub struct PlannedHook {
    /// Its name, which its directory has, too.
    pub name: String,
    /// Its description in the terms of the settings.
    pub about: String,
    /// The differences from Claude Code.
    pub remarks: Vec<String>,
    /// Its files.
    pub files: ImportedFiles,
    /// Its change.
    pub change: HookChange,
}

/// The change of a hook by an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookChange {
    /// It is created.
    Create,
    /// It is replaced.
    Update,
    /// It is up to date.
    Keep,
    /// It was imported and edited, so it stays as it is.
    KeepEdited,
    /// It is no longer in the settings.
    Remove,
}

impl ImportPlan {
    /// Returns whether it changes anything.
    pub fn is_change(&self) -> bool {
        self.hooks.iter().any(|hook| hook.change.is_change())
    }
}

impl HookChange {
    /// Returns whether files change.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Remove)
    }
}

/// A hook of an earlier import.
struct Existing {
    key: String,
    is_unedited: bool,
    files: ImportedFiles,
}

/// Plans to write an import to a directory of hooks, beside what `earlier` writes there.
pub fn plan(import: Import, source: &Source, hooks: &Path, earlier: &[ImportPlan]) -> ImportPlan {
    let mut directory = HooksDirectory::read(hooks, &source.origin);
    let names = earlier.iter().flat_map(|plan| &plan.hooks).map(|hook| hook.name.clone());
    directory.names.extend(names);
    let mut plan = ImportPlan { hooks: Vec::new(), notes: import.notes, left_out: import.left_out };
    let mut keys = BTreeSet::new();
    for hook in import.hooks {
        if !keys.insert(hook.key.clone()) {
            continue; // it is there twice
        }
        match directory.planned(&hook, source) {
            Some(hook) => plan.hooks.push(hook),
            None => plan.left_out.push(format!("{}: it has control characters", hook.about)),
        }
    }
    plan.hooks.extend(directory.into_removed());
    plan
}

/// The names in a directory of hooks.
struct HooksDirectory {
    names: BTreeSet<String>,
    existing: BTreeMap<String, Existing>,
}

impl HooksDirectory {
    fn read(path: &Path, origin: &str) -> Self {
        let mut directory = Self { names: BTreeSet::new(), existing: BTreeMap::new() };
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let files = ImportedFiles::read(&entry.path());
            let mark = files.as_ref().and_then(ImportedFiles::mark);
            if let (Some(files), Some(mark)) = (files, mark.filter(|mark| mark.origin == origin)) {
                let existing = Existing { key: mark.key, is_unedited: mark.is_unedited, files };
                directory.existing.insert(name.clone(), existing);
            }
            directory.names.insert(name);
        }
        directory
    }

    fn planned(&mut self, hook: &ImportedHook, source: &Source) -> Option<PlannedHook> {
        let is_same = |existing: &Existing| existing.key == short(&hook.key);
        let name = self.existing.iter().find(|(_, existing)| is_same(existing));
        let name = name.map_or_else(|| self.free_name(&hook.names), |(name, _)| name.clone());
        let existing = self.existing.remove(&name).filter(is_same);
        let files = ImportedFiles::new(hook, &name, source)?;
        self.names.insert(name.clone());
        let change = match existing {
            None => HookChange::Create,
            Some(existing) if existing.files.is_same(&files) => HookChange::Keep,
            Some(existing) if existing.is_unedited => HookChange::Update,
            Some(_) => HookChange::KeepEdited,
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

    /// Returns the imported hooks that are no longer in the settings.
    fn into_removed(self) -> impl Iterator<Item = PlannedHook> {
        self.existing.into_iter().map(|(name, existing)| PlannedHook {
            about: "no longer in the settings".to_owned(),
            name,
            remarks: Vec::new(),
            files: existing.files,
            change: if existing.is_unedited { HookChange::Remove } else { HookChange::KeepEdited },
        })
    }
}
