//! `hooks.toml`: what a hooks folder says of hooks, its own and others (R18).
//!
//! The person's files come first and speak of every hook. A project's file speaks of the project's hooks only, and has no
//! word where the person's own files have one: a project never re-enables, overrides or removes what is the person's. A
//! plugin's folder has no say at all: its file would speak with the voice of whoever installed the plugin. Only the user's
//! files give a hook variables that are withheld from others.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};

use crate::hook::{Layer, PRIORITIES, TIMEOUTS_MS};
use crate::layout::Root;

/// The file's name in a hooks folder.
pub const SETTINGS_FILE: &str = "hooks.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    hooks: Table,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    enabled: Option<bool>,
    // The specification's guide has it; Tenter's `TENTER_LOG` does its work.
    #[serde(rename = "debug")]
    _debug: Option<bool>,
    defaults: Defaults,
    disable: Vec<Named>,
    #[serde(rename = "override")]
    overrides: Vec<OverrideTable>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Defaults {
    timeout: Option<i64>,
    #[serde(rename = "async")]
    asynchronous: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OverrideTable {
    name: String,
    priority: Option<i64>,
    timeout: Option<i64>,
    #[serde(rename = "async")]
    asynchronous: Option<bool>,
    #[serde(default)]
    env: Vec<String>,
}

/// What is set for one hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Override {
    /// Higher runs earlier.
    pub priority: Option<u16>,
    /// Milliseconds.
    pub timeout: Option<u64>,
    /// Whether nobody waits for it.
    pub asynchronous: Option<bool>,
}

impl Override {
    /// These values where there are any, else those of `other`.
    fn or(self, other: Self) -> Self {
        Self {
            priority: self.priority.or(other.priority),
            timeout: self.timeout.or(other.timeout),
            asynchronous: self.asynchronous.or(other.asynchronous),
        }
    }
}

/// What the project's own `hooks.toml` files change about one hook. It is part of what is trusted (R72).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProjectSetting {
    /// Whether they switch the hook off.
    pub is_off: bool,
    /// What they set for it.
    pub set: Override,
}

/// One file, read.
#[derive(Debug)]
struct FolderSettings {
    path: PathBuf,
    of_project: bool,
    enabled: bool,
    defaults: Override,
    disabled: BTreeSet<String>,
    overrides: BTreeMap<String, Override>,
    /// Variables by the hook's name; of the user's files alone.
    env: BTreeMap<String, Vec<String>>,
}

impl FolderSettings {
    /// Whether it switches off the hook with this full name.
    fn is_off(&self, name: &str) -> bool {
        !self.enabled || self.disabled.contains(name)
    }
}

/// All files together, the person's first.
#[derive(Debug, Default)]
pub struct HookSettings(Vec<FolderSettings>);

