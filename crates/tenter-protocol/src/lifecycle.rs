//! The one table of lifecycle events (RESOLUTIONS R1, R2). Parsers, help texts, documentation and tests derive from it;
//! no other place lists the events.

use std::fmt;

/// A point in an agent's life at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventName {
    /// Once, before the first user message of a process on a conversation.
    SessionStart,
    /// A user message is about to be added.
    BeforeAgent,
    /// A tool is about to run.
    BeforeTool,
    /// A tool succeeded.
    AfterTool,
    /// A tool failed or was blocked.
    AfterToolFailure,
    /// The model answered and the tool results of that answer are recorded.
    AfterTurn,
    /// The agent would stop.
    BeforeStop,
    /// The agent is done with one user message.
    AfterAgent,
    /// A subagent is about to start.
    SubagentStart,
    /// A subagent ended.
    SubagentStop,
    /// History is about to be replaced by a summary.
    PreCompact,
    /// History was replaced by a summary.
    PostCompact,
    /// Once, last, also after an error or Ctrl-C.
    SessionEnd,
}

/// Something a hook's answer may do at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Power {
    /// Stop what is about to happen.
    Block,
    /// Have the person decide.
    Ask,
    /// Replace the user's message.
    RewriteMessage,
    /// Replace a tool's input.
    RewriteInput,
    /// Replace a tool's output.
    RewriteOutput,
    /// Add text for the model.
    AddContext,
    /// Have a reason fed back to the model; what was done stays done.
    FeedBack,
    /// Add follow-up messages, so that the agent goes on.
    Continue,
    /// Replace the history.
    Mutate,
    /// Run a recipe on the history.
    Callback,
}

impl Power {
    /// The word for it in tables and help texts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Ask => "ask",
            Self::RewriteMessage => "rewrite the message",
            Self::RewriteInput => "rewrite the input",
            Self::RewriteOutput => "rewrite the output",
            Self::AddContext => "add context",
            Self::FeedBack => "feed back",
            Self::Continue => "continue",
            Self::Mutate => "mutate",
            Self::Callback => "callback",
        }
    }
}

/// One row of [`TABLE`].
#[derive(Debug)]
pub struct Lifecycle {
    /// The event of this row.
    pub event: EventName,
    /// The canonical name: what listings, records and the JSON stream say.
    pub name: &'static str,
    /// What an executable prints to subscribe; empty where the executable protocol has no such event.
    pub executable: &'static [&'static str],
    /// What a manifest's `trigger` says, the canonical name first.
    pub manifest: &'static [&'static str],
    /// What Claude Code calls it: suggested where it is written, never accepted.
    pub claude_code: &'static [&'static str],
    /// When the event fires, as the end of a sentence that begins with "fires".
    pub fires: &'static str,
    /// What an answer may do.
    pub may: &'static [Power],
    /// Whether a matcher on tool name and input applies.
    pub matcher: bool,
}

use Power::{
    AddContext, Ask, Block, Callback, Continue, FeedBack, Mutate, RewriteInput, RewriteMessage,
    RewriteOutput,
};

/// Every event, in the order of an agent's life.
pub const TABLE: [Lifecycle; 13] = [
    Lifecycle {
        event: EventName::SessionStart,
        name: "session_start",
        executable: &[],
        manifest: &["session_start", "pre-session"],
        claude_code: &["SessionStart"],
        fires: "once, before the first user message of a process on a conversation",
        may: &[Block, AddContext],
        matcher: false,
    },
    Lifecycle {
        event: EventName::BeforeAgent,
        name: "before_agent",
        executable: &["user_message_send"],
        manifest: &["before_agent", "pre-agent-turn"],
        claude_code: &["UserPromptSubmit"],
        fires: "when a user message is about to be added",
        may: &[Block, RewriteMessage, AddContext],
        matcher: false,
    },
    Lifecycle {
        event: EventName::BeforeTool,
        name: "before_tool",
        executable: &["before_tool_call"],
        manifest: &["before_tool", "pre-tool-call"],
        claude_code: &["PreToolUse", "PermissionRequest"],
        fires: "before a tool runs",
        may: &[Block, Ask, RewriteInput, AddContext],
        matcher: true,
    },
    Lifecycle {
        event: EventName::AfterTool,
        name: "after_tool",
        executable: &["after_tool_call"],
        manifest: &["after_tool", "post-tool-call"],
        claude_code: &["PostToolUse"],
        fires: "after a tool succeeded",
        may: &[RewriteOutput, FeedBack, AddContext],
        matcher: true,
    },
    Lifecycle {
        event: EventName::AfterToolFailure,
        name: "after_tool_failure",
        executable: &["after_tool_call"],
        manifest: &["after_tool_failure", "post-tool-call-failure"],
        claude_code: &["PostToolUseFailure"],
        fires: "after a tool failed or was blocked",
        may: &[RewriteOutput, FeedBack, AddContext],
        matcher: true,
    },
    Lifecycle {
        event: EventName::AfterTurn,
        name: "after_turn",
        executable: &["after_turn", "turn_end"],
        manifest: &["after_turn"],
        claude_code: &[],
        fires: "after every model response, once the tool results of that response (if any) are recorded",
        may: &[Mutate, Callback, FeedBack, AddContext],
        matcher: false,
    },
    Lifecycle {
        event: EventName::BeforeStop,
        name: "before_stop",
        executable: &["agent_stop"],
        manifest: &["before_stop", "pre-agent-turn-stop"],
        claude_code: &["Stop"],
        fires: "when the agent would stop: a response without tool calls, or the turn limit",
        may: &[Continue, Mutate, Callback, AddContext],
        matcher: false,
    },
    Lifecycle {
        event: EventName::AfterAgent,
        name: "after_agent",
        executable: &[],
        manifest: &["after_agent", "post-agent-turn"],
        claude_code: &[],
        fires: "when the agent is done with one user message",
        may: &[FeedBack],
        matcher: false,
    },
    Lifecycle {
        event: EventName::SubagentStart,
        name: "subagent_start",
        executable: &[],
        manifest: &["subagent_start", "pre-subagent"],
        claude_code: &["SubagentStart"],
        fires: "when a subagent is about to start",
        may: &[Block],
        matcher: false,
    },
    Lifecycle {
        event: EventName::SubagentStop,
        name: "subagent_stop",
        executable: &[],
        manifest: &["subagent_stop", "post-subagent"],
        claude_code: &["SubagentStop"],
        fires: "when a subagent ended",
        may: &[FeedBack],
        matcher: false,
    },
    Lifecycle {
        event: EventName::PreCompact,
        name: "pre_compact",
        executable: &[],
        manifest: &["pre_compact", "pre-context-compact"],
        claude_code: &["PreCompact"],
        fires: "when history is about to be replaced by a summary",
        may: &[Block, AddContext],
        matcher: false,
    },
    Lifecycle {
        event: EventName::PostCompact,
        name: "post_compact",
        executable: &[],
        manifest: &["post_compact", "post-context-compact"],
        claude_code: &["PostCompact"],
        fires: "when history was replaced by a summary",
        may: &[],
        matcher: false,
    },
    Lifecycle {
        event: EventName::SessionEnd,
        name: "session_end",
        executable: &[],
        manifest: &["session_end", "post-session"],
        claude_code: &["SessionEnd"],
        fires: "once, last, also after an error or Ctrl-C",
        may: &[],
        matcher: false,
    },
];

