//! Claude Code's tools, and the names under which its hooks know Tenter's tools.

use std::iter;

use crate::native_tool::{NativeTool, tool};

/// Claude Code's tools whose names or fields differ from Tenter's. Of several with one canonical name, the first is today's.
pub const TOOLS: &[NativeTool] = &[
    tool("Bash", "bash", &[]),
    // It can also listen to a web socket, and no matcher for it applies to other commands.
    tool("Monitor", "bash", &[]).when("command", ""),
    tool("Read", "file_read", &[("limit", "line_limit")]),
    tool("Write", "file_write", &[("content", "text")]),
    tool("Edit", "file_edit", EDIT_FIELDS),
    tool("MultiEdit", "file_edit", &[]),
    tool(
        "NotebookEdit",
        "file_edit",
        &[("notebook_path", "file_path"), ("new_source", "new_text")],
    ),
    tool("Grep", "grep", &[("glob", "include")]),
    tool("Glob", "glob", &[]),
    tool("TodoWrite", "todo", &[]),
    tool("Agent", "subagent", SUBAGENT_FIELDS),
    tool("Task", "subagent", SUBAGENT_FIELDS),
    tool("Skill", "skill", &[("skill", "name")]),
];

const EDIT_FIELDS: &[(&str, &str)] = &[("old_string", "old_text"), ("new_string", "new_text")];
const SUBAGENT_FIELDS: &[(&str, &str)] = &[("prompt", "question")];

/// Returns the tool of Claude Code that does what Tenter's tool `canonical` does.
pub fn counterpart(canonical: &str) -> Option<&'static NativeTool> {
    TOOLS.iter().find(|tool| tool.canonical == canonical)
}

/// Returns the tool with this name.
pub fn named(name: &str) -> Option<&'static NativeTool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Returns the names that matchers of Claude Code's hooks may use for the tool `canonical`: its own name if Claude Code has no
/// such tool.
pub fn names(canonical: &str) -> impl Iterator<Item = &str> {
    let is_native = counterpart(canonical).is_some();
    let own = iter::once(canonical).filter(move |_| !is_native);
    let native =
        TOOLS.iter().filter(move |tool| tool.canonical == canonical && tool.when.is_none());
    own.chain(native.map(|tool| tool.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_claude_codes_names_and_others_their_own() {
        let names = |canonical| names(canonical).collect::<Vec<_>>();
        assert_eq!(names("bash"), ["Bash"]);
        assert_eq!(names("file_edit"), ["Edit", "MultiEdit", "NotebookEdit"]);
        assert_eq!(names("mcp__memory__store"), ["mcp__memory__store"]);
        assert_eq!(counterpart("subagent").map(|tool| tool.name), Some("Agent"));
    }

    #[test]
    fn a_monitor_with_a_command_is_a_shell() {
        let is_shell = |field: &str| {
            let input = [(field.to_owned(), "a".into())].into_iter().collect();
            TOOLS.iter().any(|tool| tool.canonical == "bash" && tool.is_of("Monitor", &input))
        };
        assert!(is_shell("command"));
        assert!(!is_shell("ws"));
    }
}
