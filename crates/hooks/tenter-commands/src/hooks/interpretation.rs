//! The decision in a hook's reply, in the form of `tenter hooks test`; or the reason why there is none.

use serde::Serialize;
use serde_json::{Value, json};
use tenter_engine::inspect::TestRun;
use tenter_engine::{DecisionKind, RewriteChange, RunRecord};
use tenter_protocol::HistoryAction;

/// The decision of a hook that is not run, because its matcher applies to other calls.
pub(super) const UNMATCHED: &str = "unmatched";

/// The decision in a hook's reply. The JSON form has the same fields.
#[derive(Debug, Default, Serialize)]
pub(super) struct Interpretation {
    /// The most important part of the decision, or [`UNMATCHED`].
    pub(super) decision: &'static str,
    /// The reason that the hook gives.
    pub(super) reason: Option<String>,
    /// The change that it makes.
    pub(super) rewrite: Option<RewriteChange>,
    /// Text that it adds for the model.
    pub(super) context: Option<String>,
    /// Messages with which the agent continues.
    pub(super) follow_ups: Vec<String>,
    /// The change of the history.
    pub(super) history: Option<Value>,
    /// The reason of a failure.
    pub(super) error: Option<String>,
}

impl Interpretation {
    pub(super) fn new(test: &TestRun) -> Self {
        let RunRecord { decision, reason, change, .. } = &*test.run;
        let Some(reply) = test.reply.as_ref().filter(|_| *decision != DecisionKind::Failed) else {
            return Self::failed(reason.clone().unwrap_or_default());
        };
        Self {
            decision: decision.as_str(),
            reason: reason.clone(),
            rewrite: change.clone(),
            context: reply.context.clone(),
            follow_ups: reply.follow_ups.clone(),
            history: reply.history.as_ref().map(history),
            error: None,
        }
    }

    /// Checks whether both decide the same; the words of a failure do not count.
    pub(super) fn decides_like(&self, other: &Self) -> bool {
        let parts = |one: &Self| {
            let Self { decision, reason, rewrite, context, follow_ups, history, error: _ } = one;
            json!([decision, reason, rewrite, context, follow_ups, history])
        };
        parts(self) == parts(other)
    }

    /// Returns a hook that failed.
    pub(super) fn failed(error: String) -> Self {
        Self { error: Some(error), ..Self::without_reply(DecisionKind::Failed.as_str()) }
    }

    /// Returns a hook that is not run.
    pub(super) fn unmatched() -> Self {
        Self::without_reply(UNMATCHED)
    }

    fn without_reply(decision: &'static str) -> Self {
        Self { decision, ..Self::default() }
    }
}

fn history(action: &HistoryAction) -> Value {
    match action {
        HistoryAction::Mutate(messages) => json!({"action": "mutate", "messages": messages}),
        HistoryAction::Callback { recipe, args } => {
            json!({"action": "callback", "recipe": recipe, "args": args})
        }
    }
}
