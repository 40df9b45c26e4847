//! Google's Gemini, as documented: every chunk is a whole `GenerateContentResponse`, and the stream has no final event.

use serde_json::{Value, json};

use super::{WireItem, WireReply};
use crate::Format;
use crate::stream::{Frame, FrameKind, pieces};

pub(super) fn whole(answer: &WireReply) -> Value {
    let parts: Vec<Value> = parts(answer, usize::MAX).into_iter().map(|(part, _)| part).collect();
    response(answer, &Value::Array(parts), true)
}

pub(super) fn stream(answer: &WireReply) -> Vec<Frame> {
    let mut frames: Vec<Frame> = parts(answer, 12)
        .into_iter()
        .map(|(part, mark)| event(&response(answer, &json!([part]), false), mark))
        .collect();
    frames.push(event(&response(answer, &json!([last_part(answer)]), true), FrameKind::Finish));
    frames
}

/// Returns an event whose lines end with CRLF, as Google's do.
fn event(data: &Value, mark: FrameKind) -> Frame {
    Frame { text: format!("data: {data}\r\n\r\n"), mark }
}

fn response(answer: &WireReply, parts: &Value, last: bool) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if last {
        candidate["finishReason"] = json!(finish_reason(answer));
    }
    if last && malformed(answer) {
        candidate["finishMessage"] = json!("Malformed function call: the arguments are no object");
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage(answer, last),
        "modelVersion": answer.model,
        "responseId": answer.id("resp"),
    })
}

/// Returns the usage. `candidatesTokenCount` leaves the thoughts out; counts of nothing are left out as well.
fn usage(answer: &WireReply, last: bool) -> Value {
    let usage = answer.usage();
    let mut metadata = json!({
        "promptTokenCount": usage.input,
        "totalTokenCount": usage.input,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    });
    if usage.cached > 0 {
        metadata["cachedContentTokenCount"] = json!(usage.cached);
        metadata["cacheTokensDetails"] = json!([{"modality": "TEXT", "tokenCount": usage.cached}]);
    }
    if last {
        let thoughts = answer.reasoning_tokens();
        metadata["candidatesTokenCount"] = json!(usage.output - thoughts);
        metadata["totalTokenCount"] = json!(usage.input + usage.output);
        if thoughts > 0 {
            metadata["thoughtsTokenCount"] = json!(thoughts);
        }
    }
    metadata
}

/// Streams arguments, which are not text here: any but an object end the reply with an error.
fn malformed(answer: &WireReply) -> bool {
    answer.items(Format::Gemini).iter().any(|item| match item {
        WireItem::Call { arguments, .. } => object(arguments).is_none(),
        _ => false,
    })
}

fn object(arguments: &str) -> Option<Value> {
    serde_json::from_str(arguments).ok().filter(Value::is_object)
}

fn finish_reason(answer: &WireReply) -> &'static str {
    if malformed(answer) {
        return "MALFORMED_FUNCTION_CALL";
    }
    answer.stop_word(["STOP", "STOP", "MAX_TOKENS", "SAFETY"])
}

/// Returns the parts of the reply, text in pieces of `size` characters. The first call has the signature, or else the last part.
fn parts(answer: &WireReply, size: usize) -> Vec<(Value, FrameKind)> {
    let mut signature = answer.reply.reasoning.is_some().then(|| answer.signature(Format::Gemini));
    let mut parts = Vec::new();
    for item in answer.items(Format::Gemini) {
        match item {
            WireItem::Reasoning { text, .. } => parts.extend(
                pieces_of(text, size)
                    .into_iter()
                    .map(|piece| (json!({"text": piece, "thought": true}), FrameKind::Other)),
            ),
            WireItem::Text(text) => parts.extend(
                pieces_of(text, size)
                    .into_iter()
                    .map(|piece| (json!({"text": piece}), FrameKind::Text)),
            ),
            WireItem::Call { arguments, .. } if object(arguments).is_none() => {}
            WireItem::Call { id, name, arguments, .. } => {
                parts.push((
                    call(answer, &id, name, arguments, signature.take()),
                    FrameKind::Arguments,
                ));
            }
        }
    }
    if let (usize::MAX, Some(signature), Some((part, _))) = (size, signature, parts.last_mut()) {
        part["thoughtSignature"] = json!(signature);
    }
    parts
}

fn pieces_of(text: &str, size: usize) -> Vec<String> {
    if size == usize::MAX { vec![text.to_owned()] } else { pieces(text, size) }
}

/// Calls have ids since Gemini 3.
fn call(
    answer: &WireReply,
    id: &str,
    name: &str,
    arguments: &str,
    signature: Option<String>,
) -> Value {
    let mut call = json!({"name": name, "args": object(arguments)});
    if !answer.model.contains("gemini-2") {
        call["id"] = json!(id);
    }
    let mut part = json!({"functionCall": call});
    if let Some(signature) = signature {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

/// Returns the empty text at the end of a stream, with the signature if there is no call.
fn last_part(answer: &WireReply) -> Value {
    let mut part = json!({"text": ""});
    if answer.reply.reasoning.is_some() && !answer.calls_tools() {
        part["thoughtSignature"] = json!(answer.signature(Format::Gemini));
    }
    part
}
