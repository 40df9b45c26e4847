//! Mistral Vibe.

use std::time::Duration;

use serde_json::{Value, json};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, Object};

use super::{claude_form, emulation};
use crate::host::{
    self, EntryFormat, EntryLayout, EventPowers, FailClosed, Host, Moment, NativeEvent, NativeTool,
    Registration, RegistrationFormat, SettingsPaths, SwitchValue, at, tool, within,
};
use crate::occurrence::{Detail, NativeAgent, NativeCall, Occurrence, ToolEnd, ToolOutcome};
use crate::payload::{Payload, PayloadError};
use crate::reply::{HostReply, HostVerdict};
use crate::user_rules::RuleCheck;

/// Mistral Vibe, measured with version 3.0.2.
pub(super) const HOST: Host = Host {
    id: "vibe",
    name: "Mistral Vibe",
    measured_version: Some("3.0.2"),
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        // It counts only in a trusted directory.
        shared_file: Some(".vibe/hooks.toml"),
        directory_variable: Some(("VIBE_HOME", ".vibe")),
        ..Registration::new(".vibe/hooks.toml", &["vibe"], FORMAT)
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Messages of the user and compactions fire no events.",
        "Files that a shell command writes do not count as calls of a file tool.",
    ],
    notes: &[
        "The start and the end of a session fire no events: hooks of `session_start` run at the first tool call.",
        "Tools of MCP servers keep the names that Vibe gives them, `SERVER_TOOL`.",
        "An `allow` never skips Vibe's own question; `bridge.allow_skips_prompt` has no effect.",
        "A hook of the project with the same name replaces yours; the name of the registration cannot be guessed.",
    ],
    // No limit is documented.
    context_limit: usize::MAX,
    max_continuations: 3,
    marks_subagents: true,
    user_rules: RuleCheck::VIBE,
    read,
    answer,
    rewrite_output: |_, changed| Some(Value::String(changed.text())),
    mcp_name: |_| None,
    takes_context: |moment| moment == Moment::AfterTool,
    takes_notice: |_| true,
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[within(
    &[".vibe"],
    tenter_base::words!(
        "config.toml hooks.toml skills.toml trusted_folders.toml projects.toml .env agents tools
         plugins hooks"
    ),
)];

/// The command is started without a shell, so its failure cannot become an exit code. `strict` is for tools only.
const FORMAT: RegistrationFormat = RegistrationFormat::Entries(EntryFormat {
    layout: EntryLayout::TomlTables { event: "type" },
    name: Some("name"),
    fail_closed: FailClosed::Switch("strict", SwitchValue::True),
    ..EntryFormat::TOML_TABLES
});

const EVENTS: &[NativeEvent] = &[
    event("pre_tool", Moment::BeforeTool),
    event("post_tool", Moment::AfterTool),
    event("post_agent", Moment::Stop),
];

/// Creates an event with the documented default of the timeout; no maximum is documented.
const fn event(name: &'static str, moment: Moment) -> NativeEvent {
    host::event(name, moment).timeout(Duration::from_mins(1))
}

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["pre_tool", "post_agent"]).emulated(&[
        (Power::Block, emulation::DENIES_CALLS),
        (Power::AddContext, emulation::WITH_NEXT_RESULT),
    ]),
    at(EventName::BeforeTool, &["pre_tool"]).native(&[Power::Block, Power::RewriteInput]).emulated(
        &[
            (Power::Ask, "denied, and the reason says that the user has to decide"),
            (Power::AddContext, emulation::WITH_NEXT_RESULT),
        ],
    ),
    at(EventName::AfterTool, &["post_tool"]).native(&[
        Power::RewriteOutput,
        Power::FeedBack,
        Power::AddContext,
    ]),
    at(EventName::AfterToolFailure, &["post_tool"]).native(&[
        Power::RewriteOutput,
        Power::FeedBack,
        Power::AddContext,
    ]),
    at(EventName::AfterTurn, &["post_agent"]).emulated(&[
        (Power::FeedBack, emulation::WITH_NEXT_RESULT),
        (Power::AddContext, emulation::WITH_NEXT_RESULT),
    ]),
    at(EventName::BeforeStop, &["post_agent"])
        .native(&[Power::Continue])
        .emulated(&[(Power::AddContext, emulation::WITH_NEXT_RESULT)]),
    at(EventName::AfterAgent, &["post_agent"])
        .emulated(&[(Power::FeedBack, emulation::WITH_NEXT_RESULT)]),
    at(EventName::SubagentStart, &["pre_tool"]).native(&[Power::Block]),
    at(EventName::SubagentStop, &["post_tool"]).native(&[Power::FeedBack]),
];

