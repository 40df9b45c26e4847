//! Gemini CLI.

use serde_json::Value;
use tenter_protocol::claude_code::results::HOST as NATIVE_RESULT;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, ToolResult};

use super::claude_form::{self, AnswerFields};
use super::emulation;
use super::gemini_result::{content_text, shell_sections};
use crate::host::{
    EntryFormat, EventPowers, Host, Moment, NativeEvent, NativeTool, Registration,
    RegistrationFormat, SYSTEM, SettingsPaths, Silencer, TimeoutUnit, at, event, tool, within,
};
use crate::occurrence::{Detail, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::{HostReply, HostVerdict};
use crate::user_rules::RuleCheck;

/// Gemini CLI, measured with version 0.61.0.
pub(super) const HOST: Host = Host {
    id: "gemini",
    name: "Gemini CLI",
    measured_version: Some("0.61.0"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        directory_variable: Some(("GEMINI_CLI_HOME", "")),
        // It counts only in a trusted directory.
        shared_file: Some(".gemini/settings.json"),
        silencers: &[Silencer { file: None, key: "hooksConfig.enabled", value: false }],
        plugins: Some(".gemini/extensions"),
        sessions: Some(".gemini/tmp"),
        ..Registration::new(".gemini/settings.json", &["gemini"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Files that a message mentions as `@file` are read without a tool call.",
        "Commands that you type after `!`, and those in the text of a custom command (`!{…}`), run without a tool call.",
        "The compaction of a conversation: `PreCompress` fires before every request to the model, so the bridge does not use it.",
    ],
    notes: &[
        "In a directory that it does not trust, Gemini CLI runs no hooks at all, also not yours.",
        "`hooksConfig.enabled: false` turns all hooks off, and `hooksConfig.disabled` some of them.",
        "Without a terminal, Gemini CLI waits forever for the answer to a hook's question. If you use it only in a terminal, set `bridge.gemini.ask = \"native\"`.",
        "An `allow` never skips Gemini CLI's own question; `bridge.allow_skips_prompt` has no effect.",
        "A replaced result begins with `Tool result blocked:`, and the call counts as failed.",
        "Calls of a subagent are not marked: payloads do not say who makes a call.",
        "`SessionEnd` does not fire after an API error.",
    ],
    // No limit was found.
    context_limit: usize::MAX,
    user_rules: RuleCheck::GEMINI,
    read,
    answer,
    rewrite_output: |_, changed| Some(Value::String(result_text(changed))),
    mcp_name,
    takes_context: |moment| {
        matches!(moment, Moment::SessionStart | Moment::Prompt | Moment::AfterTool)
    },
    // Only in a terminal.
    takes_notice: |moment| {
        matches!(moment, Moment::Prompt | Moment::BeforeTool | Moment::AfterTool | Moment::Stop)
    },
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".gemini"],
        tenter_base::words!(
            "settings.json .env config extensions commands agents hooks policies
             policy_integrity.json acknowledgments trustedFolders.json trusted_hooks.json
             mcp-server-enablement.json sandbox.Dockerfile sandbox.bashrc sandbox.venv *.sb bin"
        ),
    ),
    within(&[SYSTEM], &["etc/gemini-cli", "Library/Application Support/GeminiCli"]),
];

const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    unit: TimeoutUnit::Milliseconds,
    // Any exit code above 1 is a denial, also the shell's for a missing program.
    blocks_if_missing: &[
        Moment::SessionStart,
        Moment::Prompt,
        Moment::BeforeTool,
        Moment::AfterTool,
        Moment::Stop,
        Moment::SessionEnd,
    ],
    name: Some("name"),
    ..EntryFormat::JSON_GROUPS
});

