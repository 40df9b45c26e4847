//! Calls that were denied, until their result arrives (B30).

use serde::{Deserialize, Serialize};
use tenter_base::excerpt;

use crate::digest::short_id;

/// Maximum number of calls that are remembered. A host reports a denied call, or runs it anyway, before it makes many others.
const MAX_CALLS: usize = 500;
/// Length of the part of a reason by which the failure of a denied call is recognised, in characters.
const REASON_HEAD: usize = 60;

/// The denied calls of a session, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct DeniedCalls(Vec<DeniedCall>);

/// A tool call that was denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeniedCall {
    /// The host's id of the call.
    id: String,
    /// The beginning of the reason that the model read.
    pub(crate) reason: String,
    /// Number of later calls with the same id that were approved and have no result yet: hosts without ids repeat ids.
    pub(crate) passes: u32,
}

impl DeniedCalls {
    /// Adds a call that was denied for this reason. Beyond the limit, the oldest is forgotten.
    pub(crate) fn add(&mut self, id: &str, reason: &str) {
        self.remove(id);
        let excess = (self.0.len() + 1).saturating_sub(MAX_CALLS);
        self.0.drain(..excess);
        let first_line = reason.lines().next().unwrap_or_default();
        let reason = excerpt::prefix(first_line, REASON_HEAD).to_owned();
        self.0.push(DeniedCall { id: short_id(id).into_owned(), reason, passes: 0 });
    }

    /// Returns the call with this id, if it was denied.
    pub(crate) fn get(&self, id: &str) -> Option<&DeniedCall> {
        let id = short_id(id);
        self.0.iter().find(|call| call.id == id)
    }

    /// Returns the call with this id for a change.
    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut DeniedCall> {
        let id = short_id(id);
        self.0.iter_mut().find(|call| call.id == id)
    }

    /// Forgets a call.
    pub(crate) fn remove(&mut self, id: &str) {
        let id = short_id(id);
        self.0.retain(|call| call.id != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_calls_are_remembered_with_the_head_of_their_reason() {
        let mut calls = DeniedCalls::default();
        let name = |number: usize| format!("{number}{}", "x".repeat(number));
        for number in 0..MAX_CALLS + 100 {
            calls.add(&name(number), &"r".repeat(number * 100));
        }
        assert!(calls.get(&name(99)).is_none());
        for number in [100, MAX_CALLS + 99] {
            assert_eq!(calls.get(&name(number)).unwrap().reason, "r".repeat(REASON_HEAD));
        }
        calls.remove(&name(100));
        assert!(calls.get(&name(100)).is_none());
    }
}
