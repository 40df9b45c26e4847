//! Cursor, from its documentation.

use std::time::Duration;

use serde_json::{Value, json};
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;

use super::{claude_form, emulation};
use crate::host::{
    self, EntryFormat, EventPowers, FailClosed, Host, HostVersion, InputRewrite, Moment,
    NativeEvent, NativeTool, Registration, RegistrationFormat, SYSTEM, SettingsPaths, SwitchValue,
    at, tool, within,
};
use crate::occurrence::{Compaction, Detail, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::{HostReply, HostVerdict};
use crate::user_rules::RuleCheck;

/// Cursor: its editor and its command line.
pub(super) const HOST: Host = Host {
    id: "cursor",
    name: "Cursor",
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        shared_file: Some(".cursor/hooks.json"),
        also_reads: &["claude-code"],
        next_step: Some("Restart Cursor's command line: it reads hooks when it starts."),
        ..Registration::new(".cursor/hooks.json", &["cursor-agent", "cursor"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Completions in the editor, and the files that it reads for them, are no tool calls.",
        "Without a terminal, Cursor fires no event for messages and for the agent's stop.",
        "Agents in Cursor's cloud run no hooks of the user.",
        "Files that a shell command writes do not count as calls of a file tool.",
    ],
    notes: &[
        "Hooks of a project run only in a workspace that you trust in Cursor.",
        "Cursor does not enforce a question at `preToolUse`, so calls that hooks ask about are denied.",
        "Cursor can also run the hooks in Claude Code's settings; if Tenter is registered there, too, it answers in Cursor's form.",
        "Cursor does not show notices of hooks; they are in the journal.",
        "Calls of a subagent are not marked: payloads do not say who makes a call.",
        "MCP tools are called `MCP:TOOL`, without the name of the server.",
    ],
    max_continuations: 5,
    // The documentation does not say whether Cursor still asks the user.
    input_rewrite: InputRewrite::WithAllow { since: HostVersion::EARLIEST },
    user_rules: RuleCheck::CURSOR,
    read,
    answer,
    takes_context: |moment| {
        matches!(moment, Moment::SessionStart | Moment::AfterTool | Moment::AfterToolFailure)
    },
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".cursor"],
        tenter_base::words!(
            "hooks.json hooks mcp.json cli.json cli-config.json permissions.json sandbox.json
             environment.json worktrees.json agents plugins extensions"
        ),
    ),
    within(&["~"], &[".config/cursor"]),
    within(
        &["~/.config/Cursor/User", "~/Library/Application Support/Cursor/User"],
        &["settings.json", "mcp.json"],
    ),
    within(&[SYSTEM], &["etc/cursor", "Library/Application Support/Cursor"]),
];

/// Cursor when it runs the hooks in Claude Code's settings: with Claude Code's events, but its own payloads.
pub(super) const IN_CLAUDE_SETTINGS: Host = Host { events: CLAUDE_EVENTS, ..HOST };

const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    root: &[("version", 1)],
    fields: &[],
    fail_closed: FailClosed::Switch("failClosed", SwitchValue::True),
    ..EntryFormat::JSON_HANDLERS
});

/// Two kinds of events are not registered: a second event for the same tool call, such as `beforeShellExecution`, and events of
/// subagents, whose calls are seen.
const EVENTS: &[NativeEvent] = &[
    event("sessionStart", Moment::SessionStart),
    event("beforeSubmitPrompt", Moment::Prompt),
    event("preToolUse", Moment::BeforeTool),
    event("postToolUse", Moment::AfterTool),
    event("postToolUseFailure", Moment::AfterToolFailure),
    event("stop", Moment::Stop),
    event("preCompact", Moment::PreCompact),
    event("sessionEnd", Moment::SessionEnd),
];

const CLAUDE_EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart),
    event("UserPromptSubmit", Moment::Prompt),
    event("PreToolUse", Moment::BeforeTool),
    event("PostToolUse", Moment::AfterTool),
    event("PostToolUseFailure", Moment::AfterToolFailure),
    event("Stop", Moment::Stop),
    event("PreCompact", Moment::PreCompact),
    event("SessionEnd", Moment::SessionEnd),
];

