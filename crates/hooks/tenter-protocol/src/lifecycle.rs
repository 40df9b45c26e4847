//! The table of lifecycle events (R1, R2). Parsers, help texts, documentation and tests derive from it; no other place lists
//! the events.

use std::fmt;

/// A point in an agent's life at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventName {
    /// Once per process, before the first user message.
    SessionStart,
    /// A user message is about to be added.
    BeforeAgent,
    /// A tool is about to run.
    BeforeTool,
    /// A tool succeeded.
    AfterTool,
    /// A tool failed or was blocked.
    AfterToolFailure,
    /// The model has responded, and the results of the response's tool calls are recorded.
    AfterTurn,
    /// The agent is about to stop.
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

/// Something that a hook's reply may do at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Power {
    /// Prevent what is about to happen.
    Block,
    /// Let the user decide.
    Ask,
    /// Replace the user's message.
    RewriteMessage,
    /// Replace a tool's input.
    RewriteInput,
    /// Replace a tool's output.
    RewriteOutput,
    /// Add text for the model.
    AddContext,
    /// Give the model a reason to reconsider; nothing is undone.
    FeedBack,
    /// Add follow-up messages, so that the agent does not stop.
    Continue,
    /// Replace the history.
    Mutate,
    /// Run a recipe on the history.
    Callback,
}

impl Power {
    /// Returns the name used in tables and help texts.
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

/// The two protocols that hooks speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProtocolName {
    /// An executable file that answers `hook` and `run`.
    Executable,
    /// A directory with a `HOOK.md`.
    Manifest,
}

/// One row of [`TABLE`].
#[derive(Debug)]
pub struct Lifecycle {
    /// The event.
    pub event: EventName,
    /// The canonical name, used in listings, records and the JSON stream.
    pub name: &'static str,
    /// The lines that an executable prints to subscribe; empty if the executable protocol does not have the event.
    pub executable: &'static [&'static str],
    /// The spellings of a manifest's `trigger`, the canonical name first.
    pub manifest: &'static [&'static str],
    /// Claude Code's names for the event: suggested in error messages, never accepted.
    pub claude_code: &'static [&'static str],
    /// When the event fires, to complete a sentence that begins with "fires".
    pub fires: &'static str,
    /// Notes for authors of hooks, as sentences; may be empty.
    pub notes: &'static str,
    /// The powers of a reply, and the effect of each as a clause.
    pub may: &'static [(Power, &'static str)],
    /// True if a matcher on tool name and input applies.
    pub matcher: bool,
}

impl Lifecycle {
    /// Returns the spellings with which a hook of this protocol subscribes; empty if the protocol does not have the event.
    pub fn spellings(&self, protocol: ProtocolName) -> &'static [&'static str] {
        match protocol {
            ProtocolName::Executable => self.executable,
            ProtocolName::Manifest => self.manifest,
        }
    }
}

use Power::{
    AddContext, Ask, Block, Callback, Continue, FeedBack, Mutate, RewriteInput, RewriteMessage,
    RewriteOutput,
};

const CONTEXT: (Power, &str) = (AddContext, "the model also reads this text");
const FEED_BACK: (Power, &str) = (FeedBack, "nothing is undone; the model reads the reason");
const REWRITE_OUTPUT: (Power, &str) = (
    RewriteOutput,
    "the model, the terminal and the stored conversation get this result; fields that it leaves out keep their values",
);
const MUTATE: (Power, &str) = (Mutate, "these messages replace the history");
const CALLBACK: (Power, &str) =
    (Callback, "the recipe runs on the conversation, and its result replaces the history");