impl HookSettings {
    /// Reads the file of every folder that has one. One that cannot be read says nothing, and that is told.
    pub fn read(roots: &[Root]) -> (Self, Vec<Diagnostic>) {
        let mut settings = Vec::new();
        let mut diagnostics = Vec::new();
        for root in roots.iter().filter(|root| root.prefix.is_empty()) {
            match read(root, &mut diagnostics) {
                Ok(found) => settings.extend(found),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        settings.sort_by_key(|file: &FolderSettings| file.of_project);
        (Self(settings), diagnostics)
    }

    fn about(&self, layer: Layer) -> impl Iterator<Item = &FolderSettings> {
        self.0.iter().filter(move |file| !file.of_project || layer.needs_trust())
    }

    /// The file that switches a hook off, if one does.
    pub fn disabled_by(&self, name: &str, layer: Layer) -> Option<&Path> {
        self.about(layer).find(|file| file.is_off(name)).map(|file| file.path.as_path())
    }

    /// The project's file that disables a hook of the project, where no file of the user's does.
    pub fn disabled_by_project(&self, name: &str) -> Option<&Path> {
        let first = self.0.iter().find(|file| file.is_off(name));
        first.filter(|file| file.of_project).map(|file| file.path.as_path())
    }

    /// What is set for a hook by name.
    pub fn override_of(&self, name: &str, layer: Layer) -> Override {
        let named = self.about(layer).filter_map(|file| file.overrides.get(name));
        named.fold(Override::default(), |held, more| held.or(*more))
    }

    /// The withheld variables that the user gives to a hook, beside those that its manifest asks for.
    pub fn env_of(&self, name: &str) -> Vec<String> {
        let given = self.0.iter().filter_map(|file| file.env.get(name));
        given.flatten().cloned().collect()
    }

    /// What is set for all hooks that do not say otherwise.
    pub fn defaults(&self, layer: Layer) -> Override {
        self.about(layer).fold(Override::default(), |held, file| held.or(file.defaults))
    }

    /// What the project's files change about the hook with this full name, which sets `own` itself: a default has no effect
    /// where it does. The user's files have no part in this.
    pub fn of_project(&self, name: &str, own: Override) -> ProjectSetting {
        let files = || self.0.iter().filter(|file| file.of_project);
        let named = files().filter_map(|file| file.overrides.get(name));
        let set = named.fold(Override::default(), |held, more| held.or(*more));
        let usual = files().fold(Override::default(), |held, file| held.or(file.defaults));
        let usual = Override {
            priority: usual.priority.filter(|_| own.priority.is_none()),
            timeout: usual.timeout.filter(|_| own.timeout.is_none()),
            asynchronous: usual.asynchronous.filter(|_| own.asynchronous.is_none()),
        };
        ProjectSetting { is_off: files().any(|file| file.is_off(name)), set: set.or(usual) }
    }

    /// Names that some file speaks of, with the file.
    pub fn names(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.0.iter().flat_map(|file| {
            let names = file.disabled.iter().chain(file.overrides.keys());
            names.map(|name| (file.path.as_path(), name.as_str()))
        })
    }
}

fn read(
    root: &Root,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<FolderSettings>, Diagnostic> {
    let path = root.dir.join(SETTINGS_FILE);
    let unusable = |problem: String| {
        Diagnostic::new("hooks-toml-unusable", Severity::Error, problem).at(&path).help(
            "nothing that this file says has an effect; see docs/manifest-hooks.md for its keys",
        )
    };
    let text = match untrusted_file::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unusable(format!("it cannot be read: {error}"))),
    };
    let Table { enabled, defaults, disable, overrides, .. } = toml::from_str::<File>(&text)
        .map_err(|error| unusable(format!("it is not understood: {error}")))?
        .hooks;
    let mut values = Values { path: &path, diagnostics };
    let defaults = Override {
        priority: None,
        timeout: values.timeout("hooks.defaults", defaults.timeout),
        asynchronous: defaults.asynchronous,
    };
    let of_project = root.layer.needs_trust();
    let mut env = BTreeMap::new();
    let mut named = BTreeMap::new();
    for hook in overrides {
        named.insert(hook.name.clone(), values.overridden(&hook));
        if !hook.env.is_empty() && !of_project {
            env.insert(hook.name, hook.env);
        } else if !hook.env.is_empty() {
            values.refuse_env(&hook.name);
        }
    }
    Ok(Some(FolderSettings {
        path: path.clone(),
        of_project,
        enabled: enabled.unwrap_or(true),
        defaults,
        disabled: disable.into_iter().map(|hook| hook.name).collect(),
        overrides: named,
        env,
    }))
}

/// Moves the numbers of one file into their ranges, and reports those that were not.
struct Values<'a> {
    path: &'a Path,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Values<'_> {
    fn overridden(&mut self, hook: &OverrideTable) -> Override {
        let of = format!("hooks.override of {}", hook.name);
        let priority = self.clamped(&format!("priority in {of}"), hook.priority, PRIORITIES);
        Override {
            priority: priority.and_then(|priority| priority.try_into().ok()),
            timeout: self.timeout(&of, hook.timeout),
            asynchronous: hook.asynchronous,
        }
    }

    fn timeout(&mut self, of: &str, value: Option<i64>) -> Option<u64> {
        self.clamped(&format!("timeout in {of}"), value, TIMEOUTS_MS)
    }

    fn clamped(
        &mut self,
        what: &str,
        value: Option<i64>,
        (least, most): (u64, u64),
    ) -> Option<u64> {
        let value = value?;
        let used = u64::try_from(value).unwrap_or(0).clamp(least, most);
        if i64::try_from(used) != Ok(value) {
            let message = format!("{what} is {value}; {used} is used");
            let help = format!("write a number from {least} to {most}");
            let finding = Diagnostic::new("hooks-toml-clamped", Severity::Warning, message);
            self.diagnostics.push(finding.at(self.path).help(help));
        }
        Some(used)
    }

    fn refuse_env(&mut self, name: &str) {
        let message =
            format!("`env` in hooks.override of {name} has no effect in a project's file");
        let finding = Diagnostic::new("hooks-toml-refused", Severity::Warning, message);
        let help = "only your own hooks.toml or config.toml gives a hook withheld variables";
        self.diagnostics.push(finding.at(self.path).help(help));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn settings(user: &str, project: &str) -> HookSettings {
        let scratch = tempfile::tempdir().unwrap();
        let root = |layer, name: &str, text: &str| {
            let dir = scratch.path().join(name);
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join(SETTINGS_FILE), text).unwrap();
            Root::new(layer, dir)
        };
        let (settings, diagnostics) =
            HookSettings::read(&[root(Layer::Project, "p", project), root(Layer::User, "u", user)]);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        settings
    }

    #[test]
    fn a_project_speaks_of_its_own_hooks_only() {
        let settings = settings(
            "",
            "[[hooks.disable]]\nname = \"guard\"\n[[hooks.override]]\nname = \"slow\"\npriority = 5\n",
        );
        assert!(settings.disabled_by("guard", Layer::Project).is_some());
        assert_eq!(settings.disabled_by("guard", Layer::User), None);
        assert_eq!(settings.override_of("slow", Layer::User), Override::default());
        assert_eq!(settings.override_of("slow", Layer::ProjectPlugin).priority, Some(5));
    }

    #[test]
    fn the_persons_word_goes_before_the_projects() {
        let settings = settings(
            "[hooks.defaults]\ntimeout = 1000\n[[hooks.override]]\nname = \"slow\"\npriority = 900\n[[hooks.disable]]\nname = \"off\"\n",
            "[hooks]\nenabled = true\n[hooks.defaults]\ntimeout = 200\nasync = true\n[[hooks.override]]\nname = \"slow\"\npriority = 1\ntimeout = 770\n",
        );
        assert_eq!(
            settings.override_of("slow", Layer::Project),
            Override { priority: Some(900), timeout: Some(770), asynchronous: None }
        );
        assert_eq!(
            settings.defaults(Layer::Project),
            Override { priority: None, timeout: Some(1000), asynchronous: Some(true) }
        );
        assert_eq!(
            settings.defaults(Layer::User),
            Override { priority: None, timeout: Some(1000), asynchronous: None }
        );
        assert!(settings.disabled_by("off", Layer::Project).is_some());
    }

    #[test]
    fn hooks_can_be_switched_off_altogether() {
        let off = "[hooks]\nenabled = false\n";
        assert!(settings(off, "").disabled_by("any", Layer::UserPlugin).is_some());
        let of_project = settings("", off);
        assert!(of_project.disabled_by("any", Layer::Project).is_some());
        assert_eq!(of_project.disabled_by("any", Layer::User), None);
    }

    #[test]
    fn what_the_project_changes_about_a_hook_does_not_depend_on_the_user() {
        let of_project = "[hooks.defaults]\ntimeout = 700\nasync = true\n[[hooks.override]]\nname = \"slow\"\npriority = 5\n";
        let of_user =
            "[hooks]\nenabled = false\n[[hooks.override]]\nname = \"slow\"\npriority = 900\n";
        let settings = settings(of_user, of_project);
        let own = Override { asynchronous: Some(false), ..Override::default() };
        let set = Override { priority: Some(5), timeout: Some(700), asynchronous: None };
        assert_eq!(settings.of_project("slow", own), ProjectSetting { is_off: false, set });
        let own = Override { priority: Some(1), timeout: Some(1), asynchronous: Some(true) };
        assert_eq!(settings.of_project("other", own), ProjectSetting::default());
        assert!(self::settings("", "[hooks]\nenabled = false\n").of_project("x", own).is_off);
    }

    #[test]
    fn numbers_out_of_range_are_moved_into_it_and_reported() {
        let scratch = tempfile::tempdir().unwrap();
        let text = "[hooks.defaults]\ntimeout = 5\n[[hooks.override]]\nname = \"slow\"\npriority = 70000\ntimeout = -1\n[[hooks.override]]\nname = \"fine\"\npriority = 1000\ntimeout = 100\n";
        fs::write(scratch.path().join(SETTINGS_FILE), text).unwrap();
        let root = Root::new(Layer::User, scratch.path());
        let (settings, diagnostics) = HookSettings::read(&[root]);
        let slow = settings.override_of("slow", Layer::User);
        assert_eq!((slow.priority, slow.timeout), (Some(1000), Some(100)));
        assert_eq!(settings.defaults(Layer::User).timeout, Some(100));
        let messages: Vec<&str> = diagnostics.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "timeout in hooks.defaults is 5; 100 is used",
                "priority in hooks.override of slow is 70000; 1000 is used",
                "timeout in hooks.override of slow is -1; 100 is used",
            ]
        );
    }

    #[test]
    fn only_the_users_file_gives_a_hook_variables() {
        let scratch = tempfile::tempdir().unwrap();
        let root = |layer, name: &str| {
            let dir = scratch.path().join(name);
            fs::create_dir(&dir).unwrap();
            let text =
                format!("[[hooks.override]]\nname = \"call-home\"\nenv = [\"{name}_API_KEY\"]\n");
            fs::write(dir.join(SETTINGS_FILE), text).unwrap();
            Root::new(layer, dir)
        };
        let roots = [root(Layer::Project, "THEIR"), root(Layer::User, "MY")];
        let (settings, diagnostics) = HookSettings::read(&roots);
        assert_eq!(settings.env_of("call-home"), ["MY_API_KEY"]);
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(diagnostics[0].id, "hooks-toml-refused");
    }

    #[test]
    fn a_file_that_is_none_is_told_with_its_line() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join(SETTINGS_FILE), "[hooks]\nenabledd = true\n").unwrap();
        let root = Root::new(Layer::User, scratch.path());
        let (settings, diagnostics) = HookSettings::read(&[root]);
        assert!(settings.0.is_empty());
        assert!(diagnostics[0].message.contains("enabledd"), "{diagnostics:?}");
    }
}