/// Creates an event with the default timeout that was observed; no maximum is documented.
const fn event(name: &'static str, moment: Moment) -> NativeEvent {
    host::event(name, moment).timeout(Duration::from_mins(1))
}

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["sessionStart"])
        .native(&[Power::AddContext])
        .emulated(emulation::DENIED_SESSION),
    at(EventName::BeforeAgent, &["beforeSubmitPrompt"])
        .native(&[Power::Block])
        .emulated(&[(Power::AddContext, emulation::WITH_NEXT_RESULT)]),
    at(EventName::BeforeTool, &["preToolUse"]).native(&[Power::Block]).emulated(&[
        (Power::Ask, "denied, and the reason says that the user has to decide"),
        (Power::RewriteInput, emulation::ASKS_UNLESS_ALLOWED),
        (Power::AddContext, "given to the model with the result"),
    ]),
    at(EventName::AfterTool, &["postToolUse"])
        .native(&[Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterToolFailure, &["postToolUseFailure"])
        .native(&[Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterTurn, &["stop"]).emulated(&[
        (Power::FeedBack, "the final response only, without its text; with the next tool result"),
        (Power::AddContext, "the final response only, without its text; with the next tool result"),
    ]),
    at(EventName::BeforeStop, &["stop"])
        .native(&[Power::Continue])
        .emulated(&[(Power::AddContext, emulation::WITH_NEXT_RESULT)]),
    at(EventName::AfterAgent, &["stop"])
        .emulated(&[(Power::FeedBack, emulation::WITH_NEXT_RESULT)]),
    at(EventName::SubagentStart, &["preToolUse"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["postToolUse"]).emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::PreCompact, &["preCompact"]),
    at(EventName::SessionEnd, &["sessionEnd"]),
];

const TOOLS: &[NativeTool] = &[
    tool("Shell", "bash", &[]),
    tool("Read", "file_read", &[("path", "file_path"), ("limit", "line_limit")]),
    tool("Write", "file_write", &[("path", "file_path"), ("content", "text")]),
    tool("StrReplace", "file_edit", EDIT_FIELDS),
    tool("Edit", "file_edit", EDIT_FIELDS),
    tool("ApplyPatch", "file_edit", &[]),
    tool("Grep", "grep", &[]),
    tool("Glob", "glob", &[]),
    tool("Task", "subagent", &[("prompt", "question")]),
];

const EDIT_FIELDS: &[(&str, &str)] =
    &[("path", "file_path"), ("old_string", "old_text"), ("new_string", "new_text")];

/// Returns whether Cursor wrote a payload, whatever the command that it runs.
pub(super) fn wrote(payload: &Payload) -> bool {
    payload.text("cursor_version").is_some()
}

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    let name = payload.required("hook_event_name")?;
    if !is_at(name, event.moment) {
        return Err(PayloadError::other_event(event.name, name));
    }
    let text = |field: &str| payload.text(field).map(str::to_owned);
    let detail = match event.moment {
        Moment::SessionStart => Detail::SessionStart { source: None, model: text("model") },
        Moment::Prompt => {
            let text = payload.text("prompt").unwrap_or_default().to_owned();
            Detail::Prompt { text, id: None }
        }
        Moment::BeforeTool => Detail::BeforeTool(call(payload)?),
        Moment::AfterTool => {
            Detail::AfterTool { call: call(payload)?, end: with_duration(result(payload), payload) }
        }
        Moment::AfterToolFailure => {
            let error = text("error_message").unwrap_or_else(|| "the tool failed".to_owned());
            let end = ToolEnd::new(ToolOutcome::Failure(error), Value::Null);
            Detail::AfterTool { call: call(payload)?, end: with_duration(end, payload) }
        }
        Moment::Stop if payload.text("status") == Some("completed") => {
            Detail::Stop { response: None }
        }
        Moment::Stop => Detail::StopFailure { response: None },
        Moment::PreCompact => {
            let trigger = claude_form::trigger(payload);
            let tokens_before = payload.count("context_tokens");
            Detail::PreCompact(Compaction { trigger, tokens: tokens_before })
        }
        Moment::SessionEnd => Detail::SessionEnd { reason: text("reason") },
        _ => Detail::Nothing,
    };
    // An empty directory stands for the session's.
    let cwd = directory(payload).unwrap_or_default().into();
    Ok(Occurrence { session: session(payload)?.to_owned(), agent: None, cwd, detail })
}

/// Returns whether a payload's event is of this moment. In Claude Code's settings, the name may be either agent's.
fn is_at(name: &str, moment: Moment) -> bool {
    let events = EVENTS.iter().chain(CLAUDE_EVENTS);
    events.into_iter().any(|event| event.moment == moment && event.name == name)
}

fn session(payload: &Payload) -> Result<&str, PayloadError> {
    payload.text("conversation_id").map_or_else(|| payload.required("session_id"), Ok)
}

/// Returns the directory of the call, or else the first workspace.
fn directory(payload: &Payload) -> Option<&str> {
    let first = || payload.get("workspace_roots")?.as_array()?.first()?.as_str();
    payload.text("cwd").or_else(first)
}

fn call(payload: &Payload) -> Result<NativeCall, PayloadError> {
    // The input is an object, perhaps as text, or the text of a patch.
    let input = payload.get("tool_input").unwrap_or(&Value::Null);
    Ok(NativeCall {
        id: payload.text("tool_use_id").map(str::to_owned),
        tool: payload.required("tool_name")?.to_owned(),
        ..NativeCall::with_input_or_text(input, "patch")
    })
}

/// Reads the result, which is JSON in a text.
fn result(payload: &Payload) -> ToolEnd {
    let output = payload.get("tool_output").cloned().unwrap_or_default();
    let value = output.as_str().and_then(|text| serde_json::from_str(text).ok());
    let result: Value = value.unwrap_or(output);
    let text = result.as_str().or_else(|| result.get("output")?.as_str()).map(str::to_owned);
    let exit_code = result.get("exitCode").and_then(Value::as_i64);
    let exit_code = exit_code.and_then(|code| i32::try_from(code).ok());
    ToolEnd { output: text, exit_code, ..ToolEnd::new(ToolOutcome::Success, result) }
}

fn with_duration(end: ToolEnd, payload: &Payload) -> ToolEnd {
    ToolEnd { duration_ms: payload.count("duration"), ..end }
}

fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let answer = match event.moment {
        Moment::BeforeTool => permission(reply)?,
        Moment::Prompt => json!({"continue": false, "user_message": reply.denial()?}),
        Moment::Stop => json!({"followup_message": reply.continue_with.as_deref()?}),
        Moment::SessionStart | Moment::AfterTool | Moment::AfterToolFailure => {
            json!({"additional_context": reply.context()?})
        }
        _ => return None,
    };
    Some(answer.to_string())
}

/// Writes a permission. An input is changed only together with an allow.
fn permission(reply: &HostReply) -> Option<Value> {
    match (&reply.verdict, &reply.input) {
        (Some(HostVerdict::Deny(reason) | HostVerdict::Ask(reason)), _) => {
            Some(json!({"permission": "deny", "user_message": reason, "agent_message": reason}))
        }
        (_, Some(input)) => Some(json!({"permission": "allow", "updated_input": input})),
        (Some(HostVerdict::Allow), None) => Some(json!({"permission": "allow"})),
        (None, None) => None,
    }
}