/// Every event, in the order of an agent's life.
pub const TABLE: [Lifecycle; 13] = [
    Lifecycle {
        event: EventName::SessionStart,
        name: "session_start",
        executable: &[],
        manifest: &["session_start", "pre-session"],
        claude_code: &["SessionStart"],
        fires: "once, before the first user message of a process on a conversation",
        notes: "A subagent has no session of its own.",
        may: &[
            (
                Block,
                "the session does not start: nothing is stored, and `tenter run` exits with code 3",
            ),
            CONTEXT,
        ],
        matcher: false,
    },
    Lifecycle {
        event: EventName::BeforeAgent,
        name: "before_agent",
        executable: &["user_message_send"],
        manifest: &["before_agent", "pre-agent-turn"],
        claude_code: &["UserPromptSubmit"],
        fires: "when a user message is about to be added",
        notes: "The message is the user's, or the task of a subagent. Follow-up messages of hooks do not fire the event.",
        may: &[
            (
                Block,
                "the message is rejected: nothing is stored, and `tenter run` exits with code 3",
            ),
            (RewriteMessage, "the model reads this message instead"),
            CONTEXT,
        ],
        matcher: false,
    },
    Lifecycle {
        event: EventName::BeforeTool,
        name: "before_tool",
        executable: &["before_tool_call"],
        manifest: &["before_tool", "pre-tool-call"],
        claude_code: &["PreToolUse", "PermissionRequest"],
        fires: "before a tool runs",
        notes: "The tool calls of one response run in parallel, so several instances of a hook may run at the same time.",
        may: &[
            (Block, "the tool does not run, and the model reads the reason"),
            (
                Ask,
                "the user decides; without a terminal the call is denied unless configured otherwise",
            ),
            (
                RewriteInput,
                "the tool runs with this input: the complete input, not only the changed fields",
            ),
            CONTEXT,
        ],
        matcher: true,
    },
    Lifecycle {
        event: EventName::AfterTool,
        name: "after_tool",
        executable: &["after_tool_call"],
        manifest: &["after_tool", "post-tool-call"],
        claude_code: &["PostToolUse"],
        fires: "after a tool succeeded",
        notes: "The tool has run: a reply can change the result that is reported, not what was done.",
        may: &[REWRITE_OUTPUT, FEED_BACK, CONTEXT],
        matcher: true,
    },
    Lifecycle {
        event: EventName::AfterToolFailure,
        name: "after_tool_failure",
        executable: &["after_tool_call"],
        manifest: &["after_tool_failure", "post-tool-call-failure"],
        claude_code: &["PostToolUseFailure"],
        fires: "after a tool failed or was blocked",
        notes: "For a call that a `before_tool` hook blocked, `tool_input` is what the model asked for, and the `metadataType` of `tool_output` is `blocked`.",
        may: &[REWRITE_OUTPUT, FEED_BACK, CONTEXT],
        matcher: true,
    },
    Lifecycle {
        event: EventName::AfterTurn,
        name: "after_turn",
        executable: &["after_turn", "turn_end"],
        manifest: &["after_turn"],
        claude_code: &[],
        fires: "after every model response, once the tool results of that response (if any) are recorded",
        notes: "The last response of the agent fires it as well.",
        may: &[MUTATE, CALLBACK, FEED_BACK, CONTEXT],
        matcher: false,
    },
    Lifecycle {
        event: EventName::BeforeStop,
        name: "before_stop",
        executable: &["agent_stop"],
        manifest: &["before_stop", "pre-agent-turn-stop"],
        claude_code: &["Stop"],
        fires: "when the agent would stop: a response without tool calls, or the turn limit",
        notes: "After 8 continuations in a row (`hooks.max_continuations`) the agent stops anyway; a tool call resets the count. At the turn limit the agent always stops.",
        may: &[
            (Continue, "the agent continues, and reads this as if the user had sent it"),
            MUTATE,
            CALLBACK,
            CONTEXT,
        ],
        matcher: false,
    },
    Lifecycle {
        event: EventName::AfterAgent,
        name: "after_agent",
        executable: &[],
        manifest: &["after_agent", "post-agent-turn"],
        claude_code: &[],
        fires: "when the agent is done with one user message",
        notes: "Also fires after an error or Ctrl-C.",
        may: &[(FeedBack, "nothing is undone; the model reads the reason with the next message")],
        matcher: false,
    },
    Lifecycle {
        event: EventName::SubagentStart,
        name: "subagent_start",
        executable: &[],
        manifest: &["subagent_start", "pre-subagent"],
        claude_code: &["SubagentStart"],
        fires: "when a subagent is about to start",
        notes: "",
        may: &[(Block, "the subagent does not start; the reason is its result")],
        matcher: false,
    },
    Lifecycle {
        event: EventName::SubagentStop,
        name: "subagent_stop",
        executable: &[],
        manifest: &["subagent_stop", "post-subagent"],
        claude_code: &["SubagentStop"],
        fires: "when a subagent ended",
        notes: "",
        may: &[FEED_BACK],
        matcher: false,
    },
    Lifecycle {
        event: EventName::PreCompact,
        name: "pre_compact",
        executable: &[],
        manifest: &["pre_compact", "pre-context-compact"],
        claude_code: &["PreCompact"],
        fires: "when history is about to be replaced by a summary",
        notes: "",
        may: &[
            (Block, "the history is not summarized this time"),
            (AddContext, "the text is added to the request for the summary"),
        ],
        matcher: false,
    },
    Lifecycle {
        event: EventName::PostCompact,
        name: "post_compact",
        executable: &[],
        manifest: &["post_compact", "post-context-compact"],
        claude_code: &["PostCompact"],
        fires: "when history was replaced by a summary",
        notes: "",
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
        notes: "A subagent has no session of its own.",
        may: &[],
        matcher: false,
    },
];

