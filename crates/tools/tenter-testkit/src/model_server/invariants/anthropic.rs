//! The rules of Anthropic's Messages.

use serde_json::Value;

use super::super::ledger::{Anchor, Replayed};
use super::tools::Rules;
use super::turns::{Side, Turn};
use super::{CheckedRequest, Violations, elements, media, text_of, tools, turns};

const FIELDS: &str = "
    model messages max_tokens system stream temperature top_p top_k stop_sequences tools
    tool_choice thinking metadata service_tier container context_management mcp_servers
    output_config output_format cache_control inference_geo speed
";

const TOOL: &str = "
    name description input_schema type cache_control strict eager_input_streaming defer_loading
    input_examples allowed_callers
";

/// Maximum number of cache markers in a request.
const MARKERS: usize = 4;

pub(super) fn check(request: &CheckedRequest, violations: &mut Violations) -> Vec<Replayed> {
    let body = request.body;
    violations.known(body, "body", FIELDS);
    let limit = body["max_tokens"].as_u64().is_some_and(|tokens| tokens > 0);
    violations.demand(limit || request.keyless, "max_tokens", "must be a number above 0");
    violations.demand(body["model"].is_string(), "model", "must be there");
    settings(body, violations);
    system(&body["system"], violations);
    offered(body, violations);
    markers(body, violations);
    messages(&body["messages"], violations)
}

fn settings(body: &Value, violations: &mut Violations) {
    let thinking = &body["thinking"];
    violations.known_if_there(thinking, "thinking", "type budget_tokens display block_binding");
    let kind = text_of(&thinking["type"]);
    let is_known = ["enabled", "disabled", "adaptive", "between_tools"].contains(&kind);
    violations.demand(thinking.is_null() || is_known, "thinking.type", "is unknown");
    if kind == "enabled" {
        let budget = thinking["budget_tokens"].as_u64().unwrap_or(0);
        let fits = budget >= 1024 && budget < body["max_tokens"].as_u64().unwrap_or(0);
        violations.demand(
            fits,
            "thinking.budget_tokens",
            "must be 1024 or more, and below max_tokens",
        );
    }
    violations.known_if_there(&body["output_config"], "output_config", "effort format task_budget");
    if let Some(effort) = body["output_config"].get("effort") {
        let is_known = ["low", "medium", "high", "xhigh", "max"].contains(&text_of(effort));
        violations.demand(is_known, "output_config.effort", "is unknown");
    }
    let warm = body["temperature"].as_f64().is_none_or(|warm| (0.0..=1.0).contains(&warm));
    violations.demand(warm, "temperature", "must be between 0 and 1");
}

fn system(system: &Value, violations: &mut Violations) {
    violations.demand(system.as_str() != Some(""), "system", "must not be empty");
    for (index, block) in elements(system).iter().enumerate() {
        text(block, &format!("system[{index}]"), violations);
    }
}

fn offered(body: &Value, violations: &mut Violations) {
    let tools = elements(&body["tools"]);
    for (index, tool) in tools.iter().enumerate() {
        let at = format!("tools[{index}]");
        violations.known(tool, &at, TOOL);
        let custom = tool.get("type").is_none_or(|kind| kind == "custom");
        violations.demand(custom, &at, "only custom tools are supported");
        tools::name(&tool["name"], &at, violations);
        tools::schema(
            &tool["input_schema"],
            &format!("{at}.input_schema"),
            Rules::Plain,
            violations,
        );
    }
    tools::distinct(tools.iter().map(|tool| &tool["name"]), violations);
    let choice = &body["tool_choice"];
    violations.known_if_there(choice, "tool_choice", "type name disable_parallel_tool_use");
    violations.demand(choice.is_null() || !tools.is_empty(), "tool_choice", "needs tools");
    let uses = elements(&body["messages"])
        .iter()
        .flat_map(|message| elements(&message["content"]))
        .any(|block| block["type"] == "tool_use" || block["type"] == "tool_result");
    violations.demand(!uses || !tools.is_empty(), "tools", "calls in the messages need tools");
}

/// Checks the cache markers. Blocks of thinking cannot have one.
fn markers(body: &Value, violations: &mut Violations) {
    let blocks =
        elements(&body["messages"]).iter().flat_map(|message| elements(&message["content"]));
    let marks: Vec<&Value> = elements(&body["tools"])
        .iter()
        .chain(elements(&body["system"]))
        .chain(blocks)
        .chain([body])
        .filter_map(|place| place.get("cache_control"))
        .filter(|mark| !mark.is_null())
        .collect();
    violations.demand(marks.len() <= MARKERS, "cache_control", "at most 4 places can be marked");
    for mark in marks {
        violations.known(mark, "cache_control", "type ttl");
        violations.demand(mark["type"] == "ephemeral", "cache_control", "must be ephemeral");
        let lasts = mark.get("ttl").is_none_or(|ttl| ttl == "5m" || ttl == "1h");
        violations.demand(lasts, "cache_control.ttl", "must be 5m or 1h");
    }
}

