//! The words of Claude Code's hooks: its events, its tools, and the form of its tools' results. Many agents imitate them.
//!
//! Hooks that are written for Claude Code read and write this form (`manifest::claude_code`); hosts that fire Claude Code's
//! events speak it to Tenter.

pub mod results;
pub mod tools;

pub use tools::TOOLS;

use crate::EventName;

/// An event of Claude Code's, and Tenter's event that hooks written for it run at.
#[derive(Debug)]
pub struct NativeEvent {
    /// Claude Code's name.
    pub name: &'static str,
    /// Tenter's event.
    pub event: EventName,
    /// The value that a matcher of the event is compared with; `None` if the event has no matcher.
    pub matched: Option<Matched>,
}

/// The value that a matcher is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matched {
    /// The name of the tool.
    Tool,
    /// The start of the session: `startup`, `resume`, …
    Source,
    /// The reason why the session ended.
    Reason,
    /// The cause of a compaction: `manual` or `auto`.
    Trigger,
    /// The type of the subagent.
    AgentType,
}

/// The events of Claude Code that Tenter has, in the order of an agent's life. `SubagentStop` runs where a subagent may still be
/// made to continue.
pub const EVENTS: &[NativeEvent] = &[
    event("SessionStart", EventName::SessionStart, Some(Matched::Source)),
    event("UserPromptSubmit", EventName::BeforeAgent, None),
    event("PreToolUse", EventName::BeforeTool, Some(Matched::Tool)),
    event("PostToolUse", EventName::AfterTool, Some(Matched::Tool)),
    event("PostToolUseFailure", EventName::AfterToolFailure, Some(Matched::Tool)),
    event("PostToolBatch", EventName::AfterTurn, None),
    event("Stop", EventName::BeforeStop, None),
    event("SubagentStart", EventName::SubagentStart, Some(Matched::AgentType)),
    event("SubagentStop", EventName::BeforeStop, Some(Matched::AgentType)),
    event("PreCompact", EventName::PreCompact, Some(Matched::Trigger)),
    event("PostCompact", EventName::PostCompact, Some(Matched::Trigger)),
    event("SessionEnd", EventName::SessionEnd, Some(Matched::Reason)),
];

const fn event(name: &'static str, event: EventName, matched: Option<Matched>) -> NativeEvent {
    NativeEvent { name, event, matched }
}

/// Returns the event with this name, as Claude Code spells it.
pub fn named(name: &str) -> Option<&'static NativeEvent> {
    EVENTS.iter().find(|event| event.name == name)
}

/// Returns a matcher of Claude Code's as a regular expression for [`MatcherText`](crate::manifest::MatcherText); `None` if it
/// matches everything. A list of names matches these names only; anything else is an expression already.
pub fn matcher_expression(matcher: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
    match matcher.trim() {
        "" | "*" => None,
        list if list.chars().all(is_plain) => {
            let names: Vec<&str> = list.split(['|', ',']).map(str::trim).collect();
            let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
            Some(format!("^(?:{})$", names.join("|")))
        }
        expression => Some(expression.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_names_match_these_names_and_expressions_stay() {
        for (matcher, expression) in [
            ("", None),
            (" * ", None),
            ("Bash", Some("^(?:Bash)$")),
            ("Edit|Write", Some("^(?:Edit|Write)$")),
            ("Edit, Write,", Some("^(?:Edit|Write)$")),
            ("mcp__memory__.*", Some("mcp__memory__.*")),
            ("Notebook.*", Some("Notebook.*")),
            ("^(?!Bash)", Some("^(?!Bash)")),
        ] {
            assert_eq!(matcher_expression(matcher).as_deref(), expression, "{matcher:?}");
        }
    }

    #[test]
    fn the_events_are_those_that_the_table_of_events_names() {
        for native in EVENTS.iter().filter(|native| native.name != "SubagentStop") {
            let row = native.event.lifecycle();
            let is_own = native.event == EventName::AfterTurn;
            assert!(is_own || row.claude_code.contains(&native.name), "{}", native.name);
        }
    }
}
