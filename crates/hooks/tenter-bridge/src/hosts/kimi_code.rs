//! Kimi Code: some of Claude Code's payloads, and answers that can only deny.

use serde_json::{Value, json};
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::native_tool::NativeTool;

use super::{claude_form, emulation};
use crate::host::{
    EntryFormat, EventPowers, FailClosed, Host, InputRewrite, Moment, NativeEvent, Registration,
    RegistrationFormat, SettingsPaths, at, event, tool, within,
};
use crate::occurrence::{Compaction, Detail, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::HostReply;
use crate::tool_result::joined_text;
use crate::user_rules::RuleCheck;

/// Kimi Code, measured with version 2.1.0.
pub(super) const HOST: Host = Host {
    id: "kimi-code",
    name: "Kimi Code",
    measured_version: Some("2.1.0"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        directory_variable: Some(("KIMI_CODE_HOME", ".kimi-code")),
        sessions: Some(".kimi-code/sessions"),
        ..Registration::new(".kimi-code/config.toml", &["kimi"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Calls with invalid arguments are shown to hooks only after they failed.",
        "Files that a shell command writes do not count as calls of a file tool.",
    ],
    notes: &[
        "Hooks can be registered for the user only, not for a project.",
        "One unknown key or event in a `[[hooks]]` table makes Kimi Code ignore all hooks, with a warning.",
        "Kimi Code ignores a changed input, so the call is denied and the model is asked to make the changed one.",
        "Contexts reach the model with the next prompt only. You see them, too.",
        "The agent continues once for each message, since Kimi Code fires `Stop` only once.",
        "The calls and the stops of subagents are not marked: they look like the main agent's.",
        "Kimi Code cuts tool results for hooks after 2,000 characters.",
        "With `-p`, `SessionEnd` does not fire, and Kimi Code does not wait for the hooks of the last tool call.",
        "Notices are written to stderr, which Kimi Code does not show.",
    ],
    context_limit: 30_000,
    max_continuations: 1,
    input_rewrite: InputRewrite::Demanded,
    user_rules: RuleCheck::UNREAD,
    read,
    answer,
    takes_context: |moment| moment == Moment::Prompt,
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows, with its predecessor's, which it imports.
const SETTINGS: &[SettingsPaths] = &[within(
    &[".kimi-code", ".kimi"],
    tenter_base::words!(
        "config.toml config.json local.toml tui.toml gui.toml statusline.sh mcp.json agents
         plugins hooks server bin"
    ),
)];

/// Kimi Code accepts these four keys and no other. The timeout is at most 600 seconds.
const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    fail_closed: FailClosed::ExitCode,
    ..EntryFormat::TOML_TABLES
});

const EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart),
    event("UserPromptSubmit", Moment::Prompt),
    event("PreToolUse", Moment::BeforeTool),
    event("PostToolUse", Moment::AfterTool),
    event("PostToolUseFailure", Moment::AfterToolFailure),
    event("Stop", Moment::Stop),
    event("StopFailure", Moment::StopFailure),
    event("Interrupt", Moment::StopFailure),
    event("PreCompact", Moment::PreCompact),
    event("PostCompact", Moment::PostCompact),
    event("SessionEnd", Moment::SessionEnd),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["SessionStart"]).emulated(&[
        (Power::Block, emulation::DENIES_ALL),
        (Power::AddContext, emulation::WITH_NEXT_PROMPT),
    ]),
    at(EventName::BeforeAgent, &["UserPromptSubmit"]).native(&[Power::Block, Power::AddContext]),
    at(EventName::BeforeTool, &["PreToolUse"]).native(&[Power::Block]).emulated(&[
        (Power::RewriteInput, emulation::ASKS_FOR_CHANGED),
        (Power::Ask, "denied, or allowed: `bridge.ask_fallback`"),
        (Power::AddContext, emulation::WITH_NEXT_PROMPT),
    ]),
    at(EventName::AfterTool, &["PostToolUse"]).emulated(emulation::ALL_WITH_NEXT_PROMPT),
    at(EventName::AfterToolFailure, &["PostToolUseFailure"])
        .emulated(emulation::ALL_WITH_NEXT_PROMPT),
    at(EventName::AfterTurn, &["Stop"]).emulated(emulation::ALL_WITH_NEXT_PROMPT),
    at(EventName::BeforeStop, &["Stop"])
        .native(&[Power::Continue])
        .emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::AfterAgent, &["Stop", "StopFailure", "Interrupt"])
        .emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::SubagentStart, &["PreToolUse"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["PostToolUse"]).emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::PreCompact, &["PreCompact"]).emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::PostCompact, &["PostCompact"]),
    at(EventName::SessionEnd, &["SessionEnd"]),
];

/// The tool that starts a subagent.
const SUBAGENT: &str = "Agent";

