//! The settings of hooks in configuration files: the user's `config.toml` and a project's `tenter.toml`.
//!
//! A project's file is untrusted: it may make hooks stricter, and nothing else. A program that has more settings puts
//! [`HooksTable`] and [`BridgeSettings`] into its own type, parses it with [`parse`], and resolves the tables with
//! [`HookConfiguration::resolve`]. A program that has none calls [`HookConfiguration::read`].
//!
//! Parsing is strict, so that a misspelt key is never ignored.

mod bridge;
mod confine;
mod file;
mod hook_settings;
mod managed;
mod sandbox_runtime;
mod setting;
mod tables;

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};

use crate::catalog::PolicyTable;
use crate::hook_policy::{FailMode, TIMEOUTS_MS};
use crate::journal::Retention;
use crate::managed::ManagedDirectory;
use crate::model_budget::ModelBudget;
use crate::observe::PermissionAnswer;
use crate::trust::TrustMode;

pub use bridge::{AskFallback, BridgeSettings, GeminiAsk, GeminiSettings, OnUnguardable, Reaction};
pub use confine::{ConfineProfiles, ConfineTable};
pub use file::{ConfigurationError, parse};
pub use hook_settings::HOOK_SETTINGS;
use managed::parse_managed;
pub use managed::{ManagedRules, ManagedSettings, parse_below, put_over};
pub use sandbox_runtime::ConfineProfile;
pub use setting::{Precedence, Setting, parse_project, refused, setting};
pub use tables::{
    GuardsTable, HookTable, HookTables, HooksTable, JournalTable, ToolsTable, TrustSetting,
};

/// Default limit of consecutive continuations (R34).
const MAX_CONTINUATIONS: u32 = 8;

/// The settings of hooks: nothing is unset.
#[derive(Debug, Clone)]
pub struct HookConfiguration {
    /// True if external hooks run at all.
    pub enabled: bool,
    /// True if project hooks need trust.
    pub trust: TrustMode,
    /// The policies of hooks.
    pub policies: PolicyTable,
    /// The answer to `ask` when there is no user.
    pub ask: PermissionAnswer,
    /// Maximum number of consecutive continuations.
    pub max_continuations: u32,
    /// Variables that are passed to hooks although they look like model keys.
    pub pass_env: Vec<String>,
    /// The hooks that only the project's file has settings for.
    pub project_overrides: BTreeSet<String>,
    /// The settings of the bridge to other agents.
    pub bridge: BridgeSettings,
    /// Paths that file tools change only with the user's consent; `~` is the home directory.
    pub protect: Vec<PathBuf>,
    /// True if the user says that what the agent does stays in its container (R90).
    pub container: Option<bool>,
    /// True if results of shell commands say which files changed.
    pub reports_changes: bool,
    /// The limits of the journals on disk.
    pub retention: Retention,
    /// The profiles of confinements.
    pub confine: ConfineTable,
}

impl HookConfiguration {
    /// Reads the settings of hooks and ignores all others: the managed file, which takes precedence, the user's file, and the files of the
    /// projects, the project's own first. A missing file sets nothing. A setting that a project may not make is a warning, and
    /// has no effect.
    ///
    /// # Errors
    /// A file cannot be read, or is not a valid configuration.
    pub fn read(
        managed: &ManagedDirectory,
        user: &Path,
        projects: &[PathBuf],
    ) -> Result<(Self, Vec<Diagnostic>), ConfigurationError> {
        let managed = ManagedSettings::read(managed)?;
        let user_tables: HookTables =
            parse_below(managed.as_ref(), user, std::fs::read_to_string(user))?;
        let mut project_tables = HookTables::default();
        let mut diagnostics = Vec::new();
        for file in projects {
            let text = untrusted_file::read_to_string(file);
            let (tables, rejections) = parse_project(file, text, HOOK_SETTINGS)?;
            diagnostics.extend(rejections);
            project_tables.tighten(tables);
        }
        let (mut configuration, clamped) = Self::resolve(user_tables, &project_tables, user);
        if let Some(managed) = managed {
            configuration.manage(&managed)?;
        }
        Ok((configuration, [diagnostics, clamped].concat()))
    }

