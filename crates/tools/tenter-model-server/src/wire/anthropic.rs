//! Anthropic's Messages, as documented: `message_start`, blocks, `message_delta`, `message_stop`, and a `ping`.

use serde_json::{Value, json};

use super::{WireItem, WireReply};
use crate::Format;
use crate::stream::{Frame, FrameKind, pieces};

pub(super) fn whole(answer: &WireReply) -> Value {
    let content: Vec<Value> = answer.items(Format::Anthropic).iter().map(block).collect();
    let mut message = message(answer);
    message["content"] = Value::Array(content);
    message["stop_reason"] = json!(stop_reason(answer));
    message["usage"] = usage(answer, answer.usage().output);
    message
}

pub(super) fn stream(answer: &WireReply) -> Vec<Frame> {
    let start = json!({"type": "message_start", "message": message(answer)});
    let mut frames = vec![Frame::with_type(&start, FrameKind::Other)];
    for (index, item) in answer.items(Format::Anthropic).iter().enumerate() {
        frames.push(opening(answer, index, item));
        if index == 0 && !answer.llama {
            frames.push(Frame::with_type(&json!({"type": "ping"}), FrameKind::Other));
        }
        frames.extend(deltas(item).into_iter().map(|(delta, mark)| {
            Frame::with_type(
                &json!({"type": "content_block_delta", "index": index, "delta": delta}),
                mark,
            )
        }));
        frames.push(Frame::with_type(
            &json!({"type": "content_block_stop", "index": index}),
            FrameKind::Other,
        ));
    }
    frames.push(Frame::with_type(&closing(answer), FrameKind::Finish));
    frames.push(Frame::with_type(&json!({"type": "message_stop"}), FrameKind::Finish));
    frames
}

fn message(answer: &WireReply) -> Value {
    json!({
        "id": answer.id(if answer.llama { "chatcmpl-" } else { "msg_" }),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(answer, u64::from(!answer.llama)),
    })
}

fn closing(answer: &WireReply) -> Value {
    let output = answer.usage().output;
    let usage = if answer.llama { json!({"output_tokens": output}) } else { usage(answer, output) };
    json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
        "usage": usage,
    })
}

/// Returns the usage; `input_tokens` does not include cached tokens here.
fn usage(answer: &WireReply, output: u64) -> Value {
    let usage = answer.usage();
    let fresh = usage.input.saturating_sub(usage.cached + usage.written);
    if answer.llama {
        return json!({"cache_read_input_tokens": usage.cached, "input_tokens": fresh, "output_tokens": output});
    }
    json!({
        "input_tokens": fresh,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
    })
}

fn stop_reason(answer: &WireReply) -> &'static str {
    answer.stop_word(["end_turn", "tool_use", "max_tokens", "refusal"])
}

/// Returns a complete block. Invalid arguments are sent as a string.
fn block(item: &WireItem) -> Value {
    match item {
        WireItem::Reasoning { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        WireItem::Text(text) => json!({"type": "text", "text": text}),
        WireItem::Call { id, name, arguments, .. } => {
            let input = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

fn opening(answer: &WireReply, index: usize, item: &WireItem) -> Frame {
    let block = match item {
        WireItem::Reasoning { .. } => json!({"type": "thinking", "thinking": "", "signature": ""}),
        WireItem::Text(_) => json!({"type": "text", "text": ""}),
        WireItem::Call { id, name, .. } if answer.llama => {
            json!({"type": "tool_use", "id": id, "name": name})
        }
        WireItem::Call { id, name, .. } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": {}})
        }
    };
    let start = json!({"type": "content_block_start", "index": index, "content_block": block});
    Frame::with_type(&start, FrameKind::Other)
}

fn deltas(item: &WireItem) -> Vec<(Value, FrameKind)> {
    match item {
        WireItem::Reasoning { text, signature } => {
            let thinking = pieces(text, 12).into_iter().map(|piece| {
                (json!({"type": "thinking_delta", "thinking": piece}), FrameKind::Other)
            });
            let signature_delta = json!({"type": "signature_delta", "signature": signature});
            thinking.chain([(signature_delta, FrameKind::Other)]).collect()
        }
        WireItem::Text(text) => {
            let delta = |piece| (json!({"type": "text_delta", "text": piece}), FrameKind::Text);
            pieces(text, 12).into_iter().map(delta).collect()
        }
        WireItem::Call { arguments, .. } => {
            let delta = |piece| {
                (json!({"type": "input_json_delta", "partial_json": piece}), FrameKind::Arguments)
            };
            [String::new()].into_iter().chain(pieces(arguments, 8)).map(delta).collect()
        }
    }
}
