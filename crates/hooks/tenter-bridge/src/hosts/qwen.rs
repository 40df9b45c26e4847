//! Qwen Code: the form of Claude Code, in names and results of Gemini CLI.

use std::time::Duration;

use serde_json::{Value, json};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, Object};

use super::claude_form;
use super::emulation;
use super::gemini_result::{content_text, shell_sections};
use crate::host::{EntryFormat, Registration, RegistrationFormat, Silencer, TimeoutUnit};
use crate::host::{EventPowers, Host, InputRewrite, Moment, NativeEvent, NativeTool};
use crate::host::{SYSTEM, SettingsPaths, within};
use crate::host::{at, event, tool};
use crate::occurrence::{Detail, NativeCall, Occurrence, Outcome, ToolEnd};
use crate::payload::{Payload, PayloadError};
use crate::reply::{Reply, Verdict};
use crate::user_rules::RuleCheck;

/// Qwen Code, measured with version 0.24.4.
pub(super) const HOST: Host = Host {
    id: "qwen",
    name: "Qwen Code",
    measured_version: Some("0.24.4"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        shared_file: Some(".qwen/settings.json"),
        silencers: &[Silencer::key("disableAllHooks")],
        sessions: Some(".qwen/projects"),
        ..Registration::new(".qwen/settings.json", &["qwen"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Files that a message mentions as `@file` are read without a tool call.",
        "Messages that Qwen Code sends on its own, such as the result of a subagent in the background.",
    ],
    notes: &[
        "`disableAllHooks` in the settings of a project turns hooks off, also yours.",
        "Qwen Code ignores a changed input, so the call is denied and the model is asked to make the changed one.",
        "Without a terminal, a hook's `ask` denies the call.",
        "An `allow` never skips Qwen Code's own question; `bridge.allow_skips_prompt` has no effect.",
        "Hooks have 55 seconds (14 after a batch of tool calls), whatever their own timeout: Qwen Code waits no longer.",
        "You see notices when the agent stops.",
        "Without a terminal, `SessionEnd` and `StopFailure` do not fire.",
    ],
    // No limit was found.
    context_limit: usize::MAX,
    max_continuations: 8,
    marks_subagents: true,
    input_rewrite: InputRewrite::Demanded,
    user_rules: RuleCheck::BOTH,
    withheld: &[],
    read,
    answer,
    // The decision of `PostToolUse` is documented, but has no effect.
    rewrite_output: |_, _| None,
    mcp_name: claude_form::mcp_name,
    takes_context: |moment| moment != Moment::BeforeTool && claude_form::takes_context(moment),
    takes_notice: |moment| moment == Moment::Stop,
};

/// What decides what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".qwen"],
        &[
            "settings.json",
            ".env",
            "extensions",
            "commands",
            "agents",
            "skills",
            "hooks",
            "workflows",
            "channels",
            "locales",
            "trustedFolders.json",
            "mcpApprovals.json",
            "mcp.json",
            "sandbox.Dockerfile",
        ],
    ),
    within(&[SYSTEM], &["etc/qwen-code", "Library/Application Support/QwenCode"]),
];

// Timeouts below 1000 would be seconds. `failMode` is documented, but not in this version.
const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    unit: TimeoutUnit::Milliseconds,
    ..EntryFormat::JSON_GROUPS
});

/// What the client waits for the answer at most, although a registration may say more.
const AWAITED: Duration = Duration::from_mins(1);
/// The same after a batch of tool calls.
const AWAITED_AFTER_BATCH: Duration = Duration::from_secs(15);
/// For events that have no such limit.
const LONG: Duration = Duration::from_mins(10);

const EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart, LONG),
    event("UserPromptSubmit", Moment::Prompt, AWAITED),
    event("PreToolUse", Moment::BeforeTool, AWAITED),
    event("PostToolUse", Moment::AfterTool, AWAITED),
    event("PostToolUseFailure", Moment::AfterToolFailure, AWAITED),
    event("PostToolBatch", Moment::AfterBatch, AWAITED_AFTER_BATCH),
    event("Stop", Moment::Stop, AWAITED),
    event("StopFailure", Moment::StopFailure, AWAITED),
    event("SubagentStart", Moment::SubagentStart, LONG),
    event("SubagentStop", Moment::SubagentStop, LONG),
    event("PreCompact", Moment::PreCompact, LONG),
    event("PostCompact", Moment::PostCompact, LONG),
    event("SessionEnd", Moment::SessionEnd, AWAITED),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["SessionStart"])
        .native(&[Power::AddContext])
        .emulated(&[(Power::Block, emulation::DENIES_ALL)]),
    at(EventName::BeforeAgent, &["UserPromptSubmit"]).native(&[Power::Block, Power::AddContext]),
    at(EventName::BeforeTool, &["PreToolUse"]).native(&[Power::Block, Power::Ask]).emulated(&[
        (Power::RewriteInput, emulation::ASKS_FOR_CHANGED),
        (Power::AddContext, emulation::WITH_NEXT_RESULT),
    ]),
    at(EventName::AfterTool, &["PostToolUse"])
        .native(&[Power::AddContext])
        .emulated(&[(Power::FeedBack, emulation::AS_CONTEXT)]),
    at(EventName::AfterToolFailure, &["PostToolUseFailure"])
        .native(&[Power::AddContext])
        .emulated(&[(Power::FeedBack, emulation::AS_CONTEXT)]),
    at(EventName::AfterTurn, &["PostToolBatch", "Stop"])
        .native(&[Power::AddContext])
        .emulated(&[(Power::FeedBack, emulation::AS_CONTEXT)]),
    at(EventName::BeforeStop, &["Stop", "SubagentStop"])
        .native(&[Power::Continue])
        .emulated(&[(Power::AddContext, emulation::WITH_NEXT_PROMPT)]),
    at(EventName::AfterAgent, &["Stop", "StopFailure"])
        .emulated(&[(Power::FeedBack, emulation::WITH_NEXT_PROMPT)]),
    at(EventName::SubagentStart, &["PreToolUse"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["SubagentStop"])
        .emulated(&[(Power::FeedBack, emulation::WITH_NEXT_PROMPT)]),
    at(EventName::PreCompact, &["PreCompact"]).native(&[Power::AddContext]),
    at(EventName::PostCompact, &["PostCompact"]),
    at(EventName::SessionEnd, &["SessionEnd"]),
];

/// The tool whose results tell an exit code.
const SHELL: &str = "run_shell_command";

const TOOLS: &[NativeTool] = &[
    tool(SHELL, "bash", &[("is_background", "background")]),
    tool("read_file", "file_read", &[("limit", "line_limit")]),
    tool("write_file", "file_write", &[("content", "text")]),
    tool("edit", "file_edit", &[("old_string", "old_text"), ("new_string", "new_text")]),
    tool(
        "notebook_edit",
        "file_edit",
        &[("notebook_path", "file_path"), ("new_source", "new_text")],
    ),
    tool("grep_search", "grep", &[("glob", "include"), ("limit", "max_results")]),
    tool("glob", "glob", &[]),
    tool("todo_write", "todo", &[]),
    tool("agent", "subagent", &[("prompt", "question")]),
    tool("skill", "skill", &[("skill", "name")]),
];

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    let occurrence = claude_form::read(event, payload)?;
    let detail = match occurrence.detail {
        // It fires before every request to the model, with the message of the user only before the first.
        Detail::Prompt { text, .. } if text.trim().is_empty() => Detail::Nothing,
        Detail::BeforeTool(call) => Detail::BeforeTool(native_call(call, payload)),
        Detail::AfterTool { call, end } => {
            let end = if call.tool == SHELL { shell_end(end) } else { tool_end(end) };
            Detail::AfterTool { call: native_call(call, payload), end }
        }
        detail => detail,
    };
    Ok(Occurrence { detail, ..occurrence })
}

/// `tool_use_id` may differ before and after the call.
fn native_call(call: NativeCall, payload: &Payload) -> NativeCall {
    let id = payload.text("tool_call_id").map(str::to_owned);
    let unasked = payload.text("permission_mode") == Some("yolo");
    NativeCall { id: id.or(call.id), unasked, ..call }
}

fn tool_end(end: ToolEnd) -> ToolEnd {
    ToolEnd { output: content_text(&end.result["llmContent"]), ..end }
}

/// The text of a command is in the result, or is the error.
fn shell_end(end: ToolEnd) -> ToolEnd {
    let text = match &end.outcome {
        Outcome::Failure(error) => Some(error.clone()),
        _ => content_text(&end.result["llmContent"]),
    };
    match text.as_deref().and_then(shell_sections) {
        Some(found) => ToolEnd { output: Some(found.output), exit_code: found.exit_code, ..end },
        None => ToolEnd { output: text, ..end },
    }
}

fn answer(event: &NativeEvent, reply: &Reply) -> Option<String> {
    match event.moment {
        Moment::Stop => stop(reply),
        // A denial has no effect here.
        Moment::PreCompact => reply.context().map(|text| {
            let specific = json!({ "hookEventName": event.name, "additionalContext": text });
            json!({ "hookSpecificOutput": specific }).to_string()
        }),
        _ if reply.verdict == Some(Verdict::Allow) => {
            claude_form::answer(event, &Reply { verdict: None, ..reply.clone() })
        }
        _ => claude_form::answer(event, reply),
    }
}

/// Here, only a decision makes the agent continue.
fn stop(reply: &Reply) -> Option<String> {
    let mut answer = Object::new();
    if let Some(message) = &reply.continue_with {
        answer.insert("decision".to_owned(), json!("block"));
        answer.insert("reason".to_owned(), json!(message));
    }
    if !reply.notices.is_empty() {
        answer.insert("systemMessage".to_owned(), json!(reply.notices.join("\n")));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}
