//! The limits of a hook's model calls in one session (S7). Calls are counted in the hook's state of the session, so that all processes
//! of a session count together.

use serde::{Deserialize, Serialize};

use crate::hook_values::{ValueError, ValueFile};

/// The key of the counts. Hooks cannot use it: their keys have no control characters.
const KEY: &str = "\0model";

/// The most that a hook may spend on models in one session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelBudget {
    /// Maximum number of calls.
    pub max_calls: u32,
    /// The cost in USD after which there is no further call. Calls without a known cost count as free.
    pub max_cost_usd: f64,
}

impl Default for ModelBudget {
    fn default() -> Self {
        Self { max_calls: 200, max_cost_usd: 0.5 }
    }
}

/// The reason why a call is not made.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The budget is spent. Only the first time it is worth a notice.
    Spent { is_first: bool, text: String },
    /// The calls cannot be counted.
    NotCounted(ValueError),
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Counts {
    calls: u32,
    cost_usd: f64,
    was_refused: bool,
}

impl ModelBudget {
    /// Counts a call that is about to be made.
    ///
    /// # Errors
    /// The budget is spent, or the file cannot be used.
    pub(crate) fn begin_call(&self, session: &ValueFile) -> Result<(), Refusal> {
        let admitted = session.change(|entries| {
            let mut counts = counts(entries.get(KEY).map(|entry| &entry.value));
            let excess = self.spent(&counts);
            let is_first = !counts.was_refused;
            match excess {
                None => counts.calls = counts.calls.saturating_add(1),
                Some(_) => counts.was_refused = true,
            }
            entries.set(KEY, serde_json::json!(counts));
            Ok(excess.map(|text| Refusal::Spent { is_first, text }))
        });
        match admitted {
            Ok(None) => Ok(()),
            Ok(Some(refusal)) => Err(refusal),
            Err(error) => Err(Refusal::NotCounted(error)),
        }
    }

    /// Counts the cost of a call that was made.
    ///
    /// # Errors
    /// The file cannot be used.
    pub(crate) fn add_cost(session: &ValueFile, cost_usd: f64) -> Result<(), ValueError> {
        session.change(|entries| {
            let mut counts = counts(entries.get(KEY).map(|entry| &entry.value));
            counts.cost_usd += cost_usd.max(0.0);
            entries.set(KEY, serde_json::json!(counts));
            Ok(())
        })
    }

    /// Returns the reason why no further call may be made, if none may.
    fn spent(&self, counts: &Counts) -> Option<String> {
        if counts.calls >= self.max_calls {
            return Some(format!(
                "the limit of {} model calls a session is reached",
                self.max_calls
            ));
        }
        (counts.cost_usd >= self.max_cost_usd).then(|| {
            format!(
                "the limit of {:.2} USD for model calls a session is reached",
                self.max_cost_usd
            )
        })
    }
}

/// Returns the counts; all 0 if there are none. Only this module writes them.
fn counts(value: Option<&serde_json::Value>) -> Counts {
    value.and_then(|value| Counts::deserialize(value).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jiff::Timestamp;

    use super::*;
    use crate::hook_state::HookOwner;
    use crate::hook_values::{HookValues, ValueScope};
    use crate::layer::Layer;

    fn session(root: &Path) -> ValueFile {
        let owner = HookOwner { project: Path::new("/p"), layer: Layer::User, name: "judge" };
        let scope = ValueScope::Session("conversation");
        HookValues::new(root.to_owned()).file(owner, scope, Timestamp::UNIX_EPOCH)
    }

    fn refused(result: Result<(), Refusal>) -> Option<(bool, String)> {
        match result {
            Ok(()) => None,
            Err(Refusal::Spent { is_first, text }) => Some((is_first, text)),
            Err(Refusal::NotCounted(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn calls_are_limited_and_the_first_refusal_is_known() {
        let scratch = tempfile::tempdir().unwrap();
        let budget = ModelBudget { max_calls: 2, ..ModelBudget::default() };
        let begin = || refused(budget.begin_call(&session(scratch.path())));
        assert_eq!((begin(), begin()), (None, None));
        let text = "the limit of 2 model calls a session is reached".to_owned();
        assert_eq!(begin(), Some((true, text.clone())));
        assert_eq!(begin(), Some((false, text)));
    }

    #[test]
    fn the_cost_is_limited() {
        let scratch = tempfile::tempdir().unwrap();
        let budget = ModelBudget::default();
        let session = session(scratch.path());
        for cost in [0.3, -5.0, 0.1] {
            assert_eq!(refused(budget.begin_call(&session)), None);
            ModelBudget::add_cost(&session, cost).unwrap();
        }
        assert_eq!(refused(budget.begin_call(&session)), None);
        ModelBudget::add_cost(&session, 0.1).unwrap();
        let (is_first, text) = refused(budget.begin_call(&session)).unwrap();
        assert!(is_first && text.contains("0.50 USD"), "{text}");
    }

    #[test]
    fn calls_that_cannot_be_counted_are_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("file");
        std::fs::write(&file, "").unwrap();
        let result = ModelBudget::default().begin_call(&session(&file));
        assert!(matches!(result, Err(Refusal::NotCounted(_))));
    }
}
