//! The policies of hooks: from manifests, `hooks.toml` and the user's configuration. Later ones take precedence, except for
//! strictness: if any source sets a hook to fail closed, it does, unless the user's configuration overrides that by name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::hook_policy::{FailMode, HookMode, HookPolicy, TIMEOUTS_MS};
use crate::layer::Layer;
use crate::model_budget::ModelBudget;
use crate::source::{HookSettings, Override};

/// The policies of the user's configuration. An override applies to the hook of that full name in any layer.
#[derive(Debug, Clone, Default)]
pub struct PolicyTable {
    /// The policy of hooks without an override.
    pub default: HookPolicy,
    /// Overrides, by full name.
    pub overrides: BTreeMap<String, PolicyOverride>,
    /// True if trusted hooks that fail closed run if other users can write their files (R74).
    pub allow_shared: bool,
    /// The withheld variables that a hook gets, by full name (R40).
    pub env: BTreeMap<String, Vec<String>>,
    /// The limits of a hook's model calls in one session, where they are not the default, by full name (S7).
    pub model: BTreeMap<String, ModelBudget>,
    /// The policies of managed hooks, to which nothing else in this table applies.
    #[doc(hidden)]
    pub managed: Option<Box<PolicyTable>>,
    /// The managed file that says that no other hooks run.
    #[doc(hidden)]
    pub only_managed: Option<PathBuf>,
}

impl PolicyTable {
    /// Returns the full names of all hooks with a setting.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.overrides.keys().chain(self.env.keys()).chain(self.model.keys());
        all.map(String::as_str).collect::<BTreeSet<_>>().into_iter()
    }

    /// Returns the policies that apply to hooks of `layer`; `None` if that is the default.
    fn for_layer(&self, layer: Layer) -> Option<&Self> {
        if layer == Layer::Managed { self.managed.as_deref() } else { Some(self) }
    }

    /// Returns the policy of the configuration alone for the hook with this full name.
    pub fn policy(&self, name: &str) -> HookPolicy {
        let own = self.overrides.get(name).copied().unwrap_or_default();
        HookPolicy {
            timeout: own.timeout.unwrap_or(self.default.timeout),
            fail: own.fail.unwrap_or(self.default.fail),
            budget: own.budget.or(self.default.budget),
            model: self.model.get(name).copied().unwrap_or(self.default.model),
            ..self.default
        }
    }
}

/// The settings of one hook that replace the defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PolicyOverride {
    /// Time from start to SIGTERM.
    pub timeout: Option<Duration>,
    /// The fail mode.
    pub fail: Option<FailMode>,
    /// The budget of a run.
    pub budget: Option<Duration>,
}

/// The policy that a hook sets for itself.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnPolicy {
    pub(super) timeout: Option<Duration>,
    pub(super) priority: Option<u16>,
    pub(super) asynchronous: Option<bool>,
    pub(super) fail_closed: bool,
    pub(super) budget: Option<Duration>,
    pub(super) mode: Option<HookMode>,
}

impl OwnPolicy {
    /// Returns the policy of an executable, which sets nothing itself. It is synchronous unless a `hooks.toml` names it: the defaults
    /// there are for manifests.
    pub(super) const EXECUTABLE: Self = Self {
        timeout: None,
        priority: None,
        asynchronous: Some(false),
        fail_closed: false,
        budget: None,
        mode: None,
    };
}

impl From<OwnPolicy> for Override {
    fn from(own: OwnPolicy) -> Self {
        let OwnPolicy { timeout, priority, asynchronous, fail_closed: _, budget: _, mode } = own;
        let timeout = timeout.map(|timeout| timeout.as_millis().try_into().unwrap_or(u64::MAX));
        Self { priority, timeout, asynchronous, mode }
    }
}

/// All sources of policies.
#[derive(Clone, Copy)]
pub(super) struct Policies<'a> {
    pub(super) project_table: &'a PolicyTable,
    pub(super) settings: &'a HookSettings,
}

impl Policies<'_> {
    /// Returns the file that disables a hook, if there is one.
    pub(super) fn disabled_by(&self, name: &str, layer: Layer) -> Option<&Path> {
        let others = self.project_table.only_managed.as_deref();
        let others = others.filter(|_| layer != Layer::Managed);
        others.or_else(|| self.settings.disabled_by(name, layer))
    }

    /// Returns whether anything is said of this hook by name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.project_table.overrides.contains_key(name)
            || self.settings.names().any(|(_, other)| other == name)
    }

    /// Returns the withheld variables that the user passes to the hook with this full name.
    pub(super) fn env_of(&self, name: &str, layer: Layer) -> Vec<String> {
        let mut env = self.settings.env_of(name, layer);
        let table = self.project_table.for_layer(layer);
        env.extend(table.and_then(|table| table.env.get(name)).into_iter().flatten().cloned());
        env
    }

    /// Returns the policy of the hook with this full name.
    pub(super) fn policy(&self, name: &str, layer: Layer, own: OwnPolicy) -> HookPolicy {
        let table = self.project_table.for_layer(layer);
        let default = table.map_or_else(HookPolicy::default, |table| table.default);
        let overrides = table.and_then(|table| table.overrides.get(name).copied());
        let overrides = overrides.unwrap_or_default();
        let set = self.settings.override_of(name, layer);
        let usual = self.settings.defaults(layer);
        let timeout = set.timeout.map(Duration::from_millis);
        let timeout = overrides.timeout.or(timeout).or(own.timeout);
        let usual_timeout = usual.timeout.map(Duration::from_millis);
        let mode = set.mode.or(own.mode).unwrap_or_default();
        let is_closed = own.fail_closed || default.fail == FailMode::Closed;
        let fail =
            overrides.fail.unwrap_or(if is_closed { FailMode::Closed } else { FailMode::Open });
        HookPolicy {
            timeout: clamp(timeout.or(usual_timeout).unwrap_or(default.timeout)),
            fail: if mode == HookMode::Monitor { FailMode::Open } else { fail },
            mode,
            priority: set.priority.or(own.priority).unwrap_or(default.priority),
            asynchronous: set
                .asynchronous
                .or(own.asynchronous)
                .or(usual.asynchronous)
                .unwrap_or(false),
            budget: overrides.budget.or(own.budget).or(default.budget),
            model: table.and_then(|table| table.model.get(name).copied()).unwrap_or(default.model),
        }
    }
}

