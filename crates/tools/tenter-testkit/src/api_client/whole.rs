//! Reads replies that are not streamed; sends requests in every way.

use serde_json::Value;
use tenter_model_server::{Format, ModelServer};

use super::speech::{hear_chat, hear_gemini};
use super::{HttpResponse, SpokenResponse, hear, send, send_whole};

/// Returns every format, streaming and not.
pub fn ways() -> impl Iterator<Item = (Format, bool)> {
    Format::ALL.into_iter().flat_map(|format| [(format, true), (format, false)])
}

/// Sends a request in one of the ways, and reads the reply.
pub fn talk(server: &ModelServer, way: (Format, bool), body: &Value) -> SpokenResponse {
    match way {
        (format, true) => hear(format, &send(server, format, body)),
        (format, false) => hear_whole(format, &send_whole(server, format, body)),
    }
}

fn hear_whole(format: Format, answer: &HttpResponse) -> SpokenResponse {
    assert_eq!((answer.status, answer.complete), (200, true), "{answer:?}");
    let answer = answer.json();
    let mut reply = SpokenResponse::default();
    match format {
        Format::Anthropic => anthropic(&answer, &mut reply),
        Format::Responses => responses(&answer, &mut reply),
        // A part of a stream has the fields of a whole reply.
        Format::Chat => hear_chat(&answer, &mut reply),
        Format::Gemini => hear_gemini(&answer, &mut reply),
    }
    reply
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn anthropic(answer: &Value, reply: &mut SpokenResponse) {
    for block in answer["content"].as_array().unwrap() {
        reply.text.push_str(&text(&block["text"]));
        if block["type"] == "tool_use" {
            reply.calls.push((
                text(&block["id"]),
                text(&block["name"]),
                block["input"].to_string(),
            ));
        }
    }
    let usage = &answer["usage"];
    reply.usage = (count(&usage["input_tokens"]), count(&usage["output_tokens"]), 0);
    reply.stop = text(&answer["stop_reason"]);
}

fn responses(answer: &Value, reply: &mut SpokenResponse) {
    for item in answer["output"].as_array().unwrap() {
        reply.text.push_str(&text(&item["content"][0]["text"]));
        if item["type"] == "function_call" {
            let (id, name) = (text(&item["call_id"]), text(&item["name"]));
            reply.calls.push((id, name, text(&item["arguments"])));
        }
    }
    let usage = &answer["usage"];
    reply.usage = (count(&usage["input_tokens"]), count(&usage["output_tokens"]), 0);
    reply.stop = text(&answer["status"]);
}