impl EventName {
    /// Returns the event's row of [`TABLE`].
    pub fn lifecycle(self) -> &'static Lifecycle {
        // The enum is declared in the table's order; a test checks it.
        &TABLE[self as usize]
    }

    /// Returns the canonical name.
    pub fn as_str(self) -> &'static str {
        self.lifecycle().name
    }

    /// Returns true if a reply at this event may do `power`.
    pub fn may(self, power: Power) -> bool {
        self.lifecycle().may.iter().any(|(event_power, _)| *event_power == power)
    }

    /// Returns true if a deny at this event prevents something. A stop counts: a denied agent continues (R29).
    pub fn is_deniable(self) -> bool {
        self.may(Power::Block) || self.may(Power::Continue)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns the events with this spelling in either protocol, in the table's order; empty for an unknown one. `after_tool_call`
/// means two events.
pub fn by_any_spelling(spelling: &str) -> Vec<EventName> {
    TABLE
        .iter()
        .filter(|row| row.executable.contains(&spelling) || row.manifest.contains(&spelling))
        .map(|row| row.event)
        .collect()
}

/// Returns the event with this name in Claude Code, ignoring case.
pub fn by_claude_code(word: &str) -> Option<EventName> {
    let is_called = |row: &&Lifecycle| {
        row.claude_code.iter().any(|name| name.eq_ignore_ascii_case(word.trim()))
    };
    TABLE.iter().find(is_called).map(|row| row.event)
}

/// Returns every spelling of the executable protocol, each once, in the table's order.
pub fn executable_spellings() -> Vec<&'static str> {
    let mut spellings: Vec<&str> = TABLE.iter().flat_map(|row| row.executable).copied().collect();
    spellings.dedup();
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_enum() {
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
    fn names_of_claude_code_are_recognized_but_not_accepted() {
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
    fn executable_spellings_are_those_of_the_specification() {
        assert_eq!(
            executable_spellings(),
            *tenter_base::words!(
                "user_message_send before_tool_call after_tool_call after_turn turn_end agent_stop"
            )
        );
        assert_eq!(
            by_any_spelling("after_tool_call"),
            [EventName::AfterTool, EventName::AfterToolFailure]
        );
        assert_eq!(by_any_spelling("pre-session"), [EventName::SessionStart]);
        assert!(by_any_spelling("xyz").is_empty());
    }
}
