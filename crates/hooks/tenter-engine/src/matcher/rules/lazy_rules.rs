//! Rules that are read and compiled when they are needed.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use tenter_protocol::manifest::rule::{Rule, RuleDecision, RuleVerdict};

use super::CompiledRule;

/// The rules of a hook. Each is read and compiled for the first call that passes its gate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(super) struct LazyRules(Arc<Lines>);

#[derive(Debug)]
struct Lines {
    /// The rules as JSON, one in each line.
    text: String,
    compiled: Box<[OnceLock<Box<CompiledRule>>]>,
}

impl LazyRules {
    pub(super) fn new(rules: &[Rule]) -> Self {
        let lines = rules.iter().map(|rule| serde_json::to_string(rule).unwrap_or_default());
        Self::from(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Returns the number of rules.
    pub(super) fn count(&self) -> usize {
        self.0.compiled.len()
    }

    /// Returns the rule with this index. `fits_unread` says whether it may fit commands that were not read.
    pub(super) fn get(&self, index: usize, fits_unread: bool) -> Option<&CompiledRule> {
        let compile = || {
            let rule = self.0.text.split('\n').nth(index).map(serde_json::from_str);
            let rule = rule.and_then(Result::ok).unwrap_or_else(unreadable);
            Box::new(CompiledRule::new(rule, fits_unread))
        };
        Some(self.0.compiled.get(index)?.get_or_init(compile))
    }
}

impl From<String> for LazyRules {
    fn from(text: String) -> Self {
        let rules = text.split('\n').map(|_| OnceLock::new()).collect();
        Self(Arc::new(Lines { text, compiled: rules }))
    }
}

impl From<LazyRules> for String {
    fn from(rules: LazyRules) -> Self {
        rules.0.text.clone()
    }
}

/// Returns the rule instead of one that cannot be read: it denies every call.
fn unreadable() -> Rule {
    let reason = "A rule of this hook cannot be read: reinstall Tenter.".to_owned();
    let decision = Some(RuleDecision { verdict: RuleVerdict::Deny, reason, confine: None });
    Rule { decision, ..Rule::default() }
}
