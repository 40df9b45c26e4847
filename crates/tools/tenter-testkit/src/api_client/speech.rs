//! Requests as a careful client of each format sends them, and how it reads streamed replies.

use serde_json::{Value, json};
use tenter_model_server::Format;

use super::HttpResponse;

/// Returns a request with the user message `text` and one tool.
pub fn ask(format: Format, text: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]});
    match format {
        Format::Anthropic => json!({
            "model": "claude", "max_tokens": 2000, "stream": true,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "thinking": {"type": "adaptive"},
            "output_config": {"effort": "low"},
            "tools": [{"name": "bash", "description": "Runs.", "input_schema": schema, "eager_input_streaming": true}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
        }),
        Format::Responses => json!({
            "model": "gpt", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
            "instructions": "Be brief.", "reasoning": {"effort": "low", "summary": "auto"},
            "tools": [{"type": "function", "name": "bash", "description": "Runs.", "parameters": schema, "strict": false}],
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}],
        }),
        Format::Chat => json!({
            "model": "gpt", "stream": true, "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {"name": "bash", "description": "Runs.", "parameters": schema}}],
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}],
        }),
        Format::Gemini => json!({
            "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
            "generationConfig": {"thinkingConfig": {"includeThoughts": true, "thinkingLevel": "low"}},
            "tools": [{"functionDeclarations": [{"name": "bash", "description": "Runs.", "parametersJsonSchema": schema}]}],
            "contents": [{"role": "user", "parts": [{"text": text}]}],
        }),
    }
}

/// Returns the messages of a request.
pub fn conversation(format: Format, body: &mut Value) -> &mut Vec<Value> {
    let field = match format {
        Format::Anthropic | Format::Chat => "messages",
        Format::Responses => "input",
        Format::Gemini => "contents",
    };
    body[field].as_array_mut().unwrap()
}

/// A reply as the client reads it.
#[derive(Debug, Default, PartialEq)]
pub struct SpokenResponse {
    pub text: String,
    pub reasoning: String,
    pub signature: String,
    /// Ids, names and arguments as text.
    pub calls: Vec<(String, String, String)>,
    /// Tokens: uncached input, output, cached input.
    pub usage: (u64, u64, u64),
    pub stop: String,
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Reads a streamed reply.
pub fn hear(format: Format, answer: &HttpResponse) -> SpokenResponse {
    assert_eq!((answer.status, answer.complete), (200, true), "{answer:?}");
    let mut reply = SpokenResponse::default();
    for event in answer.data() {
        match format {
            Format::Anthropic => hear_anthropic(&event, &mut reply),
            Format::Responses => hear_responses(&event, &mut reply),
            Format::Chat => hear_chat(&event, &mut reply),
            Format::Gemini => hear_gemini(&event, &mut reply),
        }
    }
    reply
}

fn hear_anthropic(event: &Value, reply: &mut SpokenResponse) {
    let (block, delta) = (&event["content_block"], &event["delta"]);
    if block["type"] == "tool_use" {
        reply.calls.push((
            text(&block["id"]).to_owned(),
            text(&block["name"]).to_owned(),
            String::new(),
        ));
    }
    reply.text.push_str(text(&delta["text"]));
    reply.reasoning.push_str(text(&delta["thinking"]));
    reply.signature.push_str(text(&delta["signature"]));
    if let (Some(call), Some(piece)) = (reply.calls.last_mut(), delta["partial_json"].as_str()) {
        call.2.push_str(piece);
    }
    if event["type"] == "message_delta" {
        let usage = &event["usage"];
        let input = count(&usage["input_tokens"]) + count(&usage["cache_creation_input_tokens"]);
        reply.usage =
            (input, count(&usage["output_tokens"]), count(&usage["cache_read_input_tokens"]));
        text(&delta["stop_reason"]).clone_into(&mut reply.stop);
    }
}

fn hear_responses(event: &Value, reply: &mut SpokenResponse) {
    match text(&event["type"]) {
        "response.output_text.delta" => reply.text.push_str(text(&event["delta"])),
        "response.reasoning_summary_text.delta" => reply.reasoning.push_str(text(&event["delta"])),
        "response.function_call_arguments.delta" => {
            reply.calls.last_mut().unwrap().2.push_str(text(&event["delta"]));
        }
        "response.output_item.added" if event["item"]["type"] == "function_call" => {
            let item = &event["item"];
            reply.calls.push((
                text(&item["call_id"]).to_owned(),
                text(&item["name"]).to_owned(),
                String::new(),
            ));
        }
        "response.output_item.done" => {
            reply.signature.push_str(text(&event["item"]["encrypted_content"]));
        }
        "response.completed" | "response.incomplete" => {
            let usage = &event["response"]["usage"];
            let cached_tokens = count(&usage["input_tokens_details"]["cached_tokens"]);
            reply.usage = (
                count(&usage["input_tokens"]) - cached_tokens,
                count(&usage["output_tokens"]),
                cached_tokens,
            );
            let why = text(&event["response"]["incomplete_details"]["reason"]);
            reply.stop.push_str(if why.is_empty() {
                text(&event["response"]["status"])
            } else {
                why
            });
        }
        _ => {}
    }
}

pub(super) fn hear_chat(event: &Value, reply: &mut SpokenResponse) {
    let choice = &event["choices"][0];
    let delta = choice.get("delta").unwrap_or(&choice["message"]);
    reply.text.push_str(text(&delta["content"]));
    reply.reasoning.push_str(text(&delta["reasoning_content"]));
    reply.stop.push_str(text(&choice["finish_reason"]));
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        if let Some(id) = call["id"].as_str() {
            assert!(call.get("index").is_none_or(|index| count(index) == reply.calls.len() as u64));
            reply.calls.push((
                id.to_owned(),
                text(&call["function"]["name"]).to_owned(),
                String::new(),
            ));
        }
        reply.calls.last_mut().unwrap().2.push_str(text(&call["function"]["arguments"]));
    }
    let usage = &event["usage"];
    if usage.is_object() {
        let cached_tokens = count(&usage["prompt_tokens_details"]["cached_tokens"]);
        reply.usage = (
            count(&usage["prompt_tokens"]) - cached_tokens,
            count(&usage["completion_tokens"]),
            cached_tokens,
        );
    }
}

