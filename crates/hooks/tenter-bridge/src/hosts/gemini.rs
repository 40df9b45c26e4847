//! Gemini CLI.

use std::time::Duration;

use serde_json::{Value, json};
use tenter_protocol::claude_code::results::HOST as NATIVE_RESULT;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, Object, ToolResult};

use super::emulation;
use super::gemini_result::{content_text, shell_sections};
use crate::host::{self, at, tool};
use crate::host::{EntryFormat, Registration, RegistrationFormat, Silencer, TimeoutUnit};
use crate::host::{EventPowers, Host, InputRewrite, Moment, NativeEvent, NativeTool};
use crate::host::{SYSTEM, SettingsPaths, within};
use crate::occurrence::{Detail, NativeCall, Occurrence, Outcome, ToolEnd};
use crate::payload::{Payload, PayloadError};
use crate::reply::{Reply, Verdict};
use crate::user_rules::RuleCheck;

/// Gemini CLI, measured with version 0.61.0.
pub(super) const HOST: Host = Host {
    id: "gemini",
    name: "Gemini CLI",
    measured_version: Some("0.61.0"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        // It counts only in a trusted directory.
        shared_file: Some(".gemini/settings.json"),
        silencers: &[Silencer { file: None, key: "hooksConfig.enabled", value: false }],
        sessions: Some(".gemini/tmp"),
        ..Registration::new(".gemini/settings.json", &["gemini"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Files that a message mentions as `@file` are read without a tool call.",
        "Commands that you type after `!` run without a tool call.",
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
    max_continuations: 8,
    marks_subagents: false,
    input_rewrite: InputRewrite::Native,
    user_rules: RuleCheck::GEMINI,
    withheld: &[],
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
};

/// What decides what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".gemini"],
        &[
            "settings.json",
            ".env",
            "config",
            "extensions",
            "commands",
            "agents",
            "hooks",
            "policies",
            "policy_integrity.json",
            "acknowledgments",
            "trustedFolders.json",
            "trusted_hooks.json",
            "mcp-server-enablement.json",
            "sandbox.Dockerfile",
            "sandbox.bashrc",
            "bin",
        ],
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

const fn event(name: &'static str, moment: Moment) -> NativeEvent {
    host::event(name, moment, Duration::from_mins(10))
}

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["SessionStart"])
        .native(&[Power::AddContext])
        .emulated(&[(Power::Block, emulation::DENIES_ALL)]),
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
        .emulated(&[(Power::AddContext, emulation::WITH_NEXT_PROMPT)]),
    at(EventName::AfterAgent, &["AfterAgent"])
        .emulated(&[(Power::FeedBack, emulation::WITH_NEXT_PROMPT)]),
    at(EventName::SubagentStart, &["BeforeTool"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["AfterTool"]).native(&[Power::FeedBack]),
    at(EventName::SessionEnd, &["SessionEnd"]),
];

/// The tool whose results tell an exit code.
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
    let named = payload.required("hook_event_name")?;
    if named != event.name {
        return Err(PayloadError::other_event(event.name, named));
    }
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
    Ok(NativeCall {
        id: None,
        tool: payload.required("tool_name")?.to_owned(),
        server: server.and_then(Value::as_str).map(str::to_owned),
        input: payload.object("tool_input").cloned().unwrap_or_default(),
        unasked: false,
    })
}

/// How a tool ended: `error` tells it, and the text of a shell command.
fn tool_end(tool: &str, response: Value) -> ToolEnd {
    let text = content_text(&response["llmContent"]);
    let sections = text.as_deref().filter(|_| tool == SHELL).and_then(shell_sections);
    let exit_code = sections.as_ref().and_then(|sections| sections.exit_code);
    let outcome = match (error(&response["error"]), exit_code) {
        (Some(error), _) => Outcome::Failure(error),
        (None, Some(code)) if code != 0 => Outcome::Failure(format!("exit code {code}")),
        _ => Outcome::Success,
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

/// `mcp_SERVER_TOOL` is how the host spells it. Where it does not name the server, the server ends at the first underscore.
fn mcp_name(call: &NativeCall) -> Option<String> {
    let name = call.tool.strip_prefix("mcp_")?;
    let rest = |server: &str| name.strip_prefix(server)?.strip_prefix('_');
    let named = call.server.as_deref().and_then(|server| Some((server, rest(server)?)));
    let (server, tool) = named.or_else(|| name.split_once('_'))?;
    Some(format!("mcp__{server}__{tool}"))
}

/// The text that replaces the result.
fn result_text(changed: &ToolResult) -> String {
    let content = changed.metadata.as_ref().and_then(|metadata| metadata.get("llmContent"));
    let is_native = changed.metadata_type.as_deref() == Some(NATIVE_RESULT);
    let native = content.filter(|_| is_native && changed.error.is_none()).and_then(content_text);
    native.unwrap_or_else(|| changed.text())
}

/// The native answer. Exit codes and stderr have no part in it.
fn answer(event: &NativeEvent, reply: &Reply) -> Option<String> {
    let mut answer = Object::new();
    let mut specific = Object::new();
    let mut notices = reply.notices.clone();
    match (event.moment, &reply.verdict) {
        (Moment::BeforeTool | Moment::Prompt, Some(Verdict::Deny(reason))) => {
            deny(reason, &mut answer);
        }
        (Moment::BeforeTool, Some(Verdict::Ask(question))) => {
            answer.insert("decision".to_owned(), json!("ask"));
            // The dialog shows it, not the reason.
            notices.insert(0, question.clone());
        }
        _ => {}
    }
    match event.moment {
        Moment::BeforeTool if reply.denial().is_none() => {
            let input = reply.input.iter();
            specific.extend(input.map(|input| ("tool_input".to_owned(), json!(input))));
        }
        Moment::AfterTool => after_tool(reply, &mut answer, &mut specific),
        Moment::Stop => {
            reply.continue_with.iter().for_each(|message| deny(message, &mut answer));
        }
        Moment::SessionStart | Moment::Prompt => {
            reply.context().into_iter().for_each(|text| add_context(text, &mut specific));
        }
        _ => {}
    }
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), json!(event.name));
        answer.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    if !notices.is_empty() {
        answer.insert("systemMessage".to_owned(), json!(notices.join("\n")));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}

/// A denial replaces the result, and the host ignores a context beside it.
fn after_tool(reply: &Reply, answer: &mut Object, specific: &mut Object) {
    let Some(output) = &reply.output else {
        return reply.context().into_iter().for_each(|text| add_context(text, specific));
    };
    let output = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
    let texts: Vec<String> = std::iter::once(output).chain(reply.context()).collect();
    deny(&texts.join("\n\n"), answer);
}

fn deny(reason: &str, answer: &mut Object) {
    answer.insert("decision".to_owned(), json!("deny"));
    // Without one, the model reads that there is none.
    let reason = if reason.is_empty() { "(empty)" } else { reason };
    answer.insert("reason".to_owned(), json!(reason));
}

fn add_context(text: String, specific: &mut Object) {
    specific.insert("additionalContext".to_owned(), Value::String(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(tool: &str, response: &str) -> ToolEnd {
        tool_end(tool, serde_json::from_str(response).unwrap())
    }

    fn named(tool: &str, server: Option<&str>) -> Option<String> {
        mcp_name(&NativeCall {
            tool: tool.to_owned(),
            server: server.map(str::to_owned),
            ..NativeCall::default()
        })
    }

    #[test]
    fn failures_are_read_from_the_error_and_from_the_text_of_a_command() {
        let failed = r#"{"llmContent": "<untrusted_context>\nOutput: oops\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>"}"#;
        let shell = end(SHELL, failed);
        assert_eq!((shell.exit_code, shell.output.as_deref()), (Some(3), Some("oops")));
        assert_eq!(shell.outcome, Outcome::Failure("exit code 3".to_owned()));
        assert_eq!(end("read_file", failed).outcome, Outcome::Success, "it is a file's text");
        let missing = end("read_file", r#"{"llmContent": "x", "error": {"message": "not found"}}"#);
        assert_eq!(missing.outcome, Outcome::Failure("not found".to_owned()));
        assert_eq!(end(SHELL, "null").outcome, Outcome::Success);
    }

    #[test]
    fn the_server_of_a_tool_is_the_one_that_the_host_names() {
        assert_eq!(named("mcp_git_log_all", None).unwrap(), "mcp__git__log_all");
        assert_eq!(named("mcp_my_git_log", Some("my_git")).unwrap(), "mcp__my_git__log");
        assert_eq!(named("mcp_git_log", Some("other")).unwrap(), "mcp__git__log");
        assert_eq!((named("mcp_git", None), named("read_file", None)), (None, None));
    }

    #[test]
    fn a_replaced_result_carries_the_contexts() {
        let reply = Reply {
            output: Some(json!("masked")),
            contexts: vec!["Mind the gap.".to_owned()],
            ..Reply::default()
        };
        let answer = answer(&EVENTS[3], &reply).unwrap();
        assert_eq!(answer, r#"{"decision":"deny","reason":"masked\n\nMind the gap."}"#);
    }
}
