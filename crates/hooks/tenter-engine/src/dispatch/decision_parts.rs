//! The parts of an outcome, for observers.

use tenter_protocol::HistoryAction;
use tenter_protocol::reply::VerdictKind;

use super::Outcome;
use crate::observe::DecisionKind;

impl Outcome {
    /// Returns the parts of the decision, the most important first, each with the hook that it comes from.
    pub(super) fn parts(&self) -> Vec<(DecisionKind, &str)> {
        let verdict = self.verdict.as_ref().map(|verdict| {
            let kind = match verdict.value.kind {
                VerdictKind::Allow => DecisionKind::Allow,
                VerdictKind::Confine => DecisionKind::Confine,
                VerdictKind::Ask => DecisionKind::Ask,
                VerdictKind::Deny => DecisionKind::Deny,
            };
            (kind, verdict.hook.as_str())
        });
        let history = self.history.first().map(|history| {
            let kind = match history.value {
                HistoryAction::Mutate(_) => DecisionKind::Mutate,
                HistoryAction::Callback { .. } => DecisionKind::Callback,
            };
            (kind, history.hook.as_str())
        });
        let rewrite = self.rewritten_by.last().map(|hook| (DecisionKind::Rewrite, hook.as_str()));
        let follow_up =
            self.follow_ups.first().map(|text| (DecisionKind::Continue, text.hook.as_str()));
        let context = self.contexts.first().map(|text| (DecisionKind::Context, text.hook.as_str()));
        let parts = [verdict, history, rewrite, follow_up, context].into_iter().flatten();
        let mut parts: Vec<_> = parts.collect();
        parts.sort_by_key(|(kind, _)| std::cmp::Reverse(*kind));
        parts
    }
}
