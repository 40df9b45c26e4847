//! The facts about the host in payloads for hooks: its name, and the event in its own terms (B9).

use std::path::PathBuf;

use serde_json::Value;
use tenter_protocol::event::HostFacts;

use super::Visitor;
use crate::occurrence::{Compaction, Detail, Occurrence};
use crate::payload::Payload;
use crate::tool_call;

/// The host with Claude Code's own format of conversations.
const CLAUDE_CODE: &str = "claude-code";

/// Returns the facts about one occurrence.
pub(super) fn facts(visitor: &Visitor, occurrence: &Occurrence) -> HostFacts {
    let facts = HostFacts {
        name: visitor.host.id.to_owned(),
        event: Some(visitor.event.name.to_owned()),
        unknown: unknown(&occurrence.detail).iter().map(|field| (*field).to_owned()).collect(),
        ..HostFacts::default()
    };
    match &occurrence.detail {
        Detail::BeforeTool(call) | Detail::AfterTool { call, .. } => {
            let is_same = tool_call::canonical(visitor.host, call).input == call.input;
            let tool_input = (!is_same).then(|| call.input.clone());
            let agent = (!visitor.host.marks_subagents).then(|| "invoked_by".to_owned());
            let unknown = facts.unknown.into_iter().chain(agent).collect();
            HostFacts { tool_name: Some(call.tool.clone()), tool_input, unknown, ..facts }
        }
        _ => facts,
    }
}

/// Returns the directories that the user opened in the host, if its payloads list them.
pub(super) fn workspace(payload: &Payload) -> Vec<PathBuf> {
    const FIELDS: [&str; 2] = ["workspace_roots", "workspaceRoots"];
    let items = FIELDS.iter().find_map(|field| payload.get(field)?.as_array());
    let directories = items.into_iter().flatten().filter_map(Value::as_str).map(PathBuf::from);
    directories.filter(|directory| directory.is_absolute()).collect()
}

/// Adds the facts for hooks that are written for Claude Code: the permission mode, and the conversation if it is in Claude
/// Code's format.
pub(super) fn add_payload_facts(facts: &mut HostFacts, payload: &Payload) {
    let text = |field: &str| payload.text(field).map(str::to_owned);
    facts.permission_mode = text("permission_mode");
    facts.transcript_path = text("transcript_path").filter(|_| facts.name == CLAUDE_CODE);
}

/// Returns the fields of payloads that no payload of a host provides.
fn unknown(detail: &Detail) -> &'static [&'static str] {
    match detail {
        Detail::SessionStart { model: None, .. } => &["model"],
        Detail::AfterBatch => &["turn_number", "session_turn", "response", "usage", "messages"],
        Detail::Stop { response: None } | Detail::SubagentStop { response: None } => {
            &["turn_number", "session_turn", "step_count", "usage", "messages", "response"]
        }
        Detail::Stop { .. } | Detail::SubagentStop { .. } => {
            &["turn_number", "session_turn", "step_count", "usage", "messages"]
        }
        Detail::PreCompact(Compaction { tokens: None, .. })
        | Detail::PostCompact(Compaction { tokens: Some(_), .. }) => &["tokens_before"],
        Detail::PostCompact(_) => &["tokens_before", "tokens_after"],
        Detail::SessionEnd { .. } => &["total_steps"],
        _ => &[],
    }
}
