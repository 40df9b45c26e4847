//! Compares the verdicts of two sets of hooks about past calls.

use std::collections::BTreeMap;

use serde::Serialize;
use tenter_engine::DecisionKind;
use tenter_engine::journal::Redactor;

use crate::recorded::RecordedCall;
use crate::replay::{CallAnswer, Judgement};
use crate::report::{RuleCounts, RuleReport};
use crate::scan::HostCounts;

/// The verdict of a set of hooks about a past call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PastVerdict {
    /// The call passes.
    Passed,
    /// It cannot be judged.
    Unknown,
    /// It runs with fewer rights.
    Confined,
    /// A hook asks about it.
    Asked,
    /// A hook denies it.
    Denied,
}

impl PastVerdict {
    /// Returns the word for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Unknown => "unknown",
            Self::Confined => "confined",
            Self::Asked => "asked",
            Self::Denied => "denied",
        }
    }
}

impl From<&Judgement> for PastVerdict {
    fn from(judgement: &Judgement) -> Self {
        match judgement.answer {
            CallAnswer::Passed => Self::Passed,
            CallAnswer::Unknown => Self::Unknown,
            CallAnswer::Stopped => match judgement.stops.iter().map(|stop| stop.decision).max() {
                Some(DecisionKind::Confine) => Self::Confined,
                Some(DecisionKind::Ask) => Self::Asked,
                _ => Self::Denied,
            },
        }
    }
}

/// The past calls whose verdict two sets of hooks do not share.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct VerdictDiff {
    /// Calls.
    pub calls: u64,
    /// Calls whose verdict changes.
    pub changed: u64,
    /// The changes, those with the most calls first.
    pub changes: Vec<VerdictChange>,
    /// The counts of each agent.
    pub hosts: HostCounts,
}

/// A change of verdicts that one rule makes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerdictChange {
    /// The verdict of the old hooks.
    pub before: PastVerdict,
    /// The verdict of the new hooks.
    pub after: PastVerdict,
    /// The rule that decides, of the set that stops the calls, and the calls.
    #[serde(flatten)]
    pub rule: RuleReport,
}

/// A change, and the hook and rule that make it.
type ChangeKey = (PastVerdict, PastVerdict, String, Option<String>);

/// Builds a difference, one call after another.
pub struct VerdictDiffBuilder {
    redactor: Redactor,
    calls: u64,
    changed_calls: u64,
    changes: BTreeMap<ChangeKey, RuleCounts>,
}

impl VerdictDiffBuilder {
    /// Creates an empty difference, whose texts are masked by `redactor`.
    pub fn new(redactor: Redactor) -> Self {
        Self { redactor, calls: 0, changed_calls: 0, changes: BTreeMap::new() }
    }

    /// Adds a call with the judgements of both sets.
    pub fn add(&mut self, call: &RecordedCall, old: &Judgement, new: &Judgement) {
        self.calls += 1;
        let (before, after) = (PastVerdict::from(old), PastVerdict::from(new));
        if before == after {
            return;
        }
        self.changed_calls += 1;
        let deciding = if after > before { new } else { old };
        let Some(stop) = deciding.stops.iter().max_by_key(|stop| stop.decision) else { return };
        let key = (before, after, stop.hook.clone(), stop.rule.clone());
        let counts = self.changes.entry(key).or_insert_with(|| RuleCounts::new(stop.decision));
        counts.add(call, deciding, stop, &self.redactor);
    }

    /// Returns the difference, with at most `limit` commands of each change.
    pub fn finish(self, hosts: HostCounts, limit: usize) -> VerdictDiff {
        let changes = self.changes.into_iter();
        let mut changes: Vec<VerdictChange> = changes
            .map(|((before, after, hook, rule), counts)| VerdictChange {
                before,
                after,
                rule: counts.report(hook, rule, limit),
            })
            .collect();
        changes.sort_by_key(|change| std::cmp::Reverse(change.rule.calls));
        VerdictDiff { calls: self.calls, changed: self.changed_calls, changes, hosts }
    }
}
