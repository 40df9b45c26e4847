//! Reads `hooks.toml`, the settings for hooks in a hooks directory (R18).
//!
//! The managed file has precedence, and is the only one that applies to managed hooks. The user's files come next and apply to every hook. A project's file applies only to hooks of the project, and only where the
//! user's files set nothing: a project never enables, overrides or disables hooks of the user. The file of a plugin is ignored: it would
//! have the rights of the user who installed the plugin. Only the user's files can give a hook withheld variables.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};

use crate::hook_policy::{HookMode, PRIORITIES, TIMEOUTS_MS};
use crate::layer::Layer;
use crate::layout::Root;

/// The name of the file.
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
    // Part of the specification; `TENTER_LOG` replaces it.
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
    mode: Option<HookMode>,
    #[serde(default)]
    env: Vec<String>,
}

/// The settings of one hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Override {
    /// The priority; hooks with a higher one run earlier.
    pub priority: Option<u16>,
    /// The timeout in milliseconds.
    pub timeout: Option<u64>,
    /// True if the hook is asynchronous.
    pub asynchronous: Option<bool>,
    /// The use of its decisions.
    pub mode: Option<HookMode>,
}

impl Override {
    /// Returns these settings, completed by the settings of `other`.
    fn or(self, other: Self) -> Self {
        Self {
            priority: self.priority.or(other.priority),
            timeout: self.timeout.or(other.timeout),
            asynchronous: self.asynchronous.or(other.asynchronous),
            mode: self.mode.or(other.mode),
        }
    }
}

/// The changes that the `hooks.toml` files of the project make to one hook. Trust covers them (R72).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProjectSetting {
    /// True if they disable the hook.
    pub is_off: bool,
    /// The settings.
    pub set: Override,
}

/// The content of one file.
#[derive(Debug)]
struct DirectorySettings {
    path: PathBuf,
    layer: Layer,
    enabled: bool,
    defaults: Override,
    disabled: BTreeSet<String>,
    overrides: BTreeMap<String, Override>,
    /// Withheld variables by the name of the hook; only of the user's files.
    env: BTreeMap<String, Vec<String>>,
}

impl DirectorySettings {
    fn is_of_project(&self) -> bool {
        self.layer.needs_trust()
    }

    /// Returns whether the file applies to hooks of `layer`.
    fn applies_to(&self, layer: Layer) -> bool {
        match layer {
            Layer::Managed => self.layer == Layer::Managed,
            _ => !self.is_of_project() || layer.needs_trust(),
        }
    }

    /// Returns whether the file disables the hook with this full name.
    fn is_off(&self, name: &str) -> bool {
        !self.enabled || self.disabled.contains(name)
    }
}

/// All files, the user's first.
#[derive(Debug, Default)]
pub struct HookSettings(Vec<DirectorySettings>);

