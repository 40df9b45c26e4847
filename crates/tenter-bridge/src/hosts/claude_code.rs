//! Claude Code.

use std::time::Duration;

use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, claude_code};

use super::{claude_form, claude_result};
use crate::host::{
    EntryFormat, FailClosed, Reads, Registration, RegistrationFormat, Silencer, SwitchValue,
};
use crate::host::{EventPowers, Host, InputRewrite, Moment, NativeEvent};

/// Claude Code, measured with version 2.1.330.
pub(super) const HOST: Host = Host {
    id: "claude-code",
    name: "Claude Code",
    measured_version: Some("2.1.330"),
    events: EVENTS,
    tools: claude_code::TOOLS,
    registration: Registration {
        personal_file: Some(".claude/settings.local.json"),
        shared_file: Some(".claude/settings.json"),
        directory_variable: Some("CLAUDE_CONFIG_DIR"),
        exec_since: Some([2, 1, 330]),
        silencers: &[Silencer::key("disableAllHooks")],
        sessions: Some(".claude/projects"),
        ..Registration::new(".claude/settings.json", &["claude"], FORMAT)
    },
    powers: POWERS,
    blind_spots: &[
        "Files that a message mentions as `@file` are read without a tool call.",
        "Files that a shell command writes do not count as calls of a file tool.",
    ],
    notes: &[
        "Settings with comments or trailing commas are ignored as a whole, without a message.",
        "`disableAllHooks` in the settings of a project turns hooks off, also yours.",
        "A denied compaction ends a run with `-p` when the context is full.",
    ],
    context_limit: 10_000,
    max_continuations: 8,
    marks_subagents: true,
    input_rewrite: InputRewrite::Native,
    withheld: &["CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_ENV_FILE"],
    read: claude_form::read,
    answer: claude_form::answer,
    rewrite_output: claude_result::rewritten,
    mcp_name: claude_form::mcp_name,
    takes_context: claude_form::takes_context,
    takes_notice: claude_form::takes_notice,
};

const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    fail_closed: FailClosed::Switch("onFailure", SwitchValue::Text("block")),
    reads: Reads::PlainJson,
    ..EntryFormat::JSON_GROUPS
});

/// 10 minutes is the longest timeout that the host accepts.
const EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart),
    event("UserPromptSubmit", Moment::Prompt),
    event("PreToolUse", Moment::BeforeTool),
    event("PostToolUse", Moment::AfterTool),
    event("PostToolUseFailure", Moment::AfterToolFailure),
    event("PostToolBatch", Moment::AfterBatch),
    event("Stop", Moment::Stop),
    event("StopFailure", Moment::StopFailure),
    event("SubagentStart", Moment::SubagentStart),
    event("SubagentStop", Moment::SubagentStop),
    event("PreCompact", Moment::PreCompact),
    event("PostCompact", Moment::PostCompact),
    event("SessionEnd", Moment::SessionEnd),
];

const fn event(name: &'static str, moment: Moment) -> NativeEvent {
    NativeEvent { name, moment, timeout: Duration::from_mins(10) }
}

const POWERS: &[EventPowers] = &[
    EventPowers {
        event: EventName::SessionStart,
        fired_by: &["SessionStart"],
        native: &[Power::AddContext],
        emulated: &[(Power::Block, "every prompt and tool call of the session is denied")],
    },
    EventPowers {
        event: EventName::BeforeAgent,
        fired_by: &["UserPromptSubmit"],
        native: &[Power::Block, Power::AddContext],
        emulated: &[],
    },
    EventPowers {
        event: EventName::BeforeTool,
        fired_by: &["PreToolUse"],
        native: &[Power::Block, Power::Ask, Power::RewriteInput, Power::AddContext],
        emulated: &[],
    },
    EventPowers {
        event: EventName::AfterTool,
        fired_by: &["PostToolUse"],
        native: &[Power::RewriteOutput, Power::FeedBack, Power::AddContext],
        emulated: &[],
    },
    EventPowers {
        event: EventName::AfterToolFailure,
        fired_by: &["PostToolUseFailure"],
        native: &[Power::AddContext],
        emulated: &[(Power::FeedBack, "added as context")],
    },
    EventPowers {
        event: EventName::AfterTurn,
        fired_by: &["PostToolBatch", "Stop"],
        native: &[Power::FeedBack, Power::AddContext],
        emulated: &[],
    },
    EventPowers {
        event: EventName::BeforeStop,
        fired_by: &["Stop", "SubagentStop"],
        native: &[Power::Continue],
        emulated: &[(Power::AddContext, WITH_NEXT_PROMPT)],
    },
    EventPowers {
        event: EventName::AfterAgent,
        fired_by: &["Stop", "StopFailure"],
        native: &[],
        emulated: &[(Power::FeedBack, WITH_NEXT_PROMPT)],
    },
    EventPowers {
        event: EventName::SubagentStart,
        fired_by: &["PreToolUse"],
        native: &[Power::Block],
        emulated: &[],
    },
    EventPowers {
        event: EventName::SubagentStop,
        fired_by: &["SubagentStop"],
        native: &[],
        emulated: &[(Power::FeedBack, WITH_NEXT_PROMPT)],
    },
    EventPowers {
        event: EventName::PreCompact,
        fired_by: &["PreCompact"],
        native: &[Power::Block, Power::AddContext],
        emulated: &[],
    },
    EventPowers {
        event: EventName::PostCompact,
        fired_by: &["PostCompact"],
        native: &[],
        emulated: &[],
    },
    EventPowers {
        event: EventName::SessionEnd,
        fired_by: &["SessionEnd"],
        native: &[],
        emulated: &[],
    },
];

const WITH_NEXT_PROMPT: &str = "given to the model with the next prompt";
