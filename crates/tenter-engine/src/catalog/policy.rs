//! What hooks are held to, as the person has set it: for all, and for single ones by name.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::hook::{FailMode, HookPolicy};

/// What hooks are held to. An override applies to the hook of that full name in whichever layer it is found.
#[derive(Debug, Clone, Default)]
pub struct PolicyTable {
    /// For hooks that have no override.
    pub default: HookPolicy,
    /// By full name.
    pub overrides: BTreeMap<String, PolicyOverride>,
}

/// What one hook is held to, where that is not the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PolicyOverride {
    /// From start to SIGTERM.
    pub timeout: Option<Duration>,
    /// What a failure means.
    pub fail: Option<FailMode>,
}

impl PolicyTable {
    /// What the hook with this full name is held to.
    pub fn of(&self, name: &str) -> HookPolicy {
        let own = self.overrides.get(name).copied().unwrap_or_default();
        HookPolicy {
            timeout: own.timeout.unwrap_or(self.default.timeout),
            fail: own.fail.unwrap_or(self.default.fail),
            priority: self.default.priority,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_changes_what_it_names_and_nothing_else() {
        let closed = PolicyOverride { fail: Some(FailMode::Closed), timeout: None };
        let table = PolicyTable {
            overrides: [("acme/guard/no-sudo".to_owned(), closed)].into(),
            ..Default::default()
        };
        let default = HookPolicy::default();
        assert_eq!(table.of("no-sudo"), default);
        assert_eq!(
            table.of("acme/guard/no-sudo"),
            HookPolicy { fail: FailMode::Closed, ..default }
        );
    }
}
