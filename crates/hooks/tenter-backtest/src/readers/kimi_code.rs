//! Transcripts of Kimi Code: `sessions/DIRECTORY/SESSION/agents/AGENT/wire.jsonl`. Measured with 2.1.0.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_base::untrusted_file;

use super::{TranscriptReader, TranscriptSession, directory, json_lines, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::{CallEnd, DenialSource};

/// The starts of kinds of records without a call.
const OTHERS: [&str; 20] = *tenter_base::words!(
    "agent. config. context. file_history. forked goal. llm. metadata permission. plan plugin.
     profile. prompt. runtime. subagent. swarm token_counting. tools. turn. usage."
);
/// Events of the loop without a call.
const OTHER_EVENTS: [&str; 3] = ["content.part", "step.begin", "step.end"];
/// The main agent.
const MAIN: &str = "main";
/// Maximum size of the state of a session, in bytes.
const MAX_STATE: u64 = 1 << 20;

pub(super) const READER: TranscriptReader = TranscriptReader::new("kimi-code", files, read);

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let home = places.directory("KIMI_CODE_HOME", ".kimi-code");
    files_below(&home.join("sessions"), 4, |path| is_named(path, "wire", ".jsonl"))
}

/// Reads a transcript. Its ids are names of directories, and the working directory is in the session's state.
fn read(session: &mut TranscriptSession<'_, '_>) -> io::Result<()> {
    let file = &session.file;
    let name = |levels: usize| {
        let name = file.ancestors().nth(levels).and_then(Path::file_name);
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let state = file.ancestors().nth(3).map(|directory| directory.join("state.json"));
    let state = state.and_then(|state| untrusted_file::read(&state, MAX_STATE).ok());
    let state: Option<Value> = state.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let (id, agent) = (name(3), Some(name(1)).filter(|agent| agent != MAIN));
    (session.id, session.agent) = (id, agent);
    session.cwd = state.and_then(|state| directory(&state["cwd"]));
    json_lines::read(session, read_line)
}

fn read_line(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let event = &line["event"];
    match (text(line, "type"), text(event, "type")) {
        ("context.append_loop_event", "tool.call") => {
            let native = native(&event["toolCallId"], text(event, "name"), &event["args"]);
            session.begin(&line["time"], native);
        }
        ("context.append_loop_event", "tool.result") => {
            let is_error = event["result"]["isError"] == true;
            let end = if is_error { CallEnd::Failed } else { CallEnd::Succeeded };
            session.calls.end(text(event, "toolCallId"), end);
        }
        ("context.append_loop_event", kind) if !OTHER_EVENTS.contains(&kind) => {
            session.add_unknown(&format!("context.append_loop_event {kind}"));
        }
        ("permission.record_approval_result", _) => match text(&line["result"], "decision") {
            "approved" => session.calls.approve(text(line, "toolCallId")),
            _ => session.calls.end(text(line, "toolCallId"), CallEnd::Denied(DenialSource::User)),
        },
        (kind, _) if OTHERS.iter().any(|start| kind.starts_with(start)) => {}
        (kind, _) => session.add_unknown(kind),
    }
}
