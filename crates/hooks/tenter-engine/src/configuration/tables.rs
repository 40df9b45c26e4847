//! The tables of a configuration file that configure hooks.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use serde::Deserialize;

use super::bridge::{AskFallback, BridgeSettings};
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
    pub bridge: BridgeSettings,
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
    #[serde(rename = "changed")]
    pub(super) reports_changes: Option<bool>,
    #[serde(rename = "override")]
    pub(super) overrides: Vec<HookTable>,
}

impl HooksTable {
    /// Returns the overrides that make a hook stricter: a project has no others.
    pub(super) fn strict_overrides(&self) -> impl Iterator<Item = &HookTable> {
        self.overrides.iter().filter(|hook| hook.fail == Some(FailMode::Closed))
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