const TOOLS: &[NativeTool] = &[
    tool("Bash", "bash", &[]),
    tool(
        "Read",
        "file_read",
        &[("path", "file_path"), ("line_offset", "offset"), ("n_lines", "line_limit")],
    ),
    tool("Write", "file_write", &[("path", "file_path"), ("content", "text")]),
    tool(
        "Edit",
        "file_edit",
        &[("path", "file_path"), ("old_string", "old_text"), ("new_string", "new_text")],
    ),
    tool("Grep", "grep", &[("glob", "include")]),
    tool("Glob", "glob", &[]),
    tool(SUBAGENT, "subagent", &[("prompt", "question")]),
    tool("TodoList", "todo", &[]),
    tool("Skill", "skill", &[("skill", "name")]),
];

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    payload.check_event("hook_event_name", event.name)?;
    Ok(Occurrence {
        session: payload.required("session_id")?.to_owned(),
        agent: None,
        cwd: payload.required("cwd")?.into(),
        detail: detail(event.moment, payload)?,
    })
}

fn detail(moment: Moment, payload: &Payload) -> Result<Detail, PayloadError> {
    let text = |field: &str| payload.text(field).map(str::to_owned);
    let compaction = |tokens: &str| Compaction {
        trigger: claude_form::trigger(payload),
        tokens: payload.count(tokens),
    };
    Ok(match moment {
        Moment::SessionStart => {
            Detail::SessionStart { source: text("source"), model: text("model") }
        }
        Moment::Prompt => {
            let text = payload.get("prompt").and_then(joined_text).unwrap_or_default();
            Detail::Prompt { text, id: None }
        }
        Moment::BeforeTool => Detail::BeforeTool(NativeCall::read(payload, "tool_call_id")?),
        Moment::AfterTool => {
            let output = payload.text("tool_output").unwrap_or_default();
            let call = NativeCall::read(payload, "tool_call_id")?;
            let end = match call.tool.as_str() {
                SUBAGENT => ToolEnd {
                    output: Some(summary(output).to_owned()),
                    ..ToolEnd::new(ToolOutcome::Success, json!({"output": output}))
                },
                _ => ToolEnd {
                    output: Some(output.to_owned()),
                    ..ToolEnd::new(ToolOutcome::Success, Value::Null)
                },
            };
            Detail::AfterTool { call, end }
        }
        Moment::AfterToolFailure => Detail::AfterTool {
            call: NativeCall::read(payload, "tool_call_id")?,
            end: failure(payload),
        },
        Moment::Stop => Detail::Stop { response: None },
        Moment::StopFailure => Detail::StopFailure { response: text("error_message") },
        Moment::PreCompact => Detail::PreCompact(compaction("token_count")),
        Moment::PostCompact => Detail::PostCompact(compaction("estimated_token_count")),
        Moment::SessionEnd => Detail::SessionEnd { reason: text("reason") },
        Moment::PromptSent | Moment::AfterBatch | Moment::SubagentStart | Moment::SubagentStop => {
            Detail::Nothing
        }
    })
}

/// Returns the last text of a subagent in the result of its tool.
fn summary(output: &str) -> &str {
    let summary = output.split_once("[summary]\n").map_or(output, |(_, summary)| summary);
    summary.rsplit_once("\n\nresume_hint: ").map_or(summary, |(summary, _)| summary)
}

/// Reads a failure, whose error is an object. For a command, its message ends with a line that contains the exit code.
fn failure(payload: &Payload) -> ToolEnd {
    const EXIT_CODE: &str = "Command failed with exit code: ";
    let error = payload.get("error");
    let message = error.and_then(|error| error.as_str().or_else(|| error.get("message")?.as_str()));
    let message = message.unwrap_or("the tool failed");
    let (output, last) = message.rsplit_once('\n').unwrap_or(("", message));
    let exit_code =
        last.strip_prefix(EXIT_CODE).and_then(|code| code.trim_end_matches('.').parse().ok());
    ToolEnd {
        exit_code,
        output: exit_code.map(|_| output.to_owned()),
        ..ToolEnd::new(ToolOutcome::Failure(message.to_owned()), Value::Null)
    }
}

/// Writes the native answer. A denied stop makes the agent continue, and a context is plain text.
fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let denial = match event.moment {
        Moment::BeforeTool | Moment::Prompt => reply.denial(),
        Moment::Stop => reply.continue_with.as_deref(),
        _ => None,
    };
    let deny = |reason: &str| {
        let specific = json!({"permissionDecision": "deny", "permissionDecisionReason": reason});
        json!({"hookSpecificOutput": specific}).to_string()
    };
    match denial {
        Some(reason) => Some(deny(reason)),
        None if event.moment == Moment::Prompt => reply.context(),
        None => None,
    }
}