/// Never `PreCompress`, and nothing that fires for each request to the model: `BeforeModel`, `AfterModel`, `BeforeToolSelection`.
const EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart),
    event("BeforeAgent", Moment::Prompt),
    event("BeforeTool", Moment::BeforeTool),
    event("AfterTool", Moment::AfterTool),
    event("AfterAgent", Moment::Stop),
    event("SessionEnd", Moment::SessionEnd),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["SessionStart"])
        .native(&[Power::AddContext])
        .emulated(emulation::DENIED_SESSION),
    at(EventName::BeforeAgent, &["BeforeAgent"]).native(&[Power::Block, Power::AddContext]),
    at(EventName::BeforeTool, &["BeforeTool"])
        .native(&[Power::Block, Power::RewriteInput])
        .emulated(&[
            (Power::Ask, "as `bridge.ask_fallback` says, unless `bridge.gemini.ask` is `native`"),
            (Power::AddContext, emulation::WITH_NEXT_RESULT),
        ]),
    at(EventName::AfterTool, &["AfterTool"]).native(&[
        Power::RewriteOutput,
        Power::FeedBack,
        Power::AddContext,
    ]),
    at(EventName::AfterToolFailure, &["AfterTool"]).native(&[
        Power::RewriteOutput,
        Power::FeedBack,
        Power::AddContext,
    ]),
    at(EventName::AfterTurn, &["AfterAgent"]).emulated(&[
        (Power::FeedBack, "the final response only; given to the model with the next prompt"),
        (Power::AddContext, "the final response only; given to the model with the next prompt"),
    ]),
    at(EventName::BeforeStop, &["AfterAgent"])
        .native(&[Power::Continue])
        .emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::AfterAgent, &["AfterAgent"]).emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::SubagentStart, &["BeforeTool"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["AfterTool"]).native(&[Power::FeedBack]),
    at(EventName::SessionEnd, &["SessionEnd"]),
];

/// The tool whose results contain an exit code.
const SHELL: &str = "run_shell_command";

const TOOLS: &[NativeTool] = &[
    tool(SHELL, "bash", &[("is_background", "background")]),
    tool("read_file", "file_read", &[("start_line", "offset")]),
    tool("write_file", "file_write", &[("content", "text")]),
    tool(
        "replace",
        "file_edit",
        &[
            ("old_string", "old_text"),
            ("new_string", "new_text"),
            ("allow_multiple", "replace_all"),
        ],
    ),
    tool(
        "grep_search",
        "grep",
        &[
            ("dir_path", "path"),
            ("include_pattern", "include"),
            ("context", "surround_lines"),
            ("total_max_matches", "max_results"),
        ],
    ),
    tool("glob", "glob", &[("dir_path", "path")]),
    tool("write_todos", "todo", &[]),
    tool("invoke_agent", "subagent", &[("prompt", "question"), ("agent_name", "subagent_type")]),
    tool("activate_skill", "skill", &[]),
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
    Ok(match moment {
        Moment::SessionStart => Detail::SessionStart { source: text("source"), model: None },
        Moment::Prompt => Detail::Prompt { text: text("prompt").unwrap_or_default(), id: None },
        Moment::BeforeTool => Detail::BeforeTool(call(payload)?),
        Moment::AfterTool => {
            let call = call(payload)?;
            let response = payload.get("tool_response").cloned().unwrap_or_default();
            let end = tool_end(&call.tool, response);
            Detail::AfterTool { call, end }
        }
        // `stop_hook_active` is always false.
        Moment::Stop => Detail::Stop { response: text("prompt_response") },
        Moment::SessionEnd => Detail::SessionEnd { reason: text("reason") },
        _ => Detail::Nothing,
    })
}

fn call(payload: &Payload) -> Result<NativeCall, PayloadError> {
    let server = payload.object("mcp_context").and_then(|context| context.get("server_name"));
    let server = server.and_then(Value::as_str).map(str::to_owned);
    // Its payloads have no id.
    Ok(NativeCall { server, ..NativeCall::read(payload, "")? })
}

/// Returns the end of a tool from `error`, and from the text of a shell command.
fn tool_end(tool: &str, response: Value) -> ToolEnd {
    let text = content_text(&response["llmContent"]);
    let sections = text.as_deref().filter(|_| tool == SHELL).and_then(shell_sections);
    let exit_code = sections.as_ref().and_then(|sections| sections.exit_code);
    let outcome = match (error(&response["error"]), exit_code) {
        (Some(error), _) => ToolOutcome::Failure(error),
        (None, Some(code)) if code != 0 => ToolOutcome::Failure(format!("exit code {code}")),
        _ => ToolOutcome::Success,
    };
    let output = sections.map(|sections| sections.output).or(text);
    ToolEnd { output, exit_code, ..ToolEnd::new(outcome, response) }
}

fn error(error: &Value) -> Option<String> {
    let message = match error {
        Value::Null => return None,
        Value::String(message) => message,
        other => other["message"].as_str().unwrap_or_default(),
    };
    Some(if message.is_empty() { "the tool failed".to_owned() } else { message.to_owned() })
}

/// Returns the name of an MCP tool, which the host calls `mcp_SERVER_TOOL`. If it does not name the server, the server ends at the first
/// underscore.
fn mcp_name(call: &NativeCall) -> Option<String> {
    let name = call.tool.strip_prefix("mcp_")?;
    let rest = |server: &str| name.strip_prefix(server)?.strip_prefix('_');
    let pair = call.server.as_deref().and_then(|server| Some((server, rest(server)?)));
    let (server, tool) = pair.or_else(|| name.split_once('_'))?;
    Some(format!("mcp__{server}__{tool}"))
}

