//! Qwen Code: the form of Claude Code, in names and results of Gemini CLI.

use std::time::Duration;

use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;

use super::claude_form::{self, AnswerFields};
use super::emulation;
use super::gemini_result::{ShellSections, content_text, shell_sections};
use crate::host::{
    EntryFormat, EventPowers, Host, InputRewrite, Moment, NativeEvent, NativeTool, Registration,
    RegistrationFormat, SYSTEM, SettingsPaths, Silencer, TimeoutUnit, at, event, tool, within,
};
use crate::occurrence::{Detail, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::{HostReply, HostVerdict};
use crate::user_rules::RuleCheck;

/// Qwen Code, measured with version 0.24.4.
pub(super) const HOST: Host = Host {
    id: "qwen",
    name: "Qwen Code",
    measured_version: Some("0.24.4"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        directory_variable: Some(("QWEN_HOME", ".qwen")),
        shared_file: Some(".qwen/settings.json"),
        silencers: &[Silencer::key("disableAllHooks")],
        sessions: Some(".qwen/projects"),
        ..Registration::new(".qwen/settings.json", &["qwen"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Files that a message mentions as `@file` are read without a tool call.",
        "Commands in the text of a custom command (`!{…}`) run without a tool call.",
        "Messages that Qwen Code sends on its own, such as the result of a subagent in the background.",
    ],
    notes: &[
        "`disableAllHooks` in the settings of a project turns hooks off, also yours.",
        "Qwen Code ignores a changed input, so the call is denied and the model is asked to make the changed one.",
        "Without a terminal, a hook's `ask` denies the call.",
        "An `allow` never skips Qwen Code's own question; `bridge.allow_skips_prompt` has no effect.",
        "Hooks have 55 seconds (14 after a batch of tool calls), whatever their own timeout: Qwen Code waits no longer.",
        "You see notices when the agent stops.",
        "Calls that a script of the tool `exec` (code mode) makes are seen one by one; the script itself is not read.",
        "Without a terminal, `SessionEnd` and `StopFailure` do not fire.",
    ],
    // No limit was found.
    context_limit: usize::MAX,
    marks_subagents: true,
    input_rewrite: InputRewrite::Demanded,
    user_rules: RuleCheck::BOTH,
    read,
    answer,
    // The decision of `PostToolUse` is documented, but has no effect.
    takes_context: |moment| moment != Moment::BeforeTool && claude_form::takes_context(moment),
    takes_notice: |moment| moment == Moment::Stop,
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".qwen"],
        tenter_base::words!(
            "settings.json .env extensions commands agents skills hooks workflows channels locales
             trustedFolders.json mcpApprovals.json mcp.json extension-store sandbox.Dockerfile
             *.sb"
        ),
    ),
    within(&[SYSTEM], &["etc/qwen-code", "Library/Application Support/QwenCode"]),
];

// `failMode` is documented, but not in this version.
const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    unit: TimeoutUnit::MillisecondsFrom1000,
    ..EntryFormat::JSON_GROUPS
});

/// Maximum time that the client waits for an answer, whatever the registered timeout.
const AWAITED: Duration = Duration::from_mins(1);
/// The same after a batch of tool calls.
const AWAITED_AFTER_BATCH: Duration = Duration::from_secs(15);

const EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart),
    event("UserPromptSubmit", Moment::Prompt).timeout(AWAITED),
    event("PreToolUse", Moment::BeforeTool).timeout(AWAITED),
    event("PostToolUse", Moment::AfterTool).timeout(AWAITED),
    event("PostToolUseFailure", Moment::AfterToolFailure).timeout(AWAITED),
    event("PostToolBatch", Moment::AfterBatch).timeout(AWAITED_AFTER_BATCH),
    event("Stop", Moment::Stop).timeout(AWAITED),
    event("StopFailure", Moment::StopFailure).timeout(AWAITED),
    event("SubagentStart", Moment::SubagentStart),
    event("SubagentStop", Moment::SubagentStop),
    event("PreCompact", Moment::PreCompact),
    event("PostCompact", Moment::PostCompact),
    event("SessionEnd", Moment::SessionEnd).timeout(AWAITED),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["SessionStart"])
        .native(&[Power::AddContext])
        .emulated(emulation::DENIED_SESSION),
    at(EventName::BeforeAgent, &["UserPromptSubmit"]).native(&[Power::Block, Power::AddContext]),
    at(EventName::BeforeTool, &["PreToolUse"]).native(&[Power::Block, Power::Ask]).emulated(&[
        (Power::RewriteInput, emulation::ASKS_FOR_CHANGED),
        (Power::AddContext, emulation::WITH_NEXT_RESULT),
    ]),
    at(EventName::AfterTool, &["PostToolUse"])
        .native(&[Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterToolFailure, &["PostToolUseFailure"])
        .native(&[Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::AfterTurn, &["PostToolBatch", "Stop"])
        .native(&[Power::AddContext])
        .emulated(emulation::FEEDBACK_AS_CONTEXT),
    at(EventName::BeforeStop, &["Stop", "SubagentStop"])
        .native(&[Power::Continue])
        .emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::AfterAgent, &["Stop", "StopFailure"])
        .emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::SubagentStart, &["PreToolUse"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["SubagentStop"]).emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::PreCompact, &["PreCompact"]).native(&[Power::AddContext]),
    at(EventName::PostCompact, &["PostCompact"]),
    at(EventName::SessionEnd, &["SessionEnd"]),
];

/// The tool whose results contain an exit code.
const SHELL: &str = "run_shell_command";

const TOOLS: &[NativeTool] = &[
    tool(SHELL, "bash", &[("is_background", "background")]),
    tool("monitor", "bash", &[]),
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

/// Completes a call: its `tool_use_id` may differ before and after the call.
fn native_call(call: NativeCall, payload: &Payload) -> NativeCall {
    let id = payload.text("tool_call_id").map(str::to_owned);
    let unasked = payload.text("permission_mode") == Some("yolo");
    NativeCall { id: id.or(call.id), unasked, ..call }
}

fn tool_end(end: ToolEnd) -> ToolEnd {
    ToolEnd { output: content_text(&end.result["llmContent"]), ..end }
}

/// Returns the end of a command, whose text is in the result, or is the error.
fn shell_end(end: ToolEnd) -> ToolEnd {
    let text = match &end.outcome {
        ToolOutcome::Failure(error) => Some(error.clone()),
        _ => content_text(&end.result["llmContent"]),
    };
    match text.as_deref().and_then(shell_sections) {
        Some(ShellSections { output, exit_code }) => {
            ToolEnd { output: Some(output), exit_code, ..end }
        }
        None => ToolEnd { output: text, ..end },
    }
}

fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let mut answer = AnswerFields::default();
    match event.moment {
        // Only a decision makes the agent continue here.
        Moment::Stop => {
            answer.decide("block", reply.continue_with.as_deref());
            answer.write(event, &reply.notices)
        }
        // A denial has no effect here.
        Moment::PreCompact => {
            answer.add_context(reply.context());
            answer.write(event, &[])
        }
        _ if reply.verdict == Some(HostVerdict::Allow) => {
            claude_form::answer(event, &HostReply { verdict: None, ..reply.clone() })
        }
        _ => claude_form::answer(event, reply),
    }
}
