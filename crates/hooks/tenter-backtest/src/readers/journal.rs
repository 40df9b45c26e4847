//! Tenter's journal, of all agents: the second choice. It has only calls for which a hook ran, and secrets in them are masked and long
//! texts cut. Such a call cannot be judged.

use std::path::PathBuf;

use serde_json::Value;
use tenter_protocol::Object;

use super::{TranscriptReader, TranscriptSession, directory, json_lines, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::{CallEnd, DenialSource};

/// The mark of a text that was masked or cut.
const MARK: char = '…';

pub(super) const READER: TranscriptReader = TranscriptReader {
    is_second_choice: true,
    ..TranscriptReader::new("journal", files, |session| json_lines::read(session, read_line))
};

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let state = places.directory("XDG_STATE_HOME", ".local/state");
    files_below(&state.join("tenter/journal"), 0, |path| is_named(path, "", ".jsonl"))
}

/// Reads what the hooks of a call decided. The call ran in the project, but its working directory is not recorded.
fn read_line(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let is_call = line["event"] == "before_tool" && line["tool_input"].is_object();
    if line["kind"] != "decision" || !is_call {
        return;
    }
    text(line, "conversation_id").clone_into(&mut session.id);
    session.cwd = directory(&line["project"]);
    let native = native(&line["tool_call_id"], text(line, "tool_name"), &line["tool_input"]);
    let is_cut = has_mark(&native.input);
    let end = match text(line, "decision") {
        "deny" => CallEnd::Denied(DenialSource::Hook),
        _ => CallEnd::Unknown,
    };
    let mut call = session.call(&line["time"], native);
    call.is_cut = is_cut;
    session.calls.begin(call);
    session.calls.end(text(line, "tool_call_id"), end);
}

fn has_mark(input: &Object) -> bool {
    fn is_marked(value: &Value) -> bool {
        match value {
            Value::String(text) => text.contains(MARK),
            Value::Array(values) => values.iter().any(is_marked),
            Value::Object(fields) => has_mark(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    input.values().any(is_marked)
}