/// Returns the text that replaces the result.
fn result_text(result: &ToolResult) -> String {
    let content = result.metadata.as_ref().and_then(|metadata| metadata.get("llmContent"));
    let is_native = result.metadata_type.as_deref() == Some(NATIVE_RESULT);
    let native = content.filter(|_| is_native && result.error.is_none()).and_then(content_text);
    native.unwrap_or_else(|| result.text())
}

/// Writes the native answer, without exit codes and stderr.
fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let mut answer = AnswerFields::default();
    let mut notices = reply.notices.clone();
    match (event.moment, &reply.verdict) {
        (Moment::BeforeTool | Moment::Prompt, Some(HostVerdict::Deny(reason))) => {
            deny(reason, &mut answer);
        }
        (Moment::BeforeTool, Some(HostVerdict::Ask(question))) => {
            answer.set("decision", "ask");
            // The dialog shows it, not the reason.
            notices.insert(0, question.clone());
        }
        _ => {}
    }
    match event.moment {
        Moment::BeforeTool if reply.denial().is_none() => {
            if let Some(input) = &reply.input {
                answer.set_specific("tool_input", input.clone());
            }
        }
        Moment::AfterTool => after_tool(reply, &mut answer),
        Moment::Stop => {
            if let Some(message) = &reply.continue_with {
                deny(message, &mut answer);
            }
        }
        Moment::SessionStart | Moment::Prompt => answer.add_context(reply.context()),
        _ => {}
    }
    answer.write(event, &notices)
}

/// Writes an answer after a tool. A denial replaces the result, and the host ignores a context next to it.
fn after_tool(reply: &HostReply, answer: &mut AnswerFields) {
    let Some(output) = &reply.output else { return answer.add_context(reply.context()) };
    let output = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
    let texts: Vec<String> = std::iter::once(output).chain(reply.context()).collect();
    deny(&texts.join("\n\n"), answer);
}

fn deny(reason: &str, answer: &mut AnswerFields) {
    // Without a reason, the model reads that there is none.
    answer.decide("deny", Some(if reason.is_empty() { "(empty)" } else { reason }));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn end(tool: &str, response: &str) -> ToolEnd {
        tool_end(tool, serde_json::from_str(response).unwrap())
    }

    fn tool_name(tool: &str, server: Option<&str>) -> Option<String> {
        mcp_name(&NativeCall {
            tool: tool.to_owned(),
            server: server.map(str::to_owned),
            ..NativeCall::default()
        })
    }

    #[test]
    fn failures_are_read_from_the_error_and_from_the_text_of_a_command() {
        let failure = r#"{"llmContent": "<untrusted_context>\nOutput: oops\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>"}"#;
        let shell = end(SHELL, failure);
        assert_eq!((shell.exit_code, shell.output.as_deref()), (Some(3), Some("oops")));
        assert_eq!(shell.outcome, ToolOutcome::Failure("exit code 3".to_owned()));
        assert_eq!(end("read_file", failure).outcome, ToolOutcome::Success, "it is a file's text");
        let missing = end("read_file", r#"{"llmContent": "x", "error": {"message": "not found"}}"#);
        assert_eq!(missing.outcome, ToolOutcome::Failure("not found".to_owned()));
        assert_eq!(end(SHELL, "null").outcome, ToolOutcome::Success);
    }

    #[test]
    fn the_server_of_a_tool_is_the_one_that_the_host_names() {
        assert_eq!(tool_name("mcp_git_log_all", None).unwrap(), "mcp__git__log_all");
        assert_eq!(tool_name("mcp_my_git_log", Some("my_git")).unwrap(), "mcp__my_git__log");
        assert_eq!(tool_name("mcp_git_log", Some("other")).unwrap(), "mcp__git__log");
        assert_eq!((tool_name("mcp_git", None), tool_name("read_file", None)), (None, None));
    }

    #[test]
    fn a_replaced_result_carries_the_contexts() {
        let reply = HostReply {
            output: Some(json!("masked")),
            contexts: vec!["Mind the gap.".to_owned()],
            ..HostReply::default()
        };
        let answer = answer(&EVENTS[3], &reply).unwrap();
        assert_eq!(answer, r#"{"decision":"deny","reason":"masked\n\nMind the gap."}"#);
    }
}
