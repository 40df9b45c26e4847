//! Transcripts of Claude Code, measured with version 2.1.330.

use serde_json::Value;
use tenter_protocol::Block;
use tenter_protocol::event::TurnUsage;

use super::history::{History, end};
use crate::occurrence::{NativeCall, ToolOutcome};
use crate::tool_result::joined_text;

/// Returns the version of Claude Code in a line of a transcript.
pub(super) fn version(line: &Value) -> Option<&str> {
    line["version"].as_str()
}

pub(super) fn read_line(history: &mut History<'_>, line: &Value) {
    let (message, time) = (&line["message"], line["timestamp"].as_str().unwrap_or_default());
    match line["type"].as_str() {
        Some("system") if line["subtype"] == "compact_boundary" => history.replace(),
        Some("user") => {
            let blocks = blocks(history, &message["content"], time);
            history.add_user(blocks);
        }
        Some("assistant") if line["isApiErrorMessage"] != true => {
            let blocks = blocks(history, &message["content"], time);
            let id = message["id"].as_str();
            history.add_response(id, blocks);
            if let (Some(id), Some(_)) = (id, message["usage"].as_object()) {
                history.add_tokens(id, tokens(&message["usage"]));
            }
        }
        _ => {}
    }
}

fn blocks(history: &mut History<'_>, content: &Value, time: &str) -> Vec<Block> {
    match content {
        Value::String(text) => vec![Block::text(text)],
        Value::Array(blocks) => {
            blocks.iter().filter_map(|native| block(history, native, time)).collect()
        }
        _ => Vec::new(),
    }
}

fn block(history: &mut History<'_>, native: &Value, time: &str) -> Option<Block> {
    let field = |name: &str| native[name].as_str().map(str::to_owned);
    Some(match native["type"].as_str()? {
        "text" => Block::text(field("text")?),
        "thinking" => Block::Reasoning { text: field("thinking")? },
        "image" => Block::text("[image]"),
        "tool_use" => history.call(&NativeCall {
            id: field("id"),
            tool: field("name")?,
            ..NativeCall::with_input(&native["input"])
        }),
        "tool_result" => {
            let text = joined_text(&native["content"]).unwrap_or_default();
            let outcome = match native["is_error"] {
                Value::Bool(true) => ToolOutcome::Failure(text.clone()),
                _ => ToolOutcome::Success,
            };
            history.result(native["tool_use_id"].as_str()?, &end(outcome, text), time)
        }
        _ => return None,
    })
}

fn tokens(usage: &Value) -> TurnUsage {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let (cache_reads, cache_writes) =
        (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    TurnUsage {
        input_tokens: count("input_tokens")
            .saturating_add(cache_reads)
            .saturating_add(cache_writes),
        output_tokens: count("output_tokens"),
        cached_input_tokens: cache_reads,
        cache_write_tokens: cache_writes,
    }
}
