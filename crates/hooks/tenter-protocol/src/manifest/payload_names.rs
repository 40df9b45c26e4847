//! Checks names of payload fields, which the templates of static hooks use.

use std::path::Path;

use serde_json::Map;

use super::payload;
use crate::{EventName, sample};

/// A name in a path that the payload of an event cannot have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The name's index in the path.
    pub index: usize,
    /// The names that are possible there.
    pub possible: Vec<String>,
}

/// Returns the first name of `path`, which leads from the payload's root to a value, that a manifest hook's payload at `event`
/// cannot have. Any name is possible in `tool_input`, in `args` and in a result's `metadata`.
pub fn unknown_name(event: EventName, path: &[&str]) -> Option<UnknownName> {
    let (event, facts) = sample::full_event(event, "", Path::new("/"));
    let mut value = &payload(&event, "", None, &facts, false).to_value();
    for (index, name) in path.iter().enumerate() {
        let fields = value.as_object();
        // The fields of an object that is empty in the sample depend on the tool or the agent.
        if fields.is_some_and(Map::is_empty) {
            return None;
        }
        let Some(field) = fields.and_then(|fields| fields.get(*name)) else {
            let possible = fields.into_iter().flat_map(|fields| fields.keys()).cloned().collect();
            return Some(UnknownName { index, possible });
        };
        value = field;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_reported_with_the_possible_names() {
        let index = |event, path: &[&str]| unknown_name(event, path).map(|unknown| unknown.index);
        assert_eq!(index(EventName::BeforeTool, &["tool_input", "anything", "at", "all"]), None);
        assert_eq!(index(EventName::BeforeTool, &["tool_output"]), Some(0));
        assert_eq!(index(EventName::AfterTool, &["tool_output", "metadata", "exitCode"]), None);
        assert_eq!(index(EventName::AfterTool, &["tool_error"]), Some(0));
        assert_eq!(index(EventName::AfterTurn, &["usage", "turn", "input_tokens"]), None);
        assert_eq!(index(EventName::AfterTurn, &["usage", "turn", "tokens"]), Some(2));
        assert_eq!(index(EventName::AfterTurn, &["context", "recipe_name"]), None);
        assert_eq!(index(EventName::AfterTurn, &["response", "text"]), Some(1));
        assert_eq!(index(EventName::AfterTurn, &[]), None);
        let unknown = unknown_name(EventName::BeforeStop, &["final_message", "text"]).unwrap();
        assert_eq!(unknown.possible, ["role", "content"]);
    }
}
