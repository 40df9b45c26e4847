//! Factory Droid: the form of Claude Code, with different names of tools.

use std::time::Duration;

use serde_json::json;
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;

use super::{claude_form, emulation};
use crate::host::{
    self, ANYWHERE, EntryFormat, EventPowers, Host, Moment, NativeEvent, NativeTool, Registration,
    RegistrationFormat, SYSTEM, SettingsPaths, Silencer, at, tool, within,
};
use crate::occurrence::{Detail, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::HostReply;
use crate::user_rules::RuleCheck;

/// Factory Droid, measured with version 0.225.2 in `droid exec`.
pub(super) const HOST: Host = Host {
    id: "droid",
    name: "Factory Droid",
    measured_version: Some("0.225.2"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        personal_file: Some(".factory/settings.local.json"),
        shared_file: Some(".factory/settings.json"),
        silencers: &[Silencer::key("hooksDisabled")],
        replaced_by: Some("hooks.json"),
        next_step: Some("Restart Droid: it reads hooks when it starts."),
        // Version 0.186.0 ignored `hooks.json` in `droid exec`.
        ..Registration::new(
            ".factory/settings.json",
            &["droid"],
            RegistrationFormat::Entries(EntryFormat::JSON_GROUPS),
        )
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &["Files that a shell command writes do not count as calls of a file tool."],
    notes: &[
        "A `hooks.json` beside the settings replaces the hooks of the settings: register in one of them only.",
        "`hooksDisabled` turns all hooks off.",
        "A call that fails fires no event after it, so `after_tool_failure` never fires.",
        "`droid exec` runs a call that a hook asks about, without a question; payloads do not say how Droid runs, so calls that hooks ask about are denied.",
        "In `droid exec`, `UserPromptSubmit` does not fire.",
        "Droid does not show notices of hooks; they are in the journal.",
        "Calls of a subagent are not marked: payloads do not say who makes a call.",
    ],
    user_rules: RuleCheck::DROID,
    read,
    answer,
    mcp_name,
    takes_context: |moment| {
        matches!(moment, Moment::SessionStart | Moment::Prompt | Moment::AfterTool)
    },
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".factory"],
        tenter_base::words!(
            "settings.json settings.local.json config.json mcp.json hooks.json hooks droids
             commands plugins automations worktree-setups"
        ),
    ),
    within(&[ANYWHERE], &[".droid.yaml", ".droid.yml"]),
    within(&[SYSTEM], &["etc/factory", "etc/droid", "Library/Application Support/Factory"]),
];

/// `SubagentStop` does not say which subagent stops, so the result of the call stands for it.
const EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart),
    event("UserPromptSubmit", Moment::Prompt),
    event("PreToolUse", Moment::BeforeTool),
    event("PostToolUse", Moment::AfterTool),
    event("Stop", Moment::Stop),
    event("PreCompact", Moment::PreCompact),
    event("SessionEnd", Moment::SessionEnd),
];

/// Creates an event with the documented default of the timeout; no maximum is documented.
const fn event(name: &'static str, moment: Moment) -> NativeEvent {
    host::event(name, moment).timeout(Duration::from_mins(1))
}

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["SessionStart"])
        .native(&[Power::AddContext])
        .emulated(emulation::DENIED_SESSION),
    at(EventName::BeforeAgent, &["UserPromptSubmit"]).native(&[Power::Block, Power::AddContext]),
    at(EventName::BeforeTool, &["PreToolUse"])
        .native(&[Power::Block, Power::RewriteInput])
        .emulated(&[
            (Power::Ask, "denied, and the reason says that the user has to decide"),
            (Power::AddContext, emulation::WITH_NEXT_INPUT),
        ]),
    at(EventName::AfterTool, &["PostToolUse"])
        .native(&[Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterTurn, &["Stop"]).emulated(&[
        (Power::FeedBack, "the final response only; given to the model with the next prompt"),
        (Power::AddContext, "the final response only; given to the model with the next prompt"),
    ]),
    at(EventName::BeforeStop, &["Stop"])
        .native(&[Power::Continue])
        .emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::AfterAgent, &["Stop"]).emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::SubagentStart, &["PreToolUse"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["PostToolUse"]).emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::PreCompact, &["PreCompact"]),
    at(EventName::SessionEnd, &["SessionEnd"]),
];

const TOOLS: &[NativeTool] = &[
    tool("Execute", "bash", &[]),
    tool("Read", "file_read", &[("limit", "line_limit")]),
    tool("Create", "file_write", &[("content", "text")]),
    tool(
        "Edit",
        "file_edit",
        &[
            ("old_str", "old_text"),
            ("new_str", "new_text"),
            ("old_string", "old_text"),
            ("new_string", "new_text"),
        ],
    ),
    tool("ApplyPatch", "file_edit", &[("input", "patch")]),
    tool("Grep", "grep", &[]),
    tool("Glob", "glob", &[]),
    tool("TodoWrite", "todo", &[]),
    tool("Task", "subagent", &[("prompt", "question")]),
    tool("Skill", "skill", &[("skill", "name")]),
];

/// Fields that some versions spell in another way.
const SPELLINGS: &[(&str, &str)] = &[
    ("hookEventName", "hook_event_name"),
    ("sessionId", "session_id"),
    ("permissionMode", "permission_mode"),
    ("toolName", "tool_name"),
    ("toolInput", "tool_input"),
    ("toolResponse", "tool_response"),
];

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    let occurrence = claude_form::read(event, &payload.with_spellings(SPELLINGS))?;
    let detail = match occurrence.detail {
        Detail::AfterTool { call, end } => Detail::AfterTool { call, end: tool_end(end) },
        detail => detail,
    };
    Ok(Occurrence { agent: None, detail, ..occurrence })
}

/// Returns the end of a call, whose result is a text.
fn tool_end(end: ToolEnd) -> ToolEnd {
    let output = end.result.as_str().map(str::to_owned);
    let exit_code = output.as_deref().and_then(exit_code);
    let outcome = match exit_code {
        Some(0) => ToolOutcome::Success,
        Some(code) => ToolOutcome::Failure(format!("exit code {code}")),
        // Other tools have no common form of a failure.
        None => ToolOutcome::Unknown,
    };
    ToolEnd { outcome, output, exit_code, ..end }
}

/// Reads the exit code in the last line of a command's result.
fn exit_code(result: &str) -> Option<i32> {
    let last = result.trim_end().lines().next_back()?;
    last.strip_prefix("[Process exited with code ")?.strip_suffix(']')?.parse().ok()
}

/// Returns the name of a tool of an MCP server, which Droid calls `SERVER___TOOL`.
fn mcp_name(call: &NativeCall) -> Option<String> {
    let (server, tool) = call.tool.split_once("___")?;
    Some(format!("mcp__{server}__{tool}"))
}

fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    match event.moment {
        Moment::Stop => reply
            .continue_with
            .as_ref()
            .map(|message| json!({ "decision": "block", "reason": message }).to_string()),
        Moment::PreCompact => None,
        _ => claude_form::answer(event, reply),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_mcp_servers_have_tenters_names() {
        let name =
            |tool: &str| mcp_name(&NativeCall { tool: tool.to_owned(), ..NativeCall::default() });
        assert_eq!(name("my_files___make_dir").as_deref(), Some("mcp__my_files__make_dir"));
        assert_eq!(name("Execute"), None);
    }
}