fn clamp(timeout: Duration) -> Duration {
    timeout.clamp(Duration::from_millis(TIMEOUTS_MS.0), Duration::from_millis(TIMEOUTS_MS.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_table(table: &PolicyTable, name: &str, own: OwnPolicy) -> HookPolicy {
        let settings = HookSettings::default();
        Policies { project_table: table, settings: &settings }.policy(name, Layer::User, own)
    }

    #[test]
    fn an_override_changes_what_it_names_and_nothing_else() {
        let fail_closed =
            PolicyOverride { fail: Some(FailMode::Closed), ..PolicyOverride::default() };
        let table = PolicyTable {
            overrides: [("acme/guard/no-sudo".to_owned(), fail_closed)].into(),
            ..Default::default()
        };
        let default = HookPolicy::default();
        assert_eq!(from_table(&table, "no-sudo", OwnPolicy::default()), default);
        assert_eq!(
            from_table(&table, "acme/guard/no-sudo", OwnPolicy::default()),
            HookPolicy { fail: FailMode::Closed, ..default }
        );
    }

    #[test]
    fn defaults_of_hooks_toml_apply_where_a_manifest_sets_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let text = "[hooks.defaults]\ntimeout = 700\nasync = true\n";
        std::fs::write(scratch.path().join("hooks.toml"), text).unwrap();
        let dir = scratch.path().to_owned();
        let root = crate::layout::Root::new(Layer::User, dir);
        let (settings, _) = HookSettings::read(&[root]);
        let table = PolicyTable::default();
        let policy = |own| {
            Policies { project_table: &table, settings: &settings }.policy("x", Layer::User, own)
        };
        let limits = |own| (policy(own).timeout.as_millis(), policy(own).asynchronous);
        let manifest = OwnPolicy {
            timeout: Some(Duration::from_secs(30)),
            asynchronous: Some(false),
            ..OwnPolicy::default()
        };
        assert_eq!(limits(OwnPolicy::default()), (700, true));
        assert_eq!(limits(manifest), (30_000, false));
        assert_eq!(limits(OwnPolicy::EXECUTABLE), (700, false));
    }

    #[test]
    fn a_manifest_sets_the_policy_of_its_hook_within_limits() {
        let own = OwnPolicy {
            timeout: Some(Duration::from_millis(5)),
            priority: Some(999),
            asynchronous: Some(true),
            fail_closed: true,
            budget: Some(Duration::from_millis(50)),
            mode: None,
        };
        let expected = HookPolicy {
            timeout: Duration::from_millis(100),
            fail: FailMode::Closed,
            priority: 999,
            asynchronous: true,
            budget: Some(Duration::from_millis(50)),
            ..HookPolicy::default()
        };
        assert_eq!(from_table(&PolicyTable::default(), "x", own), expected);
    }

    #[test]
    fn a_hook_in_monitor_mode_never_fails_closed() {
        let monitor = Some(HookMode::Monitor);
        let own = OwnPolicy { fail_closed: true, mode: monitor, ..OwnPolicy::default() };
        let policy = from_table(&PolicyTable::default(), "x", own);
        assert_eq!((policy.mode, policy.fail), (HookMode::Monitor, FailMode::Open));
        let fail_closed =
            PolicyOverride { fail: Some(FailMode::Closed), ..PolicyOverride::default() };
        let table =
            PolicyTable { overrides: [("x".to_owned(), fail_closed)].into(), ..Default::default() };
        assert_eq!(from_table(&table, "x", own).fail, FailMode::Open);
    }

    #[test]
    fn a_budget_is_overridden_by_name_then_set_by_the_manifest_then_the_default() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let own = OwnPolicy { budget: ms(20), ..OwnPolicy::default() };
        let default = HookPolicy { budget: ms(10), ..HookPolicy::default() };
        let set = PolicyOverride { budget: ms(30), ..PolicyOverride::default() };
        let table = PolicyTable {
            default,
            overrides: [("x".to_owned(), set)].into(),
            ..Default::default()
        };
        assert_eq!(from_table(&table, "y", OwnPolicy::default()).budget, ms(10));
        assert_eq!(from_table(&table, "y", own).budget, ms(20));
        assert_eq!(from_table(&table, "x", own).budget, ms(30));
        assert_eq!(from_table(&PolicyTable::default(), "y", OwnPolicy::default()).budget, None);
    }
}