impl HookSettings {
    /// Reads the file of every directory that has one. A file that cannot be read has no effect and is reported.
    pub fn read(roots: &[Root]) -> (Self, Vec<Diagnostic>) {
        let mut settings = Vec::new();
        let mut diagnostics = Vec::new();
        for root in roots.iter().filter(|root| root.prefix.is_empty()) {
            match read(root, &mut diagnostics) {
                Ok(entries) => settings.extend(entries),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        settings.sort_by_key(|file: &DirectorySettings| {
            (file.layer != Layer::Managed, file.is_of_project())
        });
        (Self(settings), diagnostics)
    }

    fn about(&self, layer: Layer) -> impl Iterator<Item = &DirectorySettings> {
        self.0.iter().filter(move |file| file.applies_to(layer))
    }

    /// Returns the file that disables a hook, if there is one.
    pub fn disabled_by(&self, name: &str, layer: Layer) -> Option<&Path> {
        self.about(layer).find(|file| file.is_off(name)).map(|file| file.path.as_path())
    }

    /// Returns the project's file that disables a hook of the project, where no file of the user's does.
    pub fn disabled_by_project(&self, name: &str) -> Option<&Path> {
        let first = self.0.iter().find(|file| file.is_off(name));
        first.filter(|file| file.is_of_project()).map(|file| file.path.as_path())
    }

    /// Returns the settings of a hook.
    pub fn override_of(&self, name: &str, layer: Layer) -> Override {
        let settings_by_name = self.about(layer).filter_map(|file| file.overrides.get(name));
        settings_by_name.fold(Override::default(), |first, more| first.or(*more))
    }

    /// Returns the withheld variables that the user passes to a hook, in addition to those that its manifest requests.
    pub fn env_of(&self, name: &str, layer: Layer) -> Vec<String> {
        let variables = self.about(layer).filter_map(|file| file.env.get(name));
        variables.flatten().cloned().collect()
    }

    /// Returns the defaults for all hooks.
    pub fn defaults(&self, layer: Layer) -> Override {
        self.about(layer).fold(Override::default(), |first, file| first.or(file.defaults))
    }

    /// Returns the changes that the project's files make to the hook with this full name. Defaults do not apply where the hook sets `own` values. The
    /// user's files are not considered.
    pub fn project_setting(&self, name: &str, own: Override) -> ProjectSetting {
        let files = || self.0.iter().filter(|file| file.is_of_project());
        let settings_by_name = files().filter_map(|file| file.overrides.get(name));
        let set = settings_by_name.fold(Override::default(), |first, more| first.or(*more));
        let usual = files().fold(Override::default(), |first, file| first.or(file.defaults));
        let usual = Override {
            priority: usual.priority.filter(|_| own.priority.is_none()),
            timeout: usual.timeout.filter(|_| own.timeout.is_none()),
            asynchronous: usual.asynchronous.filter(|_| own.asynchronous.is_none()),
            mode: usual.mode.filter(|_| own.mode.is_none()),
        };
        ProjectSetting { is_off: files().any(|file| file.is_off(name)), set: set.or(usual) }
    }

    /// Returns the names of hooks in the files, with the file.
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
) -> Result<Option<DirectorySettings>, Diagnostic> {
    let path = root.dir.join(SETTINGS_FILE);
    let unusable = |problem: String| {
        Diagnostic::new("hooks-toml-unusable", Severity::Error, problem)
            .at(&path)
            .help("the file has no effect; `tenter help manifest-hooks` lists its keys")
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
        mode: None,
    };
    let mut env = BTreeMap::new();
    let mut settings_by_name = BTreeMap::new();
    for hook in overrides {
        settings_by_name.insert(hook.name.clone(), values.overridden(&hook));
        if !hook.env.is_empty() && !root.layer.needs_trust() {
            env.insert(hook.name, hook.env);
        } else if !hook.env.is_empty() {
            values.refuse_env(&hook.name);
        }
    }
    Ok(Some(DirectorySettings {
        path: path.clone(),
        layer: root.layer,
        enabled: enabled.unwrap_or(true),
        defaults,
        disabled: disable.into_iter().map(|hook| hook.name).collect(),
        overrides: settings_by_name,
        env,
    }))
}

/// Clamps the numbers of one file to their ranges, and reports those outside.
struct Values<'a> {
    path: &'a Path,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Values<'_> {
    fn overridden(&mut self, hook: &OverrideTable) -> Override {
        let of = format!("hooks.override of {}", hook.name);
        let priority = self.clamp(&format!("priority in {of}"), hook.priority, PRIORITIES);
        Override {
            priority: priority.and_then(|priority| priority.try_into().ok()),
            timeout: self.timeout(&of, hook.timeout),
            asynchronous: hook.asynchronous,
            mode: hook.mode,
        }
    }

    fn timeout(&mut self, of: &str, value: Option<i64>) -> Option<u64> {
        self.clamp(&format!("timeout in {of}"), value, TIMEOUTS_MS)
    }

    fn clamp(&mut self, what: &str, value: Option<i64>, (least, most): (u64, u64)) -> Option<u64> {
        let value = value?;
        let number = u64::try_from(value).unwrap_or(0).clamp(least, most);
        if i64::try_from(number) != Ok(value) {
            let message = format!("{what} is {value}; {number} is used");
            let help = format!("write a number from {least} to {most}");
            let finding = Diagnostic::new("hooks-toml-clamped", Severity::Warning, message);
            self.diagnostics.push(finding.at(self.path).help(help));
        }
        Some(number)
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
    fn a_projects_file_applies_only_to_its_own_hooks() {
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
    fn the_users_file_has_precedence_over_the_projects() {
        let settings = settings(
            "[hooks.defaults]\ntimeout = 1000\n[[hooks.override]]\nname = \"slow\"\npriority = 900\n[[hooks.disable]]\nname = \"off\"\n",
            "[hooks]\nenabled = true\n[hooks.defaults]\ntimeout = 200\nasync = true\n[[hooks.override]]\nname = \"slow\"\npriority = 1\ntimeout = 770\n",
        );
        assert_eq!(
            settings.override_of("slow", Layer::Project),
            Override { priority: Some(900), timeout: Some(770), ..Override::default() }
        );
        assert_eq!(
            settings.defaults(Layer::Project),
            Override { timeout: Some(1000), asynchronous: Some(true), ..Override::default() }
        );
        assert_eq!(
            settings.defaults(Layer::User),
            Override { timeout: Some(1000), ..Override::default() }
        );
        assert!(settings.disabled_by("off", Layer::Project).is_some());
    }

    #[test]
    fn all_hooks_can_be_disabled() {
        let off = "[hooks]\nenabled = false\n";
        assert!(settings(off, "").disabled_by("any", Layer::UserPlugin).is_some());
        let project_settings = settings("", off);
        assert!(project_settings.disabled_by("any", Layer::Project).is_some());
        assert_eq!(project_settings.disabled_by("any", Layer::User), None);
    }

    #[test]
    fn changes_by_the_project_do_not_depend_on_the_users_files() {
        let project_text = "[hooks.defaults]\ntimeout = 700\nasync = true\n[[hooks.override]]\nname = \"slow\"\npriority = 5\n";
        let user_text =
            "[hooks]\nenabled = false\n[[hooks.override]]\nname = \"slow\"\npriority = 900\n";
        let settings = settings(user_text, project_text);
        let own = Override { asynchronous: Some(false), ..Override::default() };
        let set = Override { priority: Some(5), timeout: Some(700), ..Override::default() };
        assert_eq!(settings.project_setting("slow", own), ProjectSetting { is_off: false, set });
        let own = Override {
            priority: Some(1),
            timeout: Some(1),
            asynchronous: Some(true),
            ..Override::default()
        };
        assert_eq!(settings.project_setting("other", own), ProjectSetting::default());
        assert!(self::settings("", "[hooks]\nenabled = false\n").project_setting("x", own).is_off);
    }

    #[test]
    fn out_of_range_numbers_are_clamped_and_reported() {
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
        assert_eq!(settings.env_of("call-home", Layer::User), ["MY_API_KEY"]);
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(diagnostics[0].id, "hooks-toml-refused");
    }

    #[test]
    fn an_invalid_file_is_reported_with_its_line() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join(SETTINGS_FILE), "[hooks]\nenabledd = true\n").unwrap();
        let root = Root::new(Layer::User, scratch.path());
        let (settings, diagnostics) = HookSettings::read(&[root]);
        assert!(settings.0.is_empty());
        assert!(diagnostics[0].message.contains("enabledd"), "{diagnostics:?}");
    }
}