pub(super) fn hear_gemini(event: &Value, reply: &mut SpokenResponse) {
    let candidate = &event["candidates"][0];
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        reply.signature.push_str(text(&part["thoughtSignature"]));
        let place = if part["thought"] == true { &mut reply.reasoning } else { &mut reply.text };
        place.push_str(text(&part["text"]));
        if let Some(call) = part.get("functionCall") {
            let id = text(&call["id"]).to_owned();
            reply.calls.push((id, text(&call["name"]).to_owned(), call["args"].to_string()));
        }
    }
    reply.stop.push_str(text(&candidate["finishReason"]));
    let usage = &event["usageMetadata"];
    let cached_tokens = count(&usage["cachedContentTokenCount"]);
    let output = count(&usage["candidatesTokenCount"]) + count(&usage["thoughtsTokenCount"]);
    reply.usage = (count(&usage["promptTokenCount"]) - cached_tokens, output, cached_tokens);
}

/// Appends the reply to the conversation, then a result for every call, or a user message if there is none.
pub fn continue_with(format: Format, body: &mut Value, reply: &SpokenResponse) {
    let messages = conversation(format, body);
    match format {
        Format::Anthropic => anthropic(messages, reply),
        Format::Responses => responses(messages, reply),
        Format::Chat => chat(messages, reply),
        Format::Gemini => gemini(messages, reply),
    }
}

fn object(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap()
}

fn anthropic(messages: &mut Vec<Value>, reply: &SpokenResponse) {
    let mut content = Vec::new();
    if !reply.signature.is_empty() {
        content.push(
            json!({"type": "thinking", "thinking": reply.reasoning, "signature": reply.signature}),
        );
    }
    if !reply.text.is_empty() {
        content.push(json!({"type": "text", "text": reply.text}));
    }
    let calls = reply.calls.iter();
    content.extend(calls.clone().map(|(id, name, arguments)| {
        json!({"type": "tool_use", "id": id, "name": name, "input": object(arguments)})
    }));
    messages.push(json!({"role": "assistant", "content": content}));
    let mut answers: Vec<Value> = calls
        .map(|(id, _, _)| json!({"type": "tool_result", "tool_use_id": id, "content": "fine", "is_error": false}))
        .collect();
    if answers.is_empty() {
        answers.push(json!({"type": "text", "text": "continue"}));
    }
    messages.push(json!({"role": "user", "content": answers}));
}

fn responses(items: &mut Vec<Value>, reply: &SpokenResponse) {
    if !reply.signature.is_empty() {
        let summary = json!([{"type": "summary_text", "text": reply.reasoning}]);
        let signature = &reply.signature;
        items.push(json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": signature}));
    }
    if !reply.text.is_empty() {
        let content = json!([{"type": "output_text", "text": reply.text, "annotations": []}]);
        items.push(json!({"type": "message", "role": "assistant", "content": content, "status": "completed"}));
    }
    for (id, name, arguments) in &reply.calls {
        items.push(
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}),
        );
    }
    for (id, _, _) in &reply.calls {
        items.push(json!({"type": "function_call_output", "call_id": id, "output": "fine"}));
    }
    if reply.calls.is_empty() {
        let content = json!([{"type": "input_text", "text": "continue"}]);
        items.push(json!({"type": "message", "role": "user", "content": content}));
    }
}

fn chat(messages: &mut Vec<Value>, reply: &SpokenResponse) {
    let mut message = json!({"role": "assistant", "content": reply.text});
    let call = |(id, name, arguments): &(String, String, String)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    if reply.calls.is_empty() {
        messages.push(message);
        messages.push(json!({"role": "user", "content": "continue"}));
        return;
    }
    message["tool_calls"] = reply.calls.iter().map(call).collect();
    messages.push(message);
    for (id, _, _) in &reply.calls {
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "fine"}));
    }
}

fn gemini(contents: &mut Vec<Value>, reply: &SpokenResponse) {
    let mut parts = Vec::new();
    if !reply.text.is_empty() {
        parts.push(json!({"text": reply.text}));
    }
    parts.extend(reply.calls.iter().map(|(id, name, arguments)| {
        json!({"functionCall": {"id": id, "name": name, "args": object(arguments)}})
    }));
    let count = usize::from(!reply.text.is_empty() && !reply.calls.is_empty());
    if !reply.signature.is_empty() {
        parts[count]["thoughtSignature"] = json!(reply.signature);
    }
    contents.push(json!({"role": "model", "parts": parts}));
    let mut answers: Vec<Value> = reply
        .calls
        .iter()
        .map(|(id, name, _)| json!({"functionResponse": {"id": id, "name": name, "response": {"result": "fine"}}}))
        .collect();
    if answers.is_empty() {
        answers.push(json!({"text": "continue"}));
    }
    contents.push(json!({"role": "user", "parts": answers}));
}
