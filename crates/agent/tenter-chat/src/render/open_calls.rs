//! Tool calls that were shown and whose results were not, to show to which call a result belongs.

use std::collections::HashMap;

use tenter_protocol::{Scope, ToolCall};

use super::live::title;

/// Maximum number of characters of a call that a result names.
const TITLE: usize = 60;

/// The calls of all conversations.
#[derive(Default)]
pub(super) struct OpenCalls {
    conversations: HashMap<String, Batch>,
    /// Conversation and id of the call that was shown last, unless anything of another call was shown since.
    last: Option<(String, String)>,
}

/// The calls of one model response.
#[derive(Default)]
struct Batch {
    /// Number of calls.
    size: usize,
    /// The titles of calls without a result, by call id.
    open: HashMap<String, String>,
}

impl OpenCalls {
    /// Records a call that was shown.
    pub(super) fn open(&mut self, scope: &Scope, call: &ToolCall) {
        let batch = self.conversations.entry(scope.conversation_id.clone()).or_default();
        if batch.open.is_empty() {
            batch.size = 0;
        }
        batch.size += 1;
        batch.open.insert(call.id.clone(), title(call, TITLE));
        self.last = Some((scope.conversation_id.clone(), call.id.clone()));
    }

    /// Returns how the result of a call, or what blocked it, names the call: `None` if it is the only call, and shown right above.
    pub(super) fn name(&mut self, scope: &Scope, call_id: &str) -> Option<String> {
        let batch = self.conversations.get(&scope.conversation_id)?;
        let title = batch.open.get(call_id)?;
        let is_above =
            self.last.take().is_some_and(|(of, id)| of == scope.conversation_id && id == call_id);
        (batch.size > 1 || !is_above).then(|| title.clone())
    }

    /// Records that the result of a call was shown.
    pub(super) fn close(&mut self, scope: &Scope, call_id: &str) {
        if let Some(batch) = self.conversations.get_mut(&scope.conversation_id) {
            batch.open.remove(call_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, command: &str) -> ToolCall {
        let input = serde_json::json!({"command": command}).as_object().unwrap().clone();
        ToolCall { id: id.to_owned(), name: "bash".to_owned(), input }
    }

    #[test]
    fn a_single_call_is_not_named() {
        let (mut calls, scope) = (OpenCalls::default(), Scope::new("c", "/"));
        for id in ["1", "2"] {
            calls.open(&scope, &call(id, "ls"));
            assert_eq!(calls.name(&scope, id), None);
            calls.close(&scope, id);
        }
        assert_eq!(calls.name(&scope, "unknown"), None);
    }

    #[test]
    fn calls_of_one_response_are_named() {
        let (mut calls, scope) = (OpenCalls::default(), Scope::new("c", "/"));
        calls.open(&scope, &call("1", "ls"));
        calls.open(&scope, &call("2", "make"));
        assert_eq!(calls.name(&scope, "2").as_deref(), Some("bash make"));
        calls.close(&scope, "2");
        assert_eq!(calls.name(&scope, "1").as_deref(), Some("bash ls"));
        calls.close(&scope, "1");
        calls.open(&scope, &call("3", "ls"));
        assert_eq!(calls.name(&scope, "3"), None);
    }

    #[test]
    fn a_call_is_named_if_those_of_a_subagent_came_between() {
        let mut calls = OpenCalls::default();
        let (parent, child) = (Scope::new("p", "/"), Scope::new("c", "/"));
        calls.open(&parent, &call("1", "outer"));
        calls.open(&child, &call("1", "inner"));
        assert_eq!(calls.name(&child, "1"), None);
        calls.close(&child, "1");
        assert_eq!(calls.name(&parent, "1").as_deref(), Some("bash outer"));
    }
}
