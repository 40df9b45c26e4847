//! Requests as a careful client of each format sends them, and how it reads streamed replies.

use serde_json::{Value, json};
use tenter_model_server::Format;

use crate::client::HttpResponse;

/// A request with the user message `text` and one tool.
pub(crate) fn ask(format: Format, text: &str) -> Value {
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

/// The messages of a request.
pub(crate) fn conversation(format: Format, body: &mut Value) -> &mut Vec<Value> {
    let field = match format {
        Format::Anthropic | Format::Chat => "messages",
        Format::Responses => "input",
        Format::Gemini => "contents",
    };
    body[field].as_array_mut().unwrap()
}

/// A reply as the client reads it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SpokenResponse {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) signature: String,
    /// Ids, names and arguments as text.
    pub(crate) calls: Vec<(String, String, String)>,
    /// Tokens: uncached input, output, cached input.
    pub(crate) usage: (u64, u64, u64),
    pub(crate) stop: String,
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Reads a streamed reply.
pub(crate) fn hear(format: Format, answer: &HttpResponse) -> SpokenResponse {
    assert_eq!((answer.status, answer.complete), (200, true), "{answer:?}");
    let mut said = SpokenResponse::default();
    for event in answer.data() {
        match format {
            Format::Anthropic => hear_anthropic(&event, &mut said),
            Format::Responses => hear_responses(&event, &mut said),
            Format::Chat => hear_chat(&event, &mut said),
            Format::Gemini => hear_gemini(&event, &mut said),
        }
    }
    said
}

fn hear_anthropic(event: &Value, said: &mut SpokenResponse) {
    let (block, delta) = (&event["content_block"], &event["delta"]);
    if block["type"] == "tool_use" {
        said.calls.push((
            text(&block["id"]).to_owned(),
            text(&block["name"]).to_owned(),
            String::new(),
        ));
    }
    said.text.push_str(text(&delta["text"]));
    said.reasoning.push_str(text(&delta["thinking"]));
    said.signature.push_str(text(&delta["signature"]));
    if let (Some(call), Some(piece)) = (said.calls.last_mut(), delta["partial_json"].as_str()) {
        call.2.push_str(piece);
    }
    if event["type"] == "message_delta" {
        let usage = &event["usage"];
        let input = count(&usage["input_tokens"]) + count(&usage["cache_creation_input_tokens"]);
        said.usage =
            (input, count(&usage["output_tokens"]), count(&usage["cache_read_input_tokens"]));
        text(&delta["stop_reason"]).clone_into(&mut said.stop);
    }
}

fn hear_responses(event: &Value, said: &mut SpokenResponse) {
    match text(&event["type"]) {
        "response.output_text.delta" => said.text.push_str(text(&event["delta"])),
        "response.reasoning_summary_text.delta" => said.reasoning.push_str(text(&event["delta"])),
        "response.function_call_arguments.delta" => {
            said.calls.last_mut().unwrap().2.push_str(text(&event["delta"]));
        }
        "response.output_item.added" if event["item"]["type"] == "function_call" => {
            let item = &event["item"];
            said.calls.push((
                text(&item["call_id"]).to_owned(),
                text(&item["name"]).to_owned(),
                String::new(),
            ));
        }
        "response.output_item.done" => {
            said.signature.push_str(text(&event["item"]["encrypted_content"]));
        }
        "response.completed" | "response.incomplete" => {
            let usage = &event["response"]["usage"];
            let cached = count(&usage["input_tokens_details"]["cached_tokens"]);
            said.usage =
                (count(&usage["input_tokens"]) - cached, count(&usage["output_tokens"]), cached);
            let why = text(&event["response"]["incomplete_details"]["reason"]);
            said.stop.push_str(if why.is_empty() {
                text(&event["response"]["status"])
            } else {
                why
            });
        }
        _ => {}
    }
}

fn hear_chat(event: &Value, said: &mut SpokenResponse) {
    let choice = &event["choices"][0];
    let delta = &choice["delta"];
    said.text.push_str(text(&delta["content"]));
    said.reasoning.push_str(text(&delta["reasoning_content"]));
    said.stop.push_str(text(&choice["finish_reason"]));
    for call in delta["tool_calls"].as_array().into_iter().flatten() {
        if let Some(id) = call["id"].as_str() {
            assert_eq!(count(&call["index"]), said.calls.len() as u64);
            said.calls.push((
                id.to_owned(),
                text(&call["function"]["name"]).to_owned(),
                String::new(),
            ));
        }
        said.calls.last_mut().unwrap().2.push_str(text(&call["function"]["arguments"]));
    }
    if event["choices"] == json!([]) {
        let usage = &event["usage"];
        let cached = count(&usage["prompt_tokens_details"]["cached_tokens"]);
        said.usage =
            (count(&usage["prompt_tokens"]) - cached, count(&usage["completion_tokens"]), cached);
    }
}

fn hear_gemini(event: &Value, said: &mut SpokenResponse) {
    let candidate = &event["candidates"][0];
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        said.signature.push_str(text(&part["thoughtSignature"]));
        let place = if part["thought"] == true { &mut said.reasoning } else { &mut said.text };
        place.push_str(text(&part["text"]));
        if let Some(call) = part.get("functionCall") {
            let id = text(&call["id"]).to_owned();
            said.calls.push((id, text(&call["name"]).to_owned(), call["args"].to_string()));
        }
    }
    said.stop.push_str(text(&candidate["finishReason"]));
    let usage = &event["usageMetadata"];
    let cached = count(&usage["cachedContentTokenCount"]);
    let output = count(&usage["candidatesTokenCount"]) + count(&usage["thoughtsTokenCount"]);
    said.usage = (count(&usage["promptTokenCount"]) - cached, output, cached);
}

