//! The hook that is part of Tenter: `builtin:compact-trigger`, which requests a summary before the context window is full (R50).
//!
//! It is a pure function of token counts. It runs in no process and is in no catalog; the caller of the engine compacts.

use std::collections::BTreeMap;

use tenter_protocol::event::{Turn, Usage};
use tenter_protocol::{Body, EventName, HistoryAction};

/// Prefix of the names of built-in hooks, which no other hook may have.
pub const PREFIX: &str = "builtin:";
/// The hook's full name.
pub const NAME: &str = "builtin:compact-trigger";
/// The event that it subscribes to.
pub const EVENT: EventName = EventName::AfterTurn;
/// The recipe that it requests.
pub const RECIPE: &str = "compact";

/// A request of the built-in hook, and its reason.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CompactRequest {
    pub(crate) action: HistoryAction,
    pub(crate) reason: String,
}

/// Returns its request at this event; at most events, there is none.
pub(crate) fn compact_request(body: &Body) -> Option<CompactRequest> {
    let Body::AfterTurn(turn) = body else { return None };
    compact_trigger(turn)
}

/// Requests the recipe once the context reaches the threshold; never if the threshold or the window's size is unknown.
fn compact_trigger(turn: &Turn) -> Option<CompactRequest> {
    let threshold = turn.auto_compact?;
    let usage = turn.usage?;
    let is_reached = ratio(usage)? >= threshold;
    if !is_reached {
        return None;
    }
    let Usage { current_context_window, max_context_window, .. } = usage;
    let action = HistoryAction::Callback { recipe: RECIPE.to_owned(), args: BTreeMap::new() };
    let reason = format!(
        "the context has {current_context_window} of {max_context_window} tokens; the threshold is {}",
        percent(threshold)
    );
    Some(CompactRequest { action, reason })
}

/// Returns the used part of the context window.
#[expect(clippy::cast_precision_loss, reason = "no window has so many tokens that a few count")]
fn ratio(usage: Usage) -> Option<f64> {
    let is_known = usage.max_context_window > 0;
    is_known.then(|| usage.current_context_window as f64 / usage.max_context_window as f64)
}

/// Returns a threshold as a percentage: `80 %`.
pub fn percent(threshold: f64) -> String {
    format!("{} %", (threshold * 10_000.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn turn(current: u64, max: u64, auto_compact: Option<f64>) -> Turn {
        let usage =
            Usage { current_context_window: current, max_context_window: max, ..Usage::default() };
        Turn { usage: Some(usage), auto_compact, ..Turn::new(1, "") }
    }

    fn fires(current: u64, max: u64, auto_compact: Option<f64>) -> bool {
        compact_trigger(&turn(current, max, auto_compact)).is_some()
    }

    #[test]
    fn requests_the_recipe_from_the_threshold_on() {
        assert!(!fires(12_799, 16_000, Some(0.8)));
        let request = compact_trigger(&turn(12_800, 16_000, Some(0.8))).unwrap();
        assert_eq!(request.reason, "the context has 12800 of 16000 tokens; the threshold is 80 %");
        let args = BTreeMap::new();
        assert_eq!(request.action, HistoryAction::Callback { recipe: "compact".to_owned(), args });
        assert!(fires(20_000, 16_000, Some(1.0)), "a context over the window is full");
    }

    #[test]
    fn requests_nothing_if_it_is_off_or_the_window_is_unknown() {
        assert!(!fires(16_000, 16_000, None));
        assert!(!fires(16_000, 0, Some(0.8)));
        assert!(!fires(16_000, 16_000, Some(f64::NAN)));
        assert_eq!(compact_request(&Body::AfterAgent { response: String::new() }), None);
    }

    #[test]
    fn a_threshold_is_written_as_a_percentage() {
        assert_eq!([0.8, 0.825, 1.0].map(percent), ["80 %", "82.5 %", "100 %"]);
        assert_eq!(percent(0.07), "7 %");
    }

    proptest! {
        #[test]
        fn a_fuller_context_never_cancels_the_request(current in 0u64..200_000, more in 0u64..200_000, threshold in 0.01f64..=1.0) {
            prop_assert!(!fires(current, 100_000, Some(threshold)) || fires(current + more, 100_000, Some(threshold)));
        }
    }
}
