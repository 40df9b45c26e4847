//! The rules of OpenAI's Responses.

use serde_json::Value;

use super::super::ledger::{Anchor, Replayed};
use super::super::violations::is_among;
use super::tools::Rules;
use super::turns::{Side, Turn};
use super::{CheckedRequest, Violations, arguments, elements, media, text_of, tools, turns};

const FIELDS: &str = "
    model input instructions stream stream_options max_output_tokens max_tool_calls temperature
    top_p tools tool_choice parallel_tool_calls reasoning include store metadata text truncation
    user safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options
    service_tier background top_logprobs context_management
";

const INCLUDE: &str = "
    reasoning.encrypted_content message.output_text.logprobs message.input_image.image_url
    file_search_call.results web_search_call.action.sources
    computer_call_output.output.image_url code_interpreter_call.outputs
";

pub(super) fn check(request: &CheckedRequest, violations: &mut Violations) -> Vec<Replayed> {
    let body = request.body;
    // What names stored state (`previous_response_id`, `conversation`) is no field here: nothing is stored.
    violations.known(body, "body", FIELDS);
    violations.demand(body["model"].is_string(), "model", "must be there");
    violations.known_if_there(&body["reasoning"], "reasoning", "effort summary context");
    violations.known_if_there(&body["text"], "text", "format verbosity");
    violations.known_if_there(&body["stream_options"], "stream_options", "include_obfuscation");
    for item in elements(&body["include"]) {
        violations.demand(
            is_among(text_of(item), INCLUDE),
            "include",
            &format!("there is no {item}"),
        );
    }
    offered(body, violations);
    if let Some(text) = body["input"].as_str() {
        violations.demand(!text.is_empty(), "input", "must not be empty");
        return Vec::new();
    }
    input(body, violations)
}

fn offered(body: &Value, violations: &mut Violations) {
    let tools = elements(&body["tools"]);
    for (index, tool) in tools.iter().enumerate() {
        let at = format!("tools[{index}]");
        violations.known(tool, &at, "type name description parameters strict");
        violations.demand(tool["type"] == "function", &at, "must be a function");
        tools::name(&tool["name"], &at, violations);
        let rules = if tool["strict"] == true { Rules::Strict } else { Rules::Plain };
        tools::schema(&tool["parameters"], &format!("{at}.parameters"), rules, violations);
    }
    tools::distinct(tools.iter().map(|tool| &tool["name"]), violations);
    for field in ["tool_choice", "parallel_tool_calls"] {
        violations.demand(body[field].is_null() || !tools.is_empty(), field, "needs tools");
    }
}

/// The items of the input and the turns they form: a turn is a sequence of items of one side.
struct Input {
    turns: Vec<Turn>,
    replayed_items: Vec<Replayed>,
}

fn input(body: &Value, violations: &mut Violations) -> Vec<Replayed> {
    let items = elements(&body["input"]);
    let mut input = Input { turns: Vec::new(), replayed_items: Vec::new() };
    for (index, item) in items.iter().enumerate() {
        let at = format!("input[{index}]");
        match item.get("type").map_or("message", text_of) {
            "message" => input.message(item, &at, violations),
            "function_call" => input.call(item, &at, violations),
            "function_call_output" => input.output(item, &at, violations),
            "reasoning" => {
                input.reasoning(item, &at, violations);
                let stateless = body["store"] == false;
                let lacks_content = text_of(&item["encrypted_content"]).is_empty();
                violations.demand(
                    !(stateless && lacks_content),
                    &at,
                    "without `store`, reasoning needs encrypted_content",
                );
                let is_followed = items.get(index + 1).is_some_and(is_models);
                violations.demand(
                    is_followed,
                    &at,
                    "reasoning must be directly before the item that it belongs to",
                );
            }
            other => violations.add(&at, &format!("there is no item `{other}`")),
        }
    }
    turns::check(&input.turns, "input", violations);
    turns::distinct(&input.turns, "input", violations);
    input.replayed_items
}

fn is_models(item: &Value) -> bool {
    matches!(text_of(&item["type"]), "function_call" | "reasoning") || item["role"] == "assistant"
}

