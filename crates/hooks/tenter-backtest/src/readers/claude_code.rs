//! Transcripts of Claude Code: `projects/DIRECTORY/SESSION.jsonl`, and `SESSION/subagents/agent-*.jsonl`. Measured with 2.1.332.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{TranscriptReader, TranscriptSession, directory, json_lines, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::{CallEnd, DenialSource};

/// Records that contain no call.
const OTHERS: [&str; 45] = *tenter_base::words!(
    "agent-color agent-name agent-setting ai-title api-request api-request-blob
     api-request-resumed api-request-shape artifact-autoreact-ledger artifact-comment-monitor
     atis-latch attachment attribution-snapshot bridge-session content-replacement continued-in
     cost-state custom-title data-flow-incomplete data-flow-records derived-from dev-mods
     ended-by-model file-history-delta file-history-snapshot fork-context-ref frame-link
     history-suppression isolation-latch last-prompt memory-mode mode observer-ref permission-mode
     pr-link queue-operation relocated repl-mode resume-head-vouch session-owner summary system
     tag tools-used worktree-state"
);
/// The tools of code mode. Hooks see only the calls of their scripts, which have records of their own.
const CODE_MODE: [&str; 2] = ["REPL", "Poll"];

pub(super) const READER: TranscriptReader =
    TranscriptReader::new("claude-code", files, |session| json_lines::read(session, read_line));

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let projects = places.directory("CLAUDE_CONFIG_DIR", ".claude").join("projects");
    // A workflow has a journal beside the transcripts of its agents.
    let is_transcript =
        |path: &Path| is_named(path, "", ".jsonl") && !path.ends_with("journal.jsonl");
    files_below(&projects, 5, is_transcript)
}

fn read_line(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    match text(line, "type") {
        "assistant" => {
            text(line, "sessionId").clone_into(&mut session.id);
            session.agent = line["agentId"].as_str().map(str::to_owned);
            session.cwd = directory(&line["cwd"]);
            begin_calls(session, line);
        }
        "user" => end_calls(session, line),
        // Versions before 2.1.30 copy the messages of a subagent into the session.
        "progress" => {
            let message = &line["data"]["message"];
            text(line, "sessionId").clone_into(&mut session.id);
            session.agent = line["data"]["agentId"].as_str().map(str::to_owned);
            session.cwd = directory(&line["cwd"]);
            begin_calls(session, message);
            end_calls(session, message);
        }
        kind if OTHERS.contains(&kind) => {}
        kind => session.add_unknown(kind),
    }
}

/// Returns the blocks of this type in a message.
fn blocks<'l>(line: &'l Value, kind: &'static str) -> impl Iterator<Item = &'l Value> {
    let content = line["message"]["content"].as_array();
    content.into_iter().flatten().filter(move |block| block["type"] == kind)
}

fn begin_calls(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let is_seen = |block: &&Value| !CODE_MODE.contains(&text(block, "name"));
    for block in blocks(line, "tool_use").filter(is_seen) {
        let native = native(&block["id"], text(block, "name"), &block["input"]);
        session.begin(&line["timestamp"], native);
    }
}

fn end_calls(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    for block in blocks(line, "tool_result") {
        session.calls.end(text(block, "tool_use_id"), end(line, block));
    }
}

/// Returns the end of a call. Versions before 2.1.205 say only in the text that it was denied.
fn end(line: &Value, block: &Value) -> CallEnd {
    let (decision, denial) = (&line["permissionDecision"], text(line, "toolDenialKind"));
    match (text(decision, "decision"), text(decision, "source"), denial) {
        ("reject", "hook", _) => CallEnd::Denied(DenialSource::Hook),
        (_, _, "user-rejected") | ("reject", "user", _) => CallEnd::Denied(DenialSource::User),
        (_, _, "permission-rule") | ("reject", ..) => CallEnd::Denied(DenialSource::Rule),
        ("accept", "user", _) if block["is_error"] != true => CallEnd::Approved,
        _ if block["is_error"] == true => failure(&block["content"]),
        _ => CallEnd::Succeeded,
    }
}

fn failure(content: &Value) -> CallEnd {
    let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
    if text.starts_with("The user doesn't want to proceed with this tool use") {
        return CallEnd::Denied(DenialSource::User);
    }
    let is_hook = text.starts_with("PreToolUse:")
        || (text.starts_with("Hook PreToolUse:") && text.contains("denied this tool"));
    if is_hook {
        return CallEnd::Denied(DenialSource::Hook);
    }
    let is_rule = text.starts_with("Permission to use ") && text.contains("has been denied");
    if is_rule { CallEnd::Denied(DenialSource::Rule) } else { CallEnd::Failed }
}
