//! Crush, from its documentation.

use serde_json::{Value, json};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, Object};

use super::{claude_form, emulation};
use crate::host::{
    ANYWHERE, EntryFormat, EventPowers, Host, Moment, NativeEvent, NativeTool, Registration,
    RegistrationFormat, SettingsPaths, at, event, tool, within,
};
use crate::occurrence::{Detail, NativeCall, Occurrence};
use crate::payload::{Payload, PayloadError};
use crate::reply::{HostReply, HostVerdict};

/// Crush.
pub(super) const HOST: Host = Host {
    id: "crush",
    name: "Crush",
    events: EVENTS,
    tools: TOOLS,
    registration: Registration {
        directory_variable: Some(("CRUSH_GLOBAL_CONFIG", ".config/crush")),
        shared_file: Some("crush.json"),
        ..Registration::new(
            ".config/crush/crush.json",
            &["crush"],
            RegistrationFormat::Entries(EntryFormat::JSON_HANDLERS),
        )
    },
    settings: SETTINGS,
    powers: POWERS,
    blind_spots: &[
        "Messages, results of tools, stops and compactions: hooks see calls of tools before they run, and nothing else.",
        "Calls of subagents.",
        "Files that a shell command writes do not count as calls of a file tool.",
    ],
    notes: &[
        "A changed input is merged into the original: a hook cannot remove a field.",
        "Crush does not show notices of hooks; they are in the journal.",
    ],
    // No limit is documented.
    context_limit: usize::MAX,
    max_continuations: 0,
    read,
    answer,
    mcp_name,
    takes_context: |moment| moment == Moment::BeforeTool,
    ..claude_form::BASE
};

/// The settings that decide what the host loads, runs and allows.
const SETTINGS: &[SettingsPaths] = &[
    within(&[ANYWHERE], &["crush.json", ".crush.json", "crushrc", ".crushrc", ".crush/crush.json"]),
    within(
        &["~"],
        &[".config/crush", ".local/share/crush/crush.json", ".local/share/crush/providers.json"],
    ),
];

/// No maximum of the timeout is documented.
const EVENTS: &[NativeEvent] = &[event("PreToolUse", Moment::BeforeTool)];

const POWERS: &[EventPowers] = &[
    at(EventName::SessionStart, &["PreToolUse"]).emulated(&[
        (Power::Block, emulation::DENIES_CALLS),
        (Power::AddContext, "given to the model with the first tool call"),
    ]),
    at(EventName::BeforeTool, &["PreToolUse"]).native(&[
        Power::Block,
        Power::RewriteInput,
        Power::AddContext,
    ]),
    at(EventName::SubagentStart, &["PreToolUse"]).native(&[Power::Block]),
];

const EDIT_FIELDS: &[(&str, &str)] = &[("old_string", "old_text"), ("new_string", "new_text")];

const TOOLS: &[NativeTool] = &[
    tool("bash", "bash", &[]),
    tool("view", "file_read", &[("limit", "line_limit")]),
    tool("write", "file_write", &[("content", "text")]),
    tool("edit", "file_edit", EDIT_FIELDS),
    tool("multiedit", "file_edit", &[]),
    tool("grep", "grep", &[]),
    tool("glob", "glob", &[]),
    tool("agent", "subagent", &[("prompt", "question")]),
];

fn read(event: &NativeEvent, payload: &Payload) -> Result<Occurrence, PayloadError> {
    payload.check_event("event", event.name)?;
    Ok(Occurrence {
        session: payload.required("session_id")?.to_owned(),
        agent: None,
        cwd: payload.required("cwd")?.into(),
        detail: Detail::BeforeTool(NativeCall::read(payload, "")?),
    })
}

/// Returns the name of an MCP tool, which the host calls `mcp_SERVER_TOOL`. The server ends at the first underscore.
fn mcp_name(call: &NativeCall) -> Option<String> {
    let (server, tool) = call.tool.strip_prefix("mcp_")?.split_once('_')?;
    Some(format!("mcp__{server}__{tool}"))
}

fn answer(_event: &NativeEvent, reply: &HostReply) -> Option<String> {
    let mut answer = Object::new();
    match &reply.verdict {
        Some(HostVerdict::Deny(reason)) => {
            answer.insert("decision".to_owned(), json!("deny"));
            answer.insert("reason".to_owned(), json!(reason));
        }
        Some(HostVerdict::Allow) => {
            answer.insert("decision".to_owned(), json!("allow"));
        }
        Some(HostVerdict::Ask(_)) | None => {}
    }
    if let Some(input) = reply.input.as_ref().filter(|_| reply.denial().is_none()) {
        answer.insert("updated_input".to_owned(), json!(input));
    }
    if let Some(context) = reply.context() {
        answer.insert("context".to_owned(), json!(context));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}