impl EventName {
    /// The event's row of [`TABLE`].
    pub fn lifecycle(self) -> &'static Lifecycle {
        // The enum is declared in the table's order; `rows_stand_at_their_events_place` keeps it so.
        &TABLE[self as usize]
    }

    /// The canonical name.
    pub fn as_str(self) -> &'static str {
        self.lifecycle().name
    }

    /// Whether an answer at this event may do `power`.
    pub fn may(self, power: Power) -> bool {
        self.lifecycle().may.contains(&power)
    }

    /// Whether a deny at this event keeps something from happening. A stop counts: a denied agent continues (R29).
    pub fn is_deniable(self) -> bool {
        self.may(Power::Block) || self.may(Power::Continue)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The events that any of the spellings of either protocol means, in the table's order; empty for an unknown one.
/// `after_tool_call` means two.
pub fn by_any_spelling(spelling: &str) -> Vec<EventName> {
    TABLE
        .iter()
        .filter(|row| row.executable.contains(&spelling) || row.manifest.contains(&spelling))
        .map(|row| row.event)
        .collect()
}

/// The event that Claude Code calls `word`, in any case.
pub fn by_claude_code(word: &str) -> Option<EventName> {
    let is_called = |row: &&Lifecycle| {
        row.claude_code.iter().any(|name| name.eq_ignore_ascii_case(word.trim()))
    };
    TABLE.iter().find(is_called).map(|row| row.event)
}

/// Every spelling of the executable protocol, each once, in the table's order.
pub fn executable_spellings() -> Vec<&'static str> {
    let mut spellings: Vec<&str> = TABLE.iter().flat_map(|row| row.executable).copied().collect();
    spellings.dedup();
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_events_place() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.event as usize, index, "{}", row.name);
            assert_eq!(row.event.lifecycle().name, row.name);
        }
    }

    #[test]
    fn every_canonical_name_is_also_a_manifest_spelling() {
        for row in &TABLE {
            assert_eq!(row.manifest[0], row.name);
        }
    }

    #[test]
    fn a_name_of_claude_code_is_known_and_is_no_spelling_of_ours() {
        assert_eq!(by_claude_code("PreToolUse"), Some(EventName::BeforeTool));
        assert_eq!(by_claude_code("stop"), Some(EventName::BeforeStop));
        assert_eq!(by_claude_code("before_tool"), None);
        for name in TABLE.iter().flat_map(|row| row.claude_code) {
            assert!(by_any_spelling(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn matchers_apply_to_the_three_tool_events_only() {
        let with: Vec<&str> = TABLE.iter().filter(|row| row.matcher).map(|row| row.name).collect();
        assert_eq!(with, ["before_tool", "after_tool", "after_tool_failure"]);
    }

    #[test]
    fn the_executable_protocol_has_the_documents_spellings() {
        assert_eq!(
            executable_spellings(),
            [
                "user_message_send",
                "before_tool_call",
                "after_tool_call",
                "after_turn",
                "turn_end",
                "agent_stop"
            ]
        );
        assert_eq!(
            by_any_spelling("after_tool_call"),
            [EventName::AfterTool, EventName::AfterToolFailure]
        );
        assert_eq!(by_any_spelling("pre-session"), [EventName::SessionStart]);
        assert!(by_any_spelling("xyz").is_empty());
    }
}