/// Appends the reply to the conversation, then a result for every call, or a user message if there is none.
pub(crate) fn continue_with(format: Format, body: &mut Value, said: &SpokenResponse) {
    let messages = conversation(format, body);
    match format {
        Format::Anthropic => anthropic(messages, said),
        Format::Responses => responses(messages, said),
        Format::Chat => chat(messages, said),
        Format::Gemini => gemini(messages, said),
    }
}

fn object(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap()
}

fn anthropic(messages: &mut Vec<Value>, said: &SpokenResponse) {
    let mut content = Vec::new();
    if !said.signature.is_empty() {
        content.push(
            json!({"type": "thinking", "thinking": said.reasoning, "signature": said.signature}),
        );
    }
    if !said.text.is_empty() {
        content.push(json!({"type": "text", "text": said.text}));
    }
    let calls = said.calls.iter();
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

fn responses(items: &mut Vec<Value>, said: &SpokenResponse) {
    if !said.signature.is_empty() {
        let summary = json!([{"type": "summary_text", "text": said.reasoning}]);
        let signature = &said.signature;
        items.push(json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": signature}));
    }
    if !said.text.is_empty() {
        let content = json!([{"type": "output_text", "text": said.text, "annotations": []}]);
        items.push(json!({"type": "message", "role": "assistant", "content": content, "status": "completed"}));
    }
    for (id, name, arguments) in &said.calls {
        items.push(
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}),
        );
    }
    for (id, _, _) in &said.calls {
        items.push(json!({"type": "function_call_output", "call_id": id, "output": "fine"}));
    }
    if said.calls.is_empty() {
        let content = json!([{"type": "input_text", "text": "continue"}]);
        items.push(json!({"type": "message", "role": "user", "content": content}));
    }
}

fn chat(messages: &mut Vec<Value>, said: &SpokenResponse) {
    let mut message = json!({"role": "assistant", "content": said.text});
    let call = |(id, name, arguments): &(String, String, String)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    if said.calls.is_empty() {
        messages.push(message);
        messages.push(json!({"role": "user", "content": "continue"}));
        return;
    }
    message["tool_calls"] = said.calls.iter().map(call).collect();
    messages.push(message);
    for (id, _, _) in &said.calls {
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "fine"}));
    }
}

fn gemini(contents: &mut Vec<Value>, said: &SpokenResponse) {
    let mut parts = Vec::new();
    if !said.text.is_empty() {
        parts.push(json!({"text": said.text}));
    }
    parts.extend(said.calls.iter().map(|(id, name, arguments)| {
        json!({"functionCall": {"id": id, "name": name, "args": object(arguments)}})
    }));
    let signed = usize::from(!said.text.is_empty() && !said.calls.is_empty());
    if !said.signature.is_empty() {
        parts[signed]["thoughtSignature"] = json!(said.signature);
    }
    contents.push(json!({"role": "model", "parts": parts}));
    let mut answers: Vec<Value> = said
        .calls
        .iter()
        .map(|(id, name, _)| json!({"functionResponse": {"id": id, "name": name, "response": {"result": "fine"}}}))
        .collect();
    if answers.is_empty() {
        answers.push(json!({"text": "continue"}));
    }
    contents.push(json!({"role": "user", "parts": answers}));
}