/// Since version 3, payloads have a namespace before the names, such as `file_system.bash`.
const TOOLS: &[NativeTool] = &[
    tool("bash", "bash", &[]),
    tool("read_file", "file_read", &[("path", "file_path"), ("limit", "line_limit")]),
    tool("write_file", "file_write", &[("path", "file_path"), ("content", "text")]),
    tool("edit", "file_edit", &[("old_string", "old_text"), ("new_string", "new_text")]),
    tool("search_replace", "file_edit", &[]),
    tool("grep", "grep", &[]),
    tool("todo", "todo", &[]),
    tool("task", "subagent", &[("task", "question"), ("agent", "subagent_type")]),
    tool("skill", "skill", &[]),
];

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    payload.check_event("hook_event_name", event.name)?;
    let own = payload.required("session_id")?;
    let parent = payload.text("parent_session_id");
    Ok(Occurrence {
        session: parent.unwrap_or(own).to_owned(),
        agent: parent.map(|_| NativeAgent { id: own.to_owned(), kind: None, parent: None }),
        cwd: payload.required("cwd")?.into(),
        detail: match event.moment {
            Moment::BeforeTool => Detail::BeforeTool(NativeCall::read(payload, "tool_call_id")?),
            Moment::AfterTool => Detail::AfterTool {
                call: NativeCall::read(payload, "tool_call_id")?,
                end: tool_end(payload),
            },
            Moment::Stop => Detail::Stop { response: None },
            _ => Detail::Nothing,
        },
    })
}

fn tool_end(payload: &Payload) -> ToolEnd {
    let error = payload.text("tool_error").unwrap_or("the tool failed");
    let result = payload.get("tool_output").cloned().unwrap_or_default();
    let exit_code = exit_code(&result);
    let outcome = match (payload.text("tool_status"), exit_code) {
        // A command that fails counts as a success in Vibe.
        (Some("success"), Some(code)) if code != 0 => {
            ToolOutcome::Failure(format!("exit code {code}"))
        }
        (Some("success"), _) => ToolOutcome::Success,
        (None, _) => ToolOutcome::Unknown,
        (Some(_), _) => ToolOutcome::Failure(error.to_owned()),
    };
    ToolEnd {
        output: payload.text("tool_output_text").map(str::to_owned),
        exit_code,
        ..ToolEnd::new(outcome, result)
    }
}

/// Reads the exit code of a command, whose field depends on the version.
fn exit_code(result: &Value) -> Option<i32> {
    let fields = ["returncode", "exit_code"];
    fields.iter().find_map(|field| result[*field].as_i64())?.try_into().ok()
}

fn answer(event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let mut answer = Object::new();
    let mut specific = Object::new();
    let denial = match (event.moment, &reply.verdict) {
        (Moment::BeforeTool, Some(HostVerdict::Deny(reason))) => Some(reason.clone()),
        (Moment::AfterTool, _) => reply.output.as_ref().map(text),
        (Moment::Stop, _) => reply.continue_with.clone(),
        _ => None,
    };
    if let Some(reason) = denial {
        answer.insert("decision".to_owned(), json!("deny"));
        answer.insert("reason".to_owned(), json!(reason));
    }
    if event.moment == Moment::BeforeTool
        && let Some(input) = reply.input.as_ref().filter(|_| reply.denial().is_none())
    {
        specific.insert("tool_input".to_owned(), json!(input));
    }
    if event.moment == Moment::AfterTool
        && let Some(context) = reply.context()
    {
        specific.insert("additional_context".to_owned(), json!(context));
    }
    if !specific.is_empty() {
        answer.insert("hook_specific_output".to_owned(), Value::Object(specific));
    }
    if !reply.notices.is_empty() {
        answer.insert("system_message".to_owned(), json!(reply.notices.join("\n")));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}

fn text(output: &Value) -> String {
    output.as_str().map_or_else(|| output.to_string(), str::to_owned)
}