fn messages(messages: &Value, violations: &mut Violations) -> Vec<Replayed> {
    let (mut turns, mut replayed) = (Vec::new(), Vec::new());
    for (index, message) in elements(messages).iter().enumerate() {
        let at = format!("messages[{index}]");
        violations.known(message, &at, "role content");
        match text_of(&message["role"]) {
            "user" => {
                user(message, turns::turn(&mut turns, &at, Side::User, false), &at, violations);
            }
            "assistant" => {
                let turn = turns::turn(&mut turns, &at, Side::Model, false);
                replayed.push(assistant(message, turn, &at, violations));
            }
            // Newer models take words of the system between the turns.
            "system" => user(message, &mut Turn::new(&at, Side::User), &at, violations),
            other => violations.add(&at, &format!("there is no role `{other}`")),
        }
    }
    turns::check(&turns, "messages", violations);
    turns::distinct(&turns, "messages", violations);
    replayed
}

fn user(message: &Value, turn: &mut Turn, at: &str, violations: &mut Violations) {
    if let Some(text) = message["content"].as_str() {
        turn.speak();
        return violations.demand(!text.trim().is_empty(), at, "the text is blank");
    }
    for (index, block) in elements(&message["content"]).iter().enumerate() {
        let at = format!("{at}.content[{index}]");
        if block["type"] == "tool_result" {
            turn.answer(text_of(&block["tool_use_id"]));
            result(block, &at, violations);
        } else {
            turn.speak();
            content(block, &at, violations);
        }
    }
}

fn result(block: &Value, at: &str, violations: &mut Violations) {
    violations.known(block, at, "type tool_use_id content is_error cache_control");
    let error = block.get("is_error").is_none_or(Value::is_boolean);
    violations.demand(error, at, "`is_error` must be true or false");
    for (index, block) in elements(&block["content"]).iter().enumerate() {
        content(block, &format!("{at}.content[{index}]"), violations);
    }
}

fn content(block: &Value, at: &str, violations: &mut Violations) {
    match text_of(&block["type"]) {
        "text" => text(block, at, violations),
        "image" => {
            violations.known(block, at, "type source cache_control");
            source(&block["source"], at, violations);
        }
        "document" => {
            violations.known(block, at, "type source title context citations cache_control");
        }
        other => violations.add(at, &format!("there is no block `{other}` here")),
    }
}

fn text(block: &Value, at: &str, violations: &mut Violations) {
    violations.known(block, at, "type text cache_control citations");
    violations.demand(!text_of(&block["text"]).trim().is_empty(), at, "the text is blank");
}

fn source(source: &Value, at: &str, violations: &mut Violations) {
    violations.known(source, at, "type media_type data url file_id");
    match text_of(&source["type"]) {
        "base64" => {
            let (kind, data) = (text_of(&source["media_type"]), text_of(&source["data"]));
            media::image(kind, data, &media::USUAL, at, violations);
        }
        "url" => media::web(text_of(&source["url"]), at, violations),
        "file" => violations.demand(source["file_id"].is_string(), at, "must name a file"),
        other => violations.add(at, &format!("there is no source `{other}`")),
    }
}

fn assistant(message: &Value, turn: &mut Turn, at: &str, violations: &mut Violations) -> Replayed {
    let mut replayed = Replayed { at: at.to_owned(), anchors: Vec::new(), signatures: Vec::new() };
    let mut whole = message["content"].as_str().unwrap_or_default().to_owned();
    if message["content"].is_string() {
        turn.speak();
    }
    for (index, block) in elements(&message["content"]).iter().enumerate() {
        let at = format!("{at}.content[{index}]");
        match text_of(&block["type"]) {
            "text" => {
                turn.speak();
                text(block, &at, violations);
                whole.push_str(text_of(&block["text"]));
            }
            "tool_use" => {
                let id = text_of(&block["id"]);
                turn.call(id);
                call(block, &at, violations);
                replayed.anchors.push(Anchor::Call(id.to_owned()));
            }
            _ => {
                turn.speak();
                let first = whole.is_empty() && replayed.anchors.is_empty();
                violations.demand(first, &at, "thinking comes before text and calls");
                replayed.signatures.extend(thinking(block, &at, violations));
            }
        }
    }
    violations.demand(
        message["content"].is_array() || !whole.trim().is_empty(),
        at,
        "the content must be a text or blocks",
    );
    if replayed.anchors.is_empty() {
        replayed.anchors.push(Anchor::text(&whole));
    }
    replayed
}

fn thinking(
    block: &Value,
    at: &str,
    violations: &mut Violations,
) -> Option<(String, Option<String>)> {
    match text_of(&block["type"]) {
        "thinking" => {
            violations.known(block, at, "type thinking signature");
            let thinking = text_of(&block["thinking"]).to_owned();
            Some((text_of(&block["signature"]).to_owned(), Some(thinking)))
        }
        "redacted_thinking" => {
            violations.known(block, at, "type data");
            Some((text_of(&block["data"]).to_owned(), None))
        }
        other => {
            violations.add(at, &format!("there is no block `{other}` here"));
            None
        }
    }
}

fn call(block: &Value, at: &str, violations: &mut Violations) {
    violations.known(block, at, "type id name input cache_control caller");
    violations.demand(block["input"].is_object(), &format!("{at}.input"), "must be an object");
    tools::name(&block["name"], at, violations);
    let id = text_of(&block["id"]);
    let fine = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    violations.demand(
        !id.is_empty() && id.chars().all(fine),
        at,
        "the id must be of a-z, A-Z, 0-9, _ and -",
    );
}
