//! Pi.

use serde_json::Value;
use tenter_protocol::EventName;
use tenter_protocol::event::CompactTrigger;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::native_tool::NativeTool;

use super::emulation;
use super::plugin_form::{self, part, text, texts};
use crate::host::{
    EventPowers, FileContext, FileFormat, Host, Moment, NativeEvent, OwnFile, Registration,
    RegistrationFormat, SettingsPaths, at, event, tool, within,
};
use crate::occurrence::{Detail, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};

/// Pi, measured with version 1.6.0.
pub(super) const HOST: Host = Host {
    id: "pi",
    name: "Pi",
    measured_version: Some("1.6.0"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        directory_variable: Some(("PI_CODING_AGENT_DIR", ".pi/agent")),
        shared_file: Some(".pi/extensions"),
        sessions: Some(".pi/agent/sessions"),
        ..Registration::new(
            ".pi/agent/extensions",
            &["pi"],
            RegistrationFormat::Files(FileFormat { files, executable: false }),
        )
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Files that a message mentions as `@file` are read without a tool call.",
        "Commands that the user runs with `!` are not tool calls.",
        "Files that a shell command writes do not count as calls of a file tool.",
        "The other extensions run in the same process: one of a project can change what this one sees and says.",
    ],
    notes: &[
        "Calls that a script of the tool `codemode` makes are seen one by one; the script itself is not read.",
        "Since version 0.79.0, the extension of a project is loaded only if the user trusts the project in Pi; without a terminal, Pi does not ask.",
        "Before version 0.87.0, `pi -p` ends with the agent's first answer: hooks cannot make it continue. In the terminal interface they can.",
        "Messages that other extensions send are not the user's: `before_agent` hooks do not see them.",
        "If the extension cannot be loaded or tenter-hook does not answer, calls pass; with `--fail-closed`, only if the extension cannot be loaded.",
    ],
    read,
    // The tools of MCP servers have Claude Code's names.
    mcp_name: |_| None,
    takes_context,
    ..plugin_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[within(
    &[".pi", ".pi/agent"],
    tenter_base::words!(
        "settings.json models.json auth.json mcp.json mcp-auth.json trust.json extensions hooks
         tools npm git bin"
    ),
)];

fn files(context: &FileContext) -> Vec<OwnFile> {
    plugin_form::files(context, include_str!("plugin/pi.js"))
}

/// The host waits for its extensions as long as they take; ours waits for 10 minutes.
const EVENTS: &[NativeEvent] = &[
    event("session_start", Moment::SessionStart),
    event("input", Moment::Prompt),
    event("tool_call", Moment::BeforeTool),
    event("tool_result", Moment::AfterTool),
    event("turn_end", Moment::AfterBatch),
    event("agent_end", Moment::Stop),
    event("session_before_compact", Moment::PreCompact),
    event("session_compact", Moment::PostCompact),
    event("session_shutdown", Moment::SessionEnd),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["session_start"]).emulated(&[
        (Power::Block, emulation::DENIES_ALL),
        (Power::AddContext, "given to the model with the first prompt"),
    ]),
    at(EventName::BeforeAgent, &["input", "before_agent_start"]).native(&[
        Power::Block,
        Power::RewriteMessage,
        Power::AddContext,
    ]),
    at(EventName::BeforeTool, &["tool_call"])
        .native(&[Power::Block, Power::RewriteInput])
        .emulated(&[
            (Power::Ask, "denied, and the model is to ask the user (`bridge.ask_fallback`)"),
            (Power::AddContext, "given to the model with the tool's result"),
        ]),
    at(EventName::AfterTool, &["tool_result"])
        .native(&[Power::RewriteOutput, Power::AddContext])
        .emulated(&[(Power::FeedBack, emulation::TO_RESULT)]),
    at(EventName::AfterToolFailure, &["tool_result"])
        .native(&[Power::AddContext])
        .emulated(&[(Power::FeedBack, emulation::TO_RESULT)]),
    at(EventName::AfterTurn, &["turn_end", "agent_end"]).emulated(&[
        (Power::FeedBack, emulation::WITH_NEXT_INPUT),
        (Power::AddContext, emulation::WITH_NEXT_INPUT),
    ]),
    at(EventName::BeforeStop, &["agent_end"])
        .native(&[Power::Continue])
        .emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::AfterAgent, &["agent_end"]).emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::PreCompact, &["session_before_compact"]).native(&[Power::Block]),
    at(EventName::PostCompact, &["session_compact"]),
    at(EventName::SessionEnd, &["session_shutdown"]),
];