    /// Applies what only a managed file sets: the policies of managed hooks, and whether others run.
    ///
    /// # Errors
    /// The file has a setting of hooks that is not valid.
    pub fn manage(&mut self, managed: &ManagedSettings) -> Result<(), ConfigurationError> {
        let tables: HookTables = parse_managed(managed)?;
        let mut table = policies(&tables.hooks, &HooksTable::default());
        if managed.rules.fail == FailMode::Closed {
            table.default.fail = FailMode::Closed;
        }
        self.policies.managed = Some(Box::new(table));
        self.policies.only_managed = managed.rules.only_hooks.then(|| managed.path.clone());
        Ok(())
    }

    /// Resolves the settings of the user's file, whose path is `user_file`, and of a project's or several ([`HookTables::tighten`]),
    /// which must not have what a project may not set ([`parse_of_project`]). Timeouts that are out of range are reported.
    pub fn resolve(
        user: HookTables,
        project: &HookTables,
        user_file: &Path,
    ) -> (Self, Vec<Diagnostic>) {
        let diagnostics = clamped_timeouts(user_file, &user.hooks);
        let allows = user.hooks.ask == Some(AskFallback::Allow);
        let configuration = Self {
            enabled: user.hooks.enabled.unwrap_or(true),
            trust: match user.trust {
                Some(TrustSetting::All) => TrustMode::All,
                Some(TrustSetting::Ask) | None => TrustMode::Gate,
            },
            policies: policies(&user.hooks, &project.hooks),
            ask: PermissionAnswer::Unattended { allowed: allows },
            max_continuations: user.hooks.max_continuations.unwrap_or(MAX_CONTINUATIONS),
            project_overrides: only_in_project(&user.hooks, &project.hooks),
            bridge: user.bridge,
            protect: user.tools.protect.iter().chain(&project.tools.protect).cloned().collect(),
            container: user.guards.container,
            reports_changes: user.hooks.reports_changes.unwrap_or(true),
            retention: Retention {
                keep_days: user.journal.keep_days.map(NonZeroU32::get),
                max_mib: user.journal.max_mib.map(NonZeroU64::get),
            },
            confine: user.confine,
            pass_env: user.hooks.pass_env,
        };
        (configuration, diagnostics)
    }
}

fn policies(user: &HooksTable, project: &HooksTable) -> PolicyTable {
    let allow_shared = user.allow_shared.unwrap_or(false);
    let mut table = PolicyTable { allow_shared, ..PolicyTable::default() };
    if let Some(timeout) = user.timeout_ms {
        table.default.timeout = Duration::from_millis(timeout);
    }
    table.default.budget = user.budget_ms.map(milliseconds);
    if user.fail == Some(FailMode::Closed) || project.fail == Some(FailMode::Closed) {
        table.default.fail = FailMode::Closed;
    }
    for hook in project.strict_overrides().chain(&user.overrides) {
        let entry = table.overrides.entry(hook.name.clone()).or_default();
        entry.timeout = hook.timeout_ms.map(Duration::from_millis).or(entry.timeout);
        entry.budget = hook.budget_ms.map(milliseconds).or(entry.budget);
        entry.fail = stricter(hook.fail, entry.fail);
        if !hook.env.is_empty() {
            table.env.insert(hook.name.clone(), hook.env.clone());
        }
        if hook.model_calls.is_some() || hook.model_cost_usd.is_some() {
            let default = table.default.model;
            let budget = ModelBudget {
                max_calls: hook.model_calls.unwrap_or(default.max_calls),
                max_cost_usd: hook.model_cost_usd.unwrap_or(default.max_cost_usd),
            };
            table.model.insert(hook.name.clone(), budget);
        }
    }
    table
}

fn milliseconds(number: NonZeroU64) -> Duration {
    Duration::from_millis(number.get())
}

/// Returns the stricter mode. `closed` takes precedence: the user may be strict with a project's hook, and the project with a
/// user's.
fn stricter(one: Option<FailMode>, other: Option<FailMode>) -> Option<FailMode> {
    if one == Some(FailMode::Closed) { one } else { other.or(one) }
}

fn only_in_project(user: &HooksTable, project: &HooksTable) -> BTreeSet<String> {
    let user_names: BTreeSet<&str> = user.overrides.iter().map(|hook| hook.name.as_str()).collect();
    let names = project.strict_overrides().map(|hook| &hook.name);
    names.filter(|name| !user_names.contains(name.as_str())).cloned().collect()
}

