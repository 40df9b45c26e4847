//! Goose, from its documentation.

use serde_json::{Value, json};
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;

use super::{claude_form, emulation};
use crate::host::{
    ANYWHERE, EntryFormat, EventPowers, FailClosed, Host, InputRewrite, Moment, NativeEvent,
    NativeTool, Reads, Registration, RegistrationFormat, SYSTEM, SettingsPaths, SwitchValue, at,
    event, tool, within,
};
use crate::occurrence::{Detail, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::HostReply;
use crate::tool_result::joined_text;

/// Goose.
pub(super) const HOST: Host = Host {
    id: "goose",
    name: "Goose",
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        shared_file: Some(FILE),
        ..Registration::new(FILE, &["goose"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &["Subagents and compactions fire no events."],
    notes: &[
        "Hooks cannot give the model any text except the reason of a denial and the message on which the agent continues.",
        "A denied message is sent anyway: hooks see messages, but cannot reject them.",
        "`disabledPlugins` in the settings of Goose can turn the plugin `tenter` off.",
        "With `--fail-closed`, only tool calls are blocked.",
        "Goose does not show notices of hooks; they are in the journal.",
    ],
    context_limit: usize::MAX,
    input_rewrite: InputRewrite::Demanded,
    read,
    answer,
    mcp_name,
    takes_context: |_| false,
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(
        &[".goose", "~/.config/goose"],
        tenter_base::words!(
            "config.yaml init-config.yaml profiles.yaml permission.yaml permissions secrets.yaml
             custom_providers declarative_providers recipes agents plugins"
        ),
    ),
    within(&["~"], &[".local/share/goose/plugins"]),
    within(&[ANYWHERE], &[".agents/plugins"]),
    within(&[SYSTEM], &["etc/goose"]),
];

/// The file of a plugin of its own, which needs no other file.
const FILE: &str = ".agents/plugins/tenter/hooks/hooks.json";

const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    fail_closed: FailClosed::Switch("on_failure", SwitchValue::Text("block")),
    reads: Reads::PlainJson,
    ..EntryFormat::JSON_GROUPS
});

/// The events for single kinds of tools fire beside `PreToolUse`, and `PreToolUseResult` repeats its outcome.
const EVENTS: &[NativeEvent] = &[
    event("SessionStart", Moment::SessionStart),
    event("UserPromptSubmit", Moment::Prompt),
    event("PreToolUse", Moment::BeforeTool),
    event("PostToolUse", Moment::AfterTool),
    event("PostToolUseFailure", Moment::AfterToolFailure),
    event("Stop", Moment::Stop),
    event("SessionEnd", Moment::SessionEnd),
];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["SessionStart"])
        .emulated(&[(Power::Block, emulation::DENIES_CALLS)]),
    at(EventName::BeforeAgent, &["UserPromptSubmit"]),
    at(EventName::BeforeTool, &["PreToolUse"])
        .native(&[Power::Block])
        .emulated(&[(Power::RewriteInput, emulation::ASKS_FOR_CHANGED)]),
    at(EventName::AfterTool, &["PostToolUse"]),
    at(EventName::AfterToolFailure, &["PostToolUseFailure"]),
    at(EventName::AfterTurn, &["Stop"]),
    at(EventName::BeforeStop, &["Stop"]).native(&[Power::Continue]),
    at(EventName::AfterAgent, &["Stop"]),
    at(EventName::SessionEnd, &["SessionEnd"]),
];

const TOOLS: &[NativeTool] = &[
    tool("developer__shell", "bash", &[]),
    tool("developer__write", "file_write", &[("path", "file_path"), ("content", "text")]),
    tool(
        "developer__edit",
        "file_edit",
        &[("path", "file_path"), ("before", "old_text"), ("after", "new_text")],
    ),
    tool(EDITOR, "file_read", &[("path", "file_path")]).when("command", "view"),
    tool(EDITOR, "file_write", &[("path", "file_path"), ("file_text", "text")])
        .when("command", "write"),
    tool(
        EDITOR,
        "file_edit",
        &[("path", "file_path"), ("old_str", "old_text"), ("new_str", "new_text")],
    )
    .when("command", "str_replace"),
];

/// The file tool of older versions.
const EDITOR: &str = "developer__text_editor";

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    payload.check_event("event", event.name)?;
    Ok(Occurrence {
        session: payload.required("session_id")?.to_owned(),
        agent: None,
        // Some events have none.
        cwd: payload.text("working_dir").unwrap_or_default().into(),
        detail: detail(event.moment, payload)?,
    })
}

fn detail(moment: Moment, payload: &Payload) -> Result<Detail, PayloadError> {
    let text = |field: &str| payload.text(field).map(str::to_owned);
    Ok(match moment {
        Moment::SessionStart => Detail::SessionStart { source: None, model: None },
        Moment::Prompt => Detail::Prompt { text: text("message").unwrap_or_default(), id: None },
        Moment::BeforeTool => Detail::BeforeTool(NativeCall::read(payload, "tool_call_id")?),
        Moment::AfterTool => Detail::AfterTool {
            call: NativeCall::read(payload, "tool_call_id")?,
            end: tool_end(payload, ToolOutcome::Success),
        },
        Moment::AfterToolFailure => {
            let output = payload.get("tool_output").map(output_text);
            let error = output.filter(|error| !error.is_empty());
            let error = error.unwrap_or_else(|| "the tool failed".to_owned());
            let end = tool_end(payload, ToolOutcome::Failure(error));
            Detail::AfterTool { call: NativeCall::read(payload, "tool_call_id")?, end }
        }
        Moment::Stop => Detail::Stop { response: text("last_assistant_message") },
        Moment::SessionEnd => Detail::SessionEnd { reason: None },
        _ => Detail::Nothing,
    })
}

fn tool_end(payload: &Payload, outcome: ToolOutcome) -> ToolEnd {
    let result = payload.get("tool_output").cloned().unwrap_or_default();
    let output = (!result.is_null()).then(|| output_text(&result));
    ToolEnd { output, ..ToolEnd::new(outcome, result) }
}

/// Returns the text of a result: a string, or the blocks of an MCP result.
fn output_text(output: &Value) -> String {
    let text = joined_text(output).or_else(|| joined_text(&output["content"]));
    text.unwrap_or_else(|| output.to_string())
}

/// Returns the name of an MCP tool. Tools are called `EXTENSION__TOOL`, and every extension is an MCP server.
fn mcp_name(call: &NativeCall) -> Option<String> {
    let (extension, tool) = call.tool.split_once("__")?;
    (!extension.is_empty() && !tool.is_empty()).then(|| format!("mcp__{extension}__{tool}"))
}

/// Writes the native answer. Hooks can only deny calls and continue stops; any other text would count as a failure of the hook.
fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let reason = match event.moment {
        Moment::BeforeTool => reply.denial()?,
        Moment::Stop => reply.continue_with.as_deref()?,
        _ => return None,
    };
    Some(json!({ "decision": "block", "reason": reason }).to_string())
}
