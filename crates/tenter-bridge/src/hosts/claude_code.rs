//! Claude Code.

use std::time::Duration;

use super::claude_form;
use crate::host::{
    Host, Moment, NativeEvent, NativeTool, Registration, RegistrationFormat, TimeoutUnit,
};

/// Claude Code, measured with version 2.1.330.
pub(super) const HOST: Host = Host {
    id: "claude-code",
    name: "Claude Code",
    measured_version: "2.1.330",
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        user_file: ".claude/settings.json",
        personal_file: Some(".claude/settings.local.json"),
        shared_file: Some(".claude/settings.json"),
        programs: &["claude"],
        exec_since: None,
        format: RegistrationFormat::JsonGroups {
            timeout: TimeoutUnit::Seconds,
            fail_closed: Some(("onFailure", "block")),
            silencers: &["disableAllHooks", "allowManagedHooksOnly"],
        },
    },
    blind_spots: &[
        "Files that a message mentions as `@file` are read without a tool call.",
        "Files that a shell command writes do not count as calls of a file tool.",
    ],
    context_limit: 10_000,
    withheld: &["CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_ENV_FILE"],
    read: claude_form::read,
    answer: claude_form::answer,
    takes_context: claude_form::takes_context,
};

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

const TOOLS: &[NativeTool] = &[
    tool("Bash", "bash", &[]),
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

const fn tool(
    name: &'static str,
    canonical: &'static str,
    fields: &'static [(&'static str, &'static str)],
) -> NativeTool {
    NativeTool { name, canonical, fields }
}