/// Returns the timeouts in the user's file that are out of range.
fn clamped_timeouts(file: &Path, hooks: &HooksTable) -> Vec<Diagnostic> {
    let (least, most) = TIMEOUTS_MS;
    let all = ("hooks.timeout_ms".to_owned(), hooks.timeout_ms);
    let hook_setting =
        |hook: &HookTable| (format!("hooks.override.timeout_ms of {}", hook.name), hook.timeout_ms);
    let settings = [all].into_iter().chain(hooks.overrides.iter().map(hook_setting));
    let clamped = settings.filter_map(|(key, timeout)| {
        let timeout = timeout.filter(|timeout| !(least..=most).contains(timeout))?;
        let message = format!("{key} is {timeout}; {} is used", timeout.clamp(least, most));
        let diagnostic = Diagnostic::new("setting-clamped", Severity::Warning, message);
        let help = format!("write a number of milliseconds from {least} to {most}");
        Some(diagnostic.at(file).help(help))
    });
    clamped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the common settings of two files, and the diagnostics.
    fn read(user: &str, project: &str) -> (HookConfiguration, Vec<String>) {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (user, project) = (at("config.toml", user), at("tenter.toml", project));
        let (configuration, diagnostics) = {
            let none = ManagedDirectory::default();
            HookConfiguration::read(&none, &user, &[project]).unwrap()
        };
        (configuration, diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect())
    }

    #[test]
    fn missing_files_set_nothing() {
        let missing = Path::new("/nonexistent/config.toml");
        let (configuration, diagnostics) =
            HookConfiguration::read(&ManagedDirectory::default(), missing, &[missing.to_owned()])
                .unwrap();
        assert!(configuration.enabled && diagnostics.is_empty());
        assert_eq!(configuration.trust, TrustMode::Gate);
        assert_eq!(configuration.bridge, BridgeSettings::default());
        assert_eq!(configuration.max_continuations, MAX_CONTINUATIONS);
    }

    #[test]
    fn settings_that_are_not_about_hooks_are_ignored() {
        let user = "model = \"x/y\"\ntrust = \"all\"\n[providers.x]\napi = \"chat\"\n[hooks]\nfail = \"closed\"\npass_env = [\"A\"]\n";
        let (configuration, diagnostics) = read(user, "max_turns = 3\n");
        assert_eq!(diagnostics, [] as [&str; 0]);
        assert_eq!(configuration.trust, TrustMode::All);
        assert_eq!(configuration.policies.default.fail, FailMode::Closed);
        assert_eq!(configuration.pass_env, ["A"]);
    }

    #[test]
    fn a_project_sets_nothing_of_the_bridge_and_only_what_is_stricter() {
        let project = "trust = \"all\"\n[hooks]\nfail = \"closed\"\nenabled = false\n[bridge]\nallow_skips_prompt = true\nunguardable = \"pass\"\n[bridge.gemini]\nask = \"native\"\n";
        let (configuration, diagnostics) = read("", project);
        let rejection = |key: &str| format!("a project may not set {key}; it has no effect");
        let keys = [
            "trust",
            "hooks.enabled",
            "bridge.allow_skips_prompt",
            "bridge.gemini.ask",
            "bridge.unguardable",
        ];
        assert_eq!(diagnostics, keys.map(rejection));
        assert!(configuration.enabled);
        assert_eq!(configuration.policies.default.fail, FailMode::Closed);
        assert_eq!(configuration.bridge, BridgeSettings::default());
    }

    #[test]
    fn the_user_sets_the_bridge() {
        let user = "[bridge]\nallow_skips_prompt = true\nask_fallback = \"allow\"\nunguardable = \"pass\"\nuntrusted = \"block\"\non_breach = \"block\"\ngemini.ask = \"native\"\n";
        let expected = BridgeSettings {
            allow_skips_prompt: true,
            ask_fallback: AskFallback::Allow,
            unguardable: OnUnguardable::Pass,
            untrusted: Reaction::Block,
            on_breach: Reaction::Block,
            gemini: GeminiSettings { ask: GeminiAsk::Native },
        };
        assert_eq!(read(user, "").0.bridge, expected);
    }
}
