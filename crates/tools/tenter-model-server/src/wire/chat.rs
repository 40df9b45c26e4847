//! OpenAI's Chat Completions, as documented, with reasoning in `reasoning_content`, as some servers send it.

use serde_json::{Value, json};

use super::{CREATED, WireItem, WireReply};
use crate::Format;
use crate::stream::{Frame, FrameKind, pieces};

pub(super) fn whole(answer: &WireReply) -> Value {
    let choice = json!({
        "index": 0,
        "message": message(answer),
        "logprobs": null,
        "finish_reason": finish_reason(answer),
    });
    json!({
        "id": answer.id("chatcmpl-"),
        "object": "chat.completion",
        "created": CREATED,
        "model": answer.model,
        "choices": [choice],
        "usage": usage(answer),
        "system_fingerprint": "fp_0000000000",
    })
}

pub(super) fn stream(answer: &WireReply) -> Vec<Frame> {
    let opening = if answer.llama {
        json!({"role": "assistant", "content": null})
    } else {
        json!({"role": "assistant", "content": "", "refusal": null})
    };
    let mut frames = vec![Frame::data(&chunk(answer, &opening, None), FrameKind::Other)];
    let mut calls = 0;
    for item in answer.items(Format::Chat) {
        let deltas = deltas(&item, calls);
        frames.extend(
            deltas.iter().map(|(delta, mark)| Frame::data(&chunk(answer, delta, None), *mark)),
        );
        calls += usize::from(matches!(item, WireItem::Call { .. }));
    }
    let last = chunk(answer, &json!({}), Some(finish_reason(answer)));
    frames.push(Frame::data(&last, FrameKind::Finish));
    if counts_tokens(answer) {
        frames.push(Frame::data(&totals(answer), FrameKind::Finish));
    }
    frames.push(Frame { text: "data: [DONE]\n\n".to_owned(), mark: FrameKind::Done });
    frames
}

fn counts_tokens(answer: &WireReply) -> bool {
    answer.request["stream_options"]["include_usage"] == true
}

fn chunk(answer: &WireReply, delta: &Value, finish: Option<&str>) -> Value {
    let choice = if answer.llama {
        json!({"finish_reason": finish, "index": 0, "delta": delta})
    } else {
        json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish})
    };
    envelope(answer, &json!([choice]))
}

fn envelope(answer: &WireReply, choices: &Value) -> Value {
    let id = answer.id("chatcmpl-");
    if answer.llama {
        return json!({
            "choices": choices, "created": CREATED, "id": id, "model": answer.model,
            "system_fingerprint": "b0-unknown", "object": "chat.completion.chunk",
        });
    }
    let mut chunk = json!({
        "id": id,
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": answer.model,
        "service_tier": "default",
        "system_fingerprint": "fp_0000000000",
        "choices": choices,
    });
    if counts_tokens(answer) {
        chunk["usage"] = Value::Null;
    }
    chunk
}

fn totals(answer: &WireReply) -> Value {
    let mut chunk = envelope(answer, &json!([]));
    chunk["usage"] = usage(answer);
    if answer.llama {
        let cached_tokens = answer.usage().cached;
        chunk["timings"] = json!({"cache_n": cached_tokens, "prompt_n": 68, "prompt_ms": 661.593});
    }
    chunk
}

fn usage(answer: &WireReply) -> Value {
    let usage = answer.usage();
    let total = usage.input + usage.output;
    if answer.llama {
        return json!({
            "completion_tokens": usage.output, "prompt_tokens": usage.input, "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
        });
    }
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": total,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": answer.reasoning_tokens(),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

fn finish_reason(answer: &WireReply) -> &'static str {
    answer.stop_word(["stop", "tool_calls", "length", "content_filter"])
}

fn deltas(item: &WireItem, call: usize) -> Vec<(Value, FrameKind)> {
    match item {
        WireItem::Reasoning { text, .. } => {
            let delta = |piece| (json!({"reasoning_content": piece}), FrameKind::Other);
            pieces(text, 12).into_iter().map(delta).collect()
        }
        WireItem::Text(text) => {
            let delta = |piece| (json!({"content": piece}), FrameKind::Text);
            pieces(text, 12).into_iter().map(delta).collect()
        }
        WireItem::Call { id, name, arguments, .. } => {
            let function = json!({"name": name, "arguments": ""});
            let first = json!({"index": call, "id": id, "type": "function", "function": function});
            let rest = pieces(arguments, 8).into_iter().map(|piece| {
                let delta = json!({"index": call, "function": {"arguments": piece}});
                (json!({"tool_calls": [delta]}), FrameKind::Arguments)
            });
            [(json!({"tool_calls": [first]}), FrameKind::Other)].into_iter().chain(rest).collect()
        }
    }
}

fn message(answer: &WireReply) -> Value {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for item in answer.items(Format::Chat) {
        match item {
            WireItem::Reasoning { .. } => {}
            WireItem::Text(piece) => text.push_str(piece),
            WireItem::Call { id, name, arguments, .. } => {
                let function = json!({"name": name, "arguments": arguments});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
        }
    }
    let content = if text.is_empty() && !answer.llama { Value::Null } else { json!(text) };
    let mut message = json!({"role": "assistant", "content": content, "refusal": null});
    if let Some(reasoning) = &answer.reply.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    message
}