const TOOLS: &[NativeTool] = &[
    tool("bash", "bash", &[]),
    tool("read", "file_read", &[("path", "file_path"), ("limit", "line_limit")]),
    tool("write", "file_write", &[("path", "file_path"), ("content", "text")]),
    tool("edit", "file_edit", &[("path", "file_path")]),
    tool("grep", "grep", &[("glob", "include")]),
    tool("find", "glob", &[]),
];

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    let input = part(payload, "input");
    let reason = text(&input["reason"]);
    // The extensions are loaded anew; the session continues.
    let is_reload = reason.as_deref() == Some("reload");
    let detail = match event.moment {
        Moment::SessionStart | Moment::SessionEnd if is_reload => Detail::Nothing,
        Moment::SessionStart => {
            Detail::SessionStart { source: reason, model: text(&input["model"]) }
        }
        Moment::Prompt if input["source"] == "extension" => Detail::Nothing,
        Moment::Prompt => {
            let text = input["text"].as_str().unwrap_or_default().to_owned();
            Detail::Prompt { text, id: None }
        }
        Moment::BeforeTool => Detail::BeforeTool(call(input)?),
        Moment::AfterTool => Detail::AfterTool { call: call(input)?, end: end(input) },
        Moment::AfterBatch => Detail::AfterBatch,
        Moment::Stop => stop(&input["last"]),
        Moment::PreCompact if input["trigger"] == "manual" => {
            Detail::PreCompact(CompactTrigger::Manual.into())
        }
        Moment::PreCompact => Detail::PreCompact(CompactTrigger::Auto.into()),
        Moment::PostCompact => Detail::PostCompact(CompactTrigger::Auto.into()),
        Moment::SessionEnd => Detail::SessionEnd { reason },
        _ => Detail::Nothing,
    };
    plugin_form::occurrence(payload, detail)
}

fn call(input: &Value) -> Result<NativeCall, PayloadError> {
    plugin_form::call(&input["toolCallId"], &input["toolName"], &input["input"])
}

fn end(input: &Value) -> ToolEnd {
    let output = texts(&input["content"]);
    let text = output.clone().unwrap_or_default();
    let has_failed = input["isError"] == true;
    let outcome =
        if has_failed { ToolOutcome::Failure(text.clone()) } else { ToolOutcome::Success };
    ToolEnd { exit_code: exit_code(&text), output, ..ToolEnd::new(outcome, Value::Null) }
}

/// Reads the exit code of a failed command from its text.
fn exit_code(text: &str) -> Option<i32> {
    text.lines().next_back()?.strip_prefix("Command exited with code ")?.trim().parse().ok()
}

/// Returns the end of the agent's work, with the model's last message.
fn stop(last: &Value) -> Detail {
    let response = texts(&last["content"]).filter(|text| !text.is_empty());
    match last["stopReason"].as_str() {
        Some("error" | "aborted") => {
            Detail::StopFailure { response: text(&last["errorMessage"]).or(response) }
        }
        _ => Detail::Stop { response },
    }
}

/// Returns whether the model reads text that an answer adds at this moment.
fn takes_context(moment: Moment) -> bool {
    matches!(moment, Moment::Prompt | Moment::AfterTool)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failed_command_has_its_exit_code_in_the_last_line() {
        let text = "oops\n\n\nCommand exited with code 3";
        let failure = end(&json!({"isError": true, "content": [{"type": "text", "text": text}]}));
        assert_eq!(
            (failure.exit_code, failure.outcome),
            (Some(3), ToolOutcome::Failure(text.to_owned()))
        );
        assert_eq!(exit_code("hello"), None);
    }

    #[test]
    fn an_aborted_run_is_no_stop() {
        let last = |reason: &str| stop(&json!({"stopReason": reason, "content": []}));
        assert_eq!(last("stop"), Detail::Stop { response: None });
        assert_eq!(last("aborted"), Detail::StopFailure { response: None });
    }
}