impl Input {
    fn message(&mut self, item: &Value, at: &str, violations: &mut Violations) {
        violations.known(item, at, "type role content status id phase");
        prefix(item, "msg", at, violations);
        match text_of(&item["role"]) {
            "user" => {
                turns::turn(&mut self.turns, at, Side::User, true).speak();
                content(
                    &item["content"],
                    at,
                    &["input_text", "input_image", "input_file"],
                    violations,
                );
            }
            "assistant" => {
                self.model(at).speak();
                content(&item["content"], at, &["output_text", "refusal"], violations);
                let joined_text: String =
                    elements(&item["content"]).iter().map(|part| text_of(&part["text"])).collect();
                let text = item["content"].as_str().unwrap_or(&joined_text);
                self.anchor(Anchor::text(text));
            }
            "system" | "developer" => content(&item["content"], at, &["input_text"], violations),
            other => violations.add(at, &format!("there is no role `{other}`")),
        }
    }

    fn call(&mut self, item: &Value, at: &str, violations: &mut Violations) {
        violations.known(item, at, "type id call_id name arguments status");
        prefix(item, "fc", at, violations);
        tools::name(&item["name"], at, violations);
        arguments(&item["arguments"], at, violations);
        let id = text_of(&item["call_id"]);
        violations.demand(
            (1..=64).contains(&id.len()),
            at,
            "the call_id must be of 1 to 64 letters",
        );
        self.model(at).call(id);
        self.anchor(Anchor::Call(id.to_owned()));
    }

    fn output(&mut self, item: &Value, at: &str, violations: &mut Violations) {
        violations.known(item, at, "type id call_id output status");
        let turn = turns::turn(&mut self.turns, at, Side::User, true);
        turn.answer(text_of(&item["call_id"]));
        if item["output"].as_str() != Some("") {
            content(&item["output"], at, &["input_text", "input_image", "input_file"], violations);
        }
    }

    fn reasoning(&mut self, item: &Value, at: &str, violations: &mut Violations) {
        violations.known(item, at, "type id summary content encrypted_content status");
        prefix(item, "rs", at, violations);
        violations.demand(item["summary"].is_array(), at, "must have a summary, be it empty");
        self.model(at).speak();
        let encrypted = text_of(&item["encrypted_content"]);
        if let (false, Some(place)) = (encrypted.is_empty(), self.replayed_items.last_mut()) {
            let summary: Vec<&str> =
                elements(&item["summary"]).iter().map(|part| text_of(&part["text"])).collect();
            place.signatures.push((encrypted.to_owned(), Some(summary.join("\n\n"))));
        }
    }

    /// Returns the turn of the model, which has all items of a reply.
    fn model(&mut self, at: &str) -> &mut Turn {
        let turns = self.turns.len();
        turns::turn(&mut self.turns, at, Side::Model, true);
        if self.turns.len() > turns {
            self.replayed_items.push(Replayed {
                at: at.to_owned(),
                anchors: Vec::new(),
                signatures: Vec::new(),
            });
        }
        turns::turn(&mut self.turns, at, Side::Model, true)
    }

    fn anchor(&mut self, anchor: Anchor) {
        if let Some(place) = self.replayed_items.last_mut() {
            place.anchors.push(anchor);
        }
    }
}

/// Checks the prefix of an id, which depends on the kind of the item.
fn prefix(item: &Value, prefix: &str, at: &str, violations: &mut Violations) {
    if let Some(id) = item.get("id") {
        let fine = text_of(id).starts_with(prefix) && text_of(id).len() <= 64;
        violations.demand(fine, at, &format!("the id must begin with `{prefix}`"));
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
        match kind {
            "input_text" => violations.known(part, &at, "type text"),
            "output_text" => {
                violations.known(part, &at, "type text annotations logprobs");
            }
            "refusal" => violations.known(part, &at, "type refusal"),
            "input_image" => {
                violations.known(part, &at, "type image_url file_id detail");
                if part["file_id"].is_null() {
                    media::url(text_of(&part["image_url"]), &at, violations);
                }
            }
            _ => violations.known(part, &at, "type file_id file_data file_url filename detail"),
        }
    }
}
