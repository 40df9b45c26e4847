//! What a request to Chat Completions has to be.

use serde_json::Value;

use super::super::ledger::Replayed;
use super::tools::Rules;
use super::turns::{Side, Turn};
use super::{Findings, Seen, arguments, elements, media, text_of, tools, turns};

const FIELDS: [&str; 32] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "n",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "user",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "seed",
    "service_tier",
    "store",
    "metadata",
    "reasoning_effort",
    "verbosity",
    "modalities",
    "prediction",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "safety_identifier",
];

/// What llama.cpp's server takes besides.
const LLAMA: [&str; 5] =
    ["cache_prompt", "chat_template_kwargs", "top_k", "min_p", "reasoning_format"];

pub(super) fn check(seen: &Seen, findings: &mut Findings) -> Vec<Replayed> {
    let body = seen.body;
    let more: &[&str] = if seen.keyless { &LLAMA } else { &[] };
    findings.known(body, "body", &[&FIELDS, more].concat());
    findings.demand(body["model"].is_string(), "model", "must be there");
    let both = !body["max_tokens"].is_null() && !body["max_completion_tokens"].is_null();
    findings.demand(!both, "max_tokens", "cannot stand beside max_completion_tokens");
    let options = &body["stream_options"];
    findings.known_if_there(options, "stream_options", &["include_usage", "include_obfuscation"]);
    findings.demand(options.is_null() || seen.streams, "stream_options", "needs a stream");
    offered(body, findings);
    messages(&body["messages"], findings);
    Vec::new()
}

fn offered(body: &Value, findings: &mut Findings) {
    let offered = elements(&body["tools"]);
    for (index, tool) in offered.iter().enumerate() {
        let at = format!("tools[{index}]");
        findings.known(tool, &at, &["type", "function"]);
        findings.demand(tool["type"] == "function", &at, "must be a function");
        let (function, at) = (&tool["function"], format!("{at}.function"));
        findings.known(function, &at, &["name", "description", "parameters", "strict"]);
        tools::name(&function["name"], &at, findings);
        let rules = if function["strict"] == true { Rules::Strict } else { Rules::Plain };
        tools::schema(&function["parameters"], &format!("{at}.parameters"), rules, findings);
    }
    tools::distinct(offered.iter().map(|tool| &tool["function"]["name"]), findings);
    for field in ["tool_choice", "parallel_tool_calls"] {
        findings.demand(body[field].is_null() || !offered.is_empty(), field, "needs tools");
    }
}

fn messages(messages: &Value, findings: &mut Findings) {
    let mut turns = Vec::new();
    let mut results = false;
    for (index, message) in elements(messages).iter().enumerate() {
        let at = format!("messages[{index}]");
        let role = text_of(&message["role"]);
        match role {
            "system" | "developer" => {
                findings.known(message, &at, &["role", "content", "name"]);
                content(&message["content"], &at, &["text"], findings);
            }
            "user" => {
                findings.known(message, &at, &["role", "content", "name"]);
                turns::turn(&mut turns, &at, Side::User, results).speak();
                content(
                    &message["content"],
                    &at,
                    &["text", "image_url", "input_audio", "file"],
                    findings,
                );
            }
            "tool" => {
                findings.known(message, &at, &["role", "content", "tool_call_id"]);
                let turn = turns::turn(&mut turns, &at, Side::User, true);
                turn.answer(text_of(&message["tool_call_id"]));
                result(&message["content"], &at, findings);
            }
            "assistant" => {
                let turn = turns::turn(&mut turns, &at, Side::Model, false);
                assistant(message, turn, &at, findings);
            }
            other => findings.add(&at, &format!("there is no role `{other}`")),
        }
        results = role == "tool";
    }
    turns::check(&turns, "messages", findings);
    turns::distinct(&turns, "messages", findings);
}

/// What a tool said may be nothing, and is never a picture.
fn result(value: &Value, at: &str, findings: &mut Findings) {
    if value.as_str() != Some("") {
        content(value, at, &["text"], findings);
    }
}

fn content(content: &Value, at: &str, kinds: &[&str], findings: &mut Findings) {
    if let Some(text) = content.as_str() {
        return findings.demand(!text.is_empty(), at, "the text is empty");
    }
    findings.demand(!elements(content).is_empty(), at, "there is no content");
    for (index, part) in elements(content).iter().enumerate() {
        let at = format!("{at}.content[{index}]");
        let kind = text_of(&part["type"]);
        findings.demand(kinds.contains(&kind), &at, &format!("there is no part `{kind}` here"));
        findings.known(part, &at, &["type", kind]);
        match kind {
            "text" => findings.demand(part["text"].is_string(), &at, "must have a text"),
            "image_url" => {
                findings.known(&part["image_url"], &at, &["url", "detail"]);
                media::url(text_of(&part["image_url"]["url"]), &at, findings);
            }
            _ => {}
        }
    }
}

fn assistant(message: &Value, turn: &mut Turn, at: &str, findings: &mut Findings) {
    let fields = ["role", "content", "name", "refusal", "tool_calls", "audio", "reasoning_content"];
    findings.known(message, at, &fields);
    if message["content"].as_str().is_some_and(|text| !text.is_empty())
        || message["content"].is_array()
    {
        turn.speak();
        content(&message["content"], at, &["text", "refusal"], findings);
    }
    let calls = &message["tool_calls"];
    let listed = calls.is_null() || !elements(calls).is_empty();
    findings.demand(listed, at, "`tool_calls` must list calls or be left out");
    for (index, call) in elements(calls).iter().enumerate() {
        let at = format!("{at}.tool_calls[{index}]");
        findings.known(call, &at, &["id", "type", "function"]);
        findings.demand(call["type"] == "function", &at, "must be a function");
        findings.demand(!text_of(&call["id"]).is_empty(), &at, "must have an id");
        findings.known(&call["function"], &at, &["name", "arguments"]);
        tools::name(&call["function"]["name"], &at, findings);
        arguments(&call["function"]["arguments"], &at, findings);
        turn.call(text_of(&call["id"]));
    }
}
