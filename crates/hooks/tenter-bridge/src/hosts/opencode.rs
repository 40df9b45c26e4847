//! OpenCode.

use serde_json::Value;
use tenter_protocol::EventName;
use tenter_protocol::event::CompactTrigger;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::native_tool::NativeTool;

use super::emulation;
use super::plugin_form::{self, part, text};
use crate::host::{
    ANYWHERE, EventPowers, FileContext, FileFormat, Host, Moment, NativeEvent, OwnFile,
    Registration, RegistrationFormat, SYSTEM, SettingsPaths, at, event, tool, within,
};
use crate::occurrence::{Detail, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::user_rules::RuleCheck;

/// OpenCode, measured with version 1.18.33.
pub(super) const HOST: Host = Host {
    id: "opencode",
    name: "OpenCode",
    measured_version: Some("1.18.33"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        shared_file: Some(".opencode/plugin"),
        directory_variable: Some(("XDG_CONFIG_HOME", ".config")),
        ..Registration::new(".config/opencode/plugin", &["opencode"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: BLIND_SPOTS,
    notes: &[
        "`opencode run` ends with the agent's first answer: hooks cannot make it continue. In the terminal interface they can.",
        "Versions before 1.18.29 do not load the plugin. Version 2 is unproved: there, messages and tool calls are guarded, and nothing else is seen.",
        PASSES,
    ],
    user_rules: RuleCheck::OPENCODE,
    withheld: &["OPENCODE_SERVER_PASSWORD"],
    read,
    mcp_name,
    takes_context,
    ..plugin_form::BASE
};

/// The resources that it loads from each of its directories.
pub(super) const RESOURCES: &[&str] = tenter_base::words!(
    "agent agents command commands mode modes plugin plugins tool tools package.json node_modules
     bin"
);

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(&[".opencode", "~/.config/opencode"], RESOURCES),
    within(
        &[".opencode", "~/.config/opencode", ANYWHERE],
        &["opencode.json", "opencode.jsonc", "tui.json", "tui.jsonc"],
    ),
    within(
        &["~"],
        &[".config/opencode/config.json", ".local/share/opencode/auth.json", ".cache/opencode"],
    ),
    within(&[SYSTEM], &["etc/opencode", "Library/Application Support/opencode"]),
];

const BLIND_SPOTS: &[&str] = &[
    "Files that a message mentions as `@file` are read without a tool call.",
    "Commands that the user runs with `!`, and those in the text of a custom command (`` !`…` ``), are not tool calls.",
    "Files that a shell command writes do not count as calls of a file tool.",
    "The other plugins of the host run in the same process: one of a project can change what this one sees and says.",
];

pub(super) const PASSES: &str = "If the plugin cannot be loaded or tenter-hook does not answer, calls pass; with `--fail-closed`, only if the plugin cannot be loaded.";

pub(super) const FORMAT: RegistrationFormat =
    RegistrationFormat::Files(FileFormat { files, executable: false });

fn files(context: &FileContext) -> Vec<OwnFile> {
    plugin_form::files(context, include_str!("plugin/opencode.js"))
}

/// The host waits for its plugins as long as they take; ours waits for 10 minutes. `session.start` and `dispose` are the plugin's own:
/// the first event of a session in a process, and the end of the process.
const EVENTS: &[NativeEvent] = &[
    event("session.start", Moment::SessionStart),
    event("chat.message", Moment::Prompt),
    event("tool.execute.before", Moment::BeforeTool),
    event("tool.execute.after", Moment::AfterTool),
    event("message.part.updated", Moment::AfterToolFailure),
    event("message.updated", Moment::AfterBatch),
    event("session.idle", Moment::Stop),
    event("session.error", Moment::StopFailure),
    event("session.created", Moment::SubagentStart),
    event("experimental.session.compacting", Moment::PreCompact),
    event("session.compacted", Moment::PostCompact),
    event("dispose", Moment::SessionEnd),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["chat.message"]).emulated(&[
        (Power::Block, emulation::DENIES_ALL),
        (Power::AddContext, "given to the model with the message that starts the session"),
    ]),
    at(EventName::BeforeAgent, &["chat.message"]).native(&[
        Power::Block,
        Power::RewriteMessage,
        Power::AddContext,
    ]),
    at(EventName::BeforeTool, &["tool.execute.before"])
        .native(&[Power::Block, Power::RewriteInput])
        .emulated(&[
            (Power::Ask, "denied, and the model is to ask the user (`bridge.ask_fallback`)"),
            (Power::AddContext, "given to the model with the tool's result"),
        ]),
    at(EventName::AfterTool, &["tool.execute.after"])
        .native(&[Power::RewriteOutput, Power::AddContext])
        .emulated(&[(Power::FeedBack, emulation::TO_RESULT)]),
    at(EventName::AfterToolFailure, &["tool.execute.after", "message.part.updated"])
        .native(&[Power::AddContext])
        .emulated(&[(Power::FeedBack, "added to the result of a command")]),
    at(EventName::AfterTurn, &["message.updated", "session.idle"]).emulated(&[
        (Power::FeedBack, emulation::WITH_NEXT_INPUT),
        (Power::AddContext, emulation::WITH_NEXT_INPUT),
    ]),
    at(EventName::BeforeStop, &["session.idle"])
        .native(&[Power::Continue])
        .emulated(emulation::CONTEXT_WITH_NEXT_PROMPT),
    at(EventName::AfterAgent, &["session.idle", "session.error"])
        .emulated(emulation::FEEDBACK_WITH_NEXT_PROMPT),
    at(EventName::SubagentStart, &["tool.execute.before"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["tool.execute.after"])
        .emulated(&[(Power::FeedBack, "added to the subagent's result")]),
    at(EventName::PreCompact, &["experimental.session.compacting"]).native(&[Power::AddContext]),
    at(EventName::PostCompact, &["session.compacted"]),
    at(EventName::SessionEnd, &["dispose"]),
];

const TOOLS: &[NativeTool] = &[
    tool("bash", "bash", &[]),
    // Its name in version 2.
    tool("shell", "bash", &[]),
    tool("read", "file_read", &[("filePath", "file_path"), ("limit", "line_limit")]),
    tool("write", "file_write", &[("filePath", "file_path"), ("content", "text")]),
    tool(
        "edit",
        "file_edit",
        &[("filePath", "file_path"), ("oldString", "old_text"), ("newString", "new_text")],
    ),
    tool("apply_patch", "file_edit", &[("patchText", "patch")]),
    tool("grep", "grep", &[]),
    tool("glob", "glob", &[]),
    tool("todowrite", "todo", &[]),
    tool("task", "subagent", &[("prompt", "question")]),
    tool("skill", "skill", &[]),
    // Kilo: a command that is left running.
    tool("background_process", "bash", &[]).when("action", "start"),
];

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    let input = part(payload, "input");
    let detail = match event.moment {
        Moment::SessionStart => {
            Detail::SessionStart { source: text(&input["source"]), model: None }
        }
        Moment::Prompt => prompt(part(payload, "output")),
        Moment::BeforeTool => Detail::BeforeTool(call(payload, &part(payload, "output")["args"])?),
        Moment::AfterTool => {
            let call = call(payload, &input["args"])?;
            Detail::AfterTool { call, end: end(part(payload, "output")) }
        }
        Moment::AfterToolFailure => failure(payload, &input["part"])?,
        Moment::AfterBatch => Detail::AfterBatch,
        Moment::Stop => Detail::Stop { response: text(&input["text"]) },
        Moment::StopFailure => {
            let error = &input["error"];
            let message = text(&error["data"]["message"]).or_else(|| text(&error["name"]));
            Detail::StopFailure { response: message }
        }
        Moment::SubagentStart => Detail::SubagentStart,
        Moment::PreCompact => Detail::PreCompact(CompactTrigger::Auto.into()),
        Moment::PostCompact => Detail::PostCompact(CompactTrigger::Auto.into()),
        Moment::SessionEnd => Detail::SessionEnd { reason: None },
        Moment::PromptSent | Moment::SubagentStop => Detail::Nothing,
    };
    plugin_form::occurrence(payload, detail)
}

/// Returns the user's message: its own texts, without those that the host or a plugin adds.
fn prompt(output: &Value) -> Detail {
    let parts = output["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_own = |part: &&Value| part["type"] == "text" && part["synthetic"] != true;
    let texts = parts.iter().filter(is_own).filter_map(|part| part["text"].as_str());
    Detail::Prompt { text: texts.collect::<Vec<_>>().join("\n"), id: None }
}

fn call(payload: &Payload, args: &Value) -> Result<NativeCall, PayloadError> {
    let input = part(payload, "input");
    named_call(payload, [&input["callID"], &input["tool"], args])
}

fn named_call(
    payload: &Payload,
    [id, tool, args]: [&Value; 3],
) -> Result<NativeCall, PayloadError> {
    let call = plugin_form::call(id, tool, args)?;
    let servers = part(payload, "mcp").as_array().map(Vec::as_slice).unwrap_or_default();
    let servers = servers.iter().filter_map(Value::as_str).map(plain_name);
    let is_of = |server: &String| tool_of(&call.tool, server).is_some();
    let server = servers.filter(is_of).max_by_key(String::len);
    Ok(NativeCall { server, ..call })
}

/// Returns the name of a server in the form in which the names of its tools begin.
fn plain_name(server: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    server.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Returns the tool of a server. The host joins both names; the plugin adds the names of all servers to the payload.
fn tool_of<'t>(tool: &'t str, server: &str) -> Option<&'t str> {
    tool.strip_prefix(server)?.strip_prefix('_')
}

fn mcp_name(call: &NativeCall) -> Option<String> {
    let server = call.server.as_deref()?;
    Some(format!("mcp__{server}__{}", tool_of(&call.tool, server)?))
}

/// Returns the end of a tool that did not throw an error. A command may still have failed.
fn end(output: &Value) -> ToolEnd {
    let text = output["output"].as_str().map(str::to_owned);
    let text = text.or_else(|| plugin_form::texts(&output["content"]));
    let exit_code = output["metadata"]["exit"].as_i64().and_then(|code| code.try_into().ok());
    let outcome = match exit_code {
        Some(code) if code != 0 => ToolOutcome::Failure(format!("exit code {code}")),
        _ => ToolOutcome::Success,
    };
    ToolEnd { output: text, exit_code, ..ToolEnd::new(outcome, Value::Null) }
}

/// Reads a tool that threw an error from its part of the model's message.
fn failure(payload: &Payload, part: &Value) -> Result<Detail, PayloadError> {
    let state = &part["state"];
    let call = named_call(payload, [&part["callID"], &part["tool"], &state["input"]])?;
    let error = text(&state["error"]).unwrap_or_else(|| "the tool failed".to_owned());
    Ok(Detail::AfterTool { call, end: ToolEnd::new(ToolOutcome::Failure(error), Value::Null) })
}

/// Returns whether the model reads text that an answer adds at this moment.
fn takes_context(moment: Moment) -> bool {
    matches!(moment, Moment::Prompt | Moment::AfterTool | Moment::PreCompact)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call_of(tool: &str, servers: &[&str]) -> Option<String> {
        let payload = json!({"mcp": servers, "input": {"tool": tool, "callID": "c"}});
        let payload = Payload::try_from(payload).unwrap();
        mcp_name(&call(&payload, &Value::Null).unwrap())
    }

    #[test]
    fn tools_of_the_servers_that_the_plugin_knows_have_their_names() {
        assert_eq!(call_of("lab_echo", &["lab"]).as_deref(), Some("mcp__lab__echo"));
        assert_eq!(call_of("my_lab_echo", &["my", "my.lab"]).as_deref(), Some("mcp__my_lab__echo"));
        assert_eq!(call_of("label", &["lab"]), None);
        assert_eq!(call_of("bash", &[]), None);
    }

    #[test]
    fn a_prompt_has_the_texts_of_the_user() {
        let output = json!({"parts": [
            {"type": "text", "text": "Look at @a"},
            {"type": "text", "text": "Called the Read tool", "synthetic": true},
            {"type": "file", "url": "file:///a"},
            {"type": "text", "text": "and b"},
        ]});
        let text = "Look at @a\nand b".to_owned();
        assert_eq!(prompt(&output), Detail::Prompt { text, id: None });
    }
}
