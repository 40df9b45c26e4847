//! The rules of Chat Completions.

use serde_json::Value;

use super::super::ledger::Replayed;
use super::tools::Rules;
use super::turns::{Side, Turn};
use super::{CheckedRequest, Violations, arguments, elements, media, text_of, tools, turns};

const FIELDS: &str = "
    model messages stream stream_options max_tokens max_completion_tokens temperature top_p n
    stop presence_penalty frequency_penalty logit_bias logprobs top_logprobs user tools
    tool_choice parallel_tool_calls response_format seed service_tier store metadata
    reasoning_effort verbosity modalities prediction prompt_cache_key prompt_cache_retention
    prompt_cache_options safety_identifier
";

/// Additional fields of llama.cpp's server.
const LLAMA: &str = "cache_prompt chat_template_kwargs top_k min_p reasoning_format";

pub(super) fn check(request: &CheckedRequest, violations: &mut Violations) -> Vec<Replayed> {
    let body = request.body;
    let more = if request.keyless { LLAMA } else { "" };
    violations.known(body, "body", &format!("{FIELDS} {more}"));
    violations.demand(body["model"].is_string(), "model", "must be there");
    let both = !body["max_tokens"].is_null() && !body["max_completion_tokens"].is_null();
    violations.demand(!both, "max_tokens", "cannot be combined with max_completion_tokens");
    let options = &body["stream_options"];
    violations.known_if_there(options, "stream_options", "include_usage include_obfuscation");
    violations.demand(options.is_null() || request.streams, "stream_options", "needs a stream");
    offered(body, violations);
    messages(&body["messages"], violations);
    Vec::new()
}

fn offered(body: &Value, violations: &mut Violations) {
    let tools = elements(&body["tools"]);
    for (index, tool) in tools.iter().enumerate() {
        let at = format!("tools[{index}]");
        violations.known(tool, &at, "type function");
        violations.demand(tool["type"] == "function", &at, "must be a function");
        let (function, at) = (&tool["function"], format!("{at}.function"));
        violations.known(function, &at, "name description parameters strict");
        tools::name(&function["name"], &at, violations);
        let rules = if function["strict"] == true { Rules::Strict } else { Rules::Plain };
        tools::schema(&function["parameters"], &format!("{at}.parameters"), rules, violations);
    }
    tools::distinct(tools.iter().map(|tool| &tool["function"]["name"]), violations);
    for field in ["tool_choice", "parallel_tool_calls"] {
        violations.demand(body[field].is_null() || !tools.is_empty(), field, "needs tools");
    }
}

fn messages(messages: &Value, violations: &mut Violations) {
    let mut turns = Vec::new();
    let mut results = false;
    for (index, message) in elements(messages).iter().enumerate() {
        let at = format!("messages[{index}]");
        let role = text_of(&message["role"]);
        match role {
            "system" | "developer" => {
                violations.known(message, &at, "role content name");
                content(&message["content"], &at, &["text"], violations);
            }
            "user" => {
                violations.known(message, &at, "role content name");
                turns::turn(&mut turns, &at, Side::User, results).speak();
                content(
                    &message["content"],
                    &at,
                    &["text", "image_url", "input_audio", "file"],
                    violations,
                );
            }
            "tool" => {
                violations.known(message, &at, "role content tool_call_id");
                let turn = turns::turn(&mut turns, &at, Side::User, true);
                turn.answer(text_of(&message["tool_call_id"]));
                result(&message["content"], &at, violations);
            }
            "assistant" => {
                let turn = turns::turn(&mut turns, &at, Side::Model, false);
                assistant(message, turn, &at, violations);
            }
            other => violations.add(&at, &format!("there is no role `{other}`")),
        }
        results = role == "tool";
    }
    turns::check(&turns, "messages", violations);
    turns::distinct(&turns, "messages", violations);
}

/// Checks a tool result, which may be empty, and cannot be an image.
fn result(value: &Value, at: &str, violations: &mut Violations) {
    if value.as_str() != Some("") {
        content(value, at, &["text"], violations);
    }
}

fn content(content: &Value, at: &str, kinds: &[&str], violations: &mut Violations) {
    if let Some(text) = content.as_str() {
        return violations.demand(!text.is_empty(), at, "the text is empty");
    }
    violations.demand(!elements(content).is_empty(), at, "there is no content");
    for (index, part) in elements(content).iter().enumerate() {
        let at = format!("{at}.content[{index}]");
        let kind = text_of(&part["type"]);
        violations.demand(kinds.contains(&kind), &at, &format!("there is no part `{kind}` here"));
        violations.known(part, &at, &format!("type {kind}"));
        match kind {
            "text" => violations.demand(part["text"].is_string(), &at, "must have a text"),
            "image_url" => {
                violations.known(&part["image_url"], &at, "url detail");
                media::url(text_of(&part["image_url"]["url"]), &at, violations);
            }
            _ => {}
        }
    }
}

fn assistant(message: &Value, turn: &mut Turn, at: &str, violations: &mut Violations) {
    let fields = "role content name refusal tool_calls audio reasoning_content";
    violations.known(message, at, fields);
    if message["content"].as_str().is_some_and(|text| !text.is_empty())
        || message["content"].is_array()
    {
        turn.speak();
        content(&message["content"], at, &["text", "refusal"], violations);
    }
    let calls = &message["tool_calls"];
    let is_list = calls.is_null() || !elements(calls).is_empty();
    violations.demand(is_list, at, "`tool_calls` must list calls or be left out");
    for (index, call) in elements(calls).iter().enumerate() {
        let at = format!("{at}.tool_calls[{index}]");
        violations.known(call, &at, "id type function");
        violations.demand(call["type"] == "function", &at, "must be a function");
        violations.demand(!text_of(&call["id"]).is_empty(), &at, "must have an id");
        violations.known(&call["function"], &at, "name arguments");
        tools::name(&call["function"]["name"], &at, violations);
        arguments(&call["function"]["arguments"], &at, violations);
        turn.call(text_of(&call["id"]));
    }
}
