//! The tables of a configuration file that configure hooks, and the settings that a project may not make.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tenter_protocol::{Diagnostic, Severity};

use super::bridge::{AskFallback, BridgeTable};
use super::confine::ConfineTable;
use crate::hook_policy::FailMode;

/// The settings of hooks in a configuration file. Other keys of the file are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct HookTables {
    /// True if a project's hooks run without being trusted.
    pub trust: Option<TrustSetting>,
    /// True if no project is around the project, if the user trusts that (R89). Only a project's file has it.
    pub root: Option<bool>,
    /// The table `[hooks]`.
    pub hooks: HooksTable,
    /// The table `[bridge]`.
    pub bridge: BridgeTable,
    /// The table `[tools]`.
    pub tools: ToolsTable,
    /// The table `[guards]`.
    pub guards: GuardsTable,
    /// The table `[confine]`.
    pub confine: ConfineTable,
    /// The table `[journal]`.
    pub journal: JournalTable,
}

/// The table `[journal]` of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JournalTable {
    /// Maximum age of a journal, in days (M6).
    pub(super) keep_days: Option<NonZeroU32>,
    /// Maximum size of all journals, in MiB (M6).
    pub(super) max_mib: Option<NonZeroU64>,
}

/// The table `[guards]` of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuardsTable {
    /// True if what the agent does stays in its container (R90).
    pub(super) container: Option<bool>,
}

/// The table `[tools]` of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsTable {
    /// Paths that file tools change only with the user's consent (R76). A project may add some.
    pub(super) protect: Vec<PathBuf>,
}

impl HookTables {
    /// Adds what another project sets: each can only make hooks stricter.
    pub fn tighten(&mut self, other: Self) {
        let is_closed = other.hooks.fail == Some(FailMode::Closed);
        self.hooks.fail = if is_closed { other.hooks.fail } else { self.hooks.fail };
        self.hooks.overrides.extend(other.hooks.overrides);
        self.tools.protect.extend(other.tools.protect);
    }

    /// Removes what a project may not set, and reports it. `file` is the project's file.
    pub fn refuse_in_project(&mut self, file: &Path) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let mut refuse = |is_set: bool, key: &str| {
            if is_set {
                diagnostics.push(refused(file, key));
            }
        };
        refuse(self.trust.take().is_some(), "trust");
        refuse(self.guards.container.take().is_some(), "guards.container");
        refuse(self.journal.keep_days.take().is_some(), "journal.keep_days");
        refuse(self.journal.max_mib.take().is_some(), "journal.max_mib");
        refuse(!std::mem::take(&mut self.confine).is_empty(), "confine.profiles");
        self.hooks.refuse_in_project(&mut refuse);
        self.bridge.refuse_all(&mut refuse);
        diagnostics
    }
}

/// The table `[hooks]` of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HooksTable {
    pub(super) enabled: Option<bool>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) budget_ms: Option<NonZeroU64>,
    pub(super) fail: Option<FailMode>,
    pub(super) ask: Option<AskFallback>,
    pub(super) max_continuations: Option<u32>,
    pub(super) pass_env: Vec<String>,
    pub(super) allow_shared: Option<bool>,
    pub(super) changed: Option<bool>,
    #[serde(rename = "override")]
    pub(super) overrides: Vec<HookTable>,
}

impl HooksTable {
    fn refuse_in_project(&mut self, mut refuse: impl FnMut(bool, &str)) {
        refuse(self.enabled.take().is_some(), "hooks.enabled");
        refuse(self.timeout_ms.take().is_some(), "hooks.timeout_ms");
        refuse(self.budget_ms.take().is_some(), "hooks.budget_ms");
        refuse(self.ask.take().is_some(), "hooks.ask");
        refuse(self.max_continuations.take().is_some(), "hooks.max_continuations");
        refuse(!std::mem::take(&mut self.pass_env).is_empty(), "hooks.pass_env");
        refuse(self.allow_shared.take().is_some(), "hooks.allow_shared");
        refuse(self.changed.take().is_some(), "hooks.changed");
        refuse(self.fail == Some(FailMode::Open), "hooks.fail = \"open\"");
        for hook in &mut self.overrides {
            refuse(hook.timeout_ms.take().is_some(), "hooks.override.timeout_ms");
            refuse(hook.budget_ms.take().is_some(), "hooks.override.budget_ms");
            refuse(hook.fail == Some(FailMode::Open), "hooks.override.fail = \"open\"");
            refuse(!std::mem::take(&mut hook.env).is_empty(), "hooks.override.env");
            refuse(hook.model_calls.take().is_some(), "hooks.override.model_calls");
            refuse(hook.model_cost_usd.take().is_some(), "hooks.override.model_cost_usd");
        }
        self.overrides.retain(|hook| hook.fail == Some(FailMode::Closed));
    }
}

/// One `[[hooks.override]]`: the settings of one hook.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookTable {
    pub(super) name: String,
    pub(super) timeout_ms: Option<u64>,
    pub(super) budget_ms: Option<NonZeroU64>,
    pub(super) fail: Option<FailMode>,
    #[serde(default)]
    pub(super) env: Vec<String>,
    /// Maximum number of model calls in a session.
    pub(super) model_calls: Option<u32>,
    /// Maximum cost of model calls in a session.
    pub(super) model_cost_usd: Option<f64>,
}

/// The trust that a project's hooks need to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustSetting {
    /// Only those that are trusted run.
    Ask,
    /// All run.
    All,
}

/// The warning that a project's `file` sets a `key` that only the user may set.
pub fn refused(file: &Path, key: &str) -> Diagnostic {
    Diagnostic::new("project-setting-refused", Severity::Warning, format!("a project may not set {key}; it has no effect"))
        .at(file)
        .help("a project may choose a model and make hooks stricter; put everything else into your own config.toml")
}
