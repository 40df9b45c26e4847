//! The rules of Gemini. A `null` field counts as absent.

use serde_json::Value;

use super::super::ledger::{Anchor, Replayed};
use super::super::violations::is_among;
use super::tools::Rules;
use super::turns::{Side, Turn};
use super::{CheckedRequest, Violations, elements, media, text_of, tools, turns};

const FIELDS: &str = "
    contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent
    serviceTier store
";

const CONFIG: &str = "
    temperature topP topK candidateCount maxOutputTokens stopSequences responseMimeType
    responseSchema responseJsonSchema seed presencePenalty frequencyPenalty responseLogprobs
    logprobs thinkingConfig mediaResolution responseModalities
";

const TOOL: &str = "
    functionDeclarations codeExecution googleSearch urlContext googleMaps fileSearch
";

const DECLARATION: &str = "
    name description parameters parametersJsonSchema response responseJsonSchema behavior
";

/// The content fields of a part, which has exactly one of them.
const DATA: &str = "text inlineData fileData functionCall functionResponse";

/// Additional fields of a part.
const BESIDES: &str = "thought thoughtSignature videoMetadata mediaResolution";

/// The image types that Gemini accepts, which do not include GIF.
const IMAGES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

pub(super) fn check(request: &CheckedRequest, violations: &mut Violations) -> Vec<Replayed> {
    let body = request.body;
    violations.known(body, "body", FIELDS);
    let config = &body["generationConfig"];
    violations.known_if_there(config, "generationConfig", CONFIG);
    let thinking = "includeThoughts thinkingBudget thinkingLevel";
    violations.known_if_there(&config["thinkingConfig"], "thinkingConfig", thinking);
    let system = &body["systemInstruction"];
    violations.known_if_there(system, "systemInstruction", "role parts");
    for part in elements(&system["parts"]) {
        violations.demand(
            !text_of(&part["text"]).is_empty(),
            "systemInstruction",
            "has a part without text",
        );
    }
    offered(body, violations);
    contents(&body["contents"], violations)
}

fn offered(body: &Value, violations: &mut Violations) {
    let mut names = Vec::new();
    for tool in elements(&body["tools"]) {
        violations.known(tool, "tools", TOOL);
        for (index, function) in elements(&tool["functionDeclarations"]).iter().enumerate() {
            let at = format!("functionDeclarations[{index}]");
            violations.known(function, &at, DECLARATION);
            tools::name(&function["name"], &at, violations);
            schemas(function, &at, violations);
            names.push(&function["name"]);
        }
    }
    let config = &body["toolConfig"];
    violations.known_if_there(config, "toolConfig", "functionCallingConfig");
    let fields = "mode allowedFunctionNames allowed_function_names";
    violations.known_if_there(&config["functionCallingConfig"], "functionCallingConfig", fields);
    violations.demand(config.is_null() || !names.is_empty(), "toolConfig", "needs tools");
    tools::distinct(names.into_iter(), violations);
}

/// Checks the schemas of a function, which may have no parameters.
fn schemas(function: &Value, at: &str, violations: &mut Violations) {
    let (own, plain) = (&function["parameters"], &function["parametersJsonSchema"]);
    violations.demand(own.is_null() || plain.is_null(), at, "has two schemas");
    if !own.is_null() {
        tools::schema(own, &format!("{at}.parameters"), Rules::Capitals, violations);
    }
    if !plain.is_null() {
        tools::schema(plain, &format!("{at}.parametersJsonSchema"), Rules::Plain, violations);
    }
}

fn contents(contents: &Value, violations: &mut Violations) -> Vec<Replayed> {
    let (mut turns, mut replayed) = (Vec::new(), Vec::new());
    let mut results = false;
    for (index, content) in elements(contents).iter().enumerate() {
        let at = format!("contents[{index}]");
        violations.known(content, &at, "role parts");
        violations.demand(!elements(&content["parts"]).is_empty(), &at, "has no parts");
        match text_of(&content["role"]) {
            // A user message may follow tool results as a separate content.
            "user" => {
                let turn = turns::turn(&mut turns, &at, Side::User, results);
                user(content, turn, &at, violations);
            }
            "model" => {
                let turn = turns::turn(&mut turns, &at, Side::Model, false);
                replayed.extend(model(content, turn, &at, violations));
            }
            other => violations.add(&at, &format!("there is no role `{other}`")),
        }
        results =
            elements(&content["parts"]).iter().any(|part| part.get("functionResponse").is_some());
    }
    turns::check(&turns, "contents", violations);
    replayed
}

fn user(content: &Value, turn: &mut Turn, at: &str, violations: &mut Violations) {
    for (index, part) in elements(&content["parts"]).iter().enumerate() {
        let at = format!("{at}.parts[{index}]");
        match shape(part, &at, violations) {
            "functionResponse" => {
                let response = &part["functionResponse"];
                violations.known(response, &at, "id name response parts");
                violations.demand(
                    response["response"].is_object(),
                    &at,
                    "the response must be an object",
                );
                turn.answer(&identity(response));
            }
            "functionCall" => violations.add(&at, "the user calls no functions"),
            "text" => {
                turn.speak();
                violations.demand(!text_of(&part["text"]).is_empty(), &at, "the text is empty");
            }
            _ => {
                turn.speak();
                media(part, &at, violations);
            }
        }
    }
}

/// Returns the content field of a part; empty if there is not exactly one.
fn shape<'p>(part: &'p Value, at: &str, violations: &mut Violations) -> &'p str {
    violations.known(part, at, &format!("{DATA} {BESIDES}"));
    let there = part.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let data: Vec<&str> =
        there.map(|(name, _)| name.as_str()).filter(|name| is_among(name, DATA)).collect();
    violations.demand(data.len() == 1, at, &format!("a part is one thing, this is {data:?}"));
    data.first().copied().unwrap_or_default()
}

fn media(part: &Value, at: &str, violations: &mut Violations) {
    let inline = &part["inlineData"];
    if inline.is_null() {
        violations.known(&part["fileData"], at, "mimeType fileUri");
        return media::web(text_of(&part["fileData"]["fileUri"]), at, violations);
    }
    violations.known(inline, at, "mimeType data");
    media::image(text_of(&inline["mimeType"]), text_of(&inline["data"]), &IMAGES, at, violations);
}

/// Returns the identity of a call: its name and its id. Calls of earlier models have no id.
fn identity(call: &Value) -> String {
    let name = text_of(&call["name"]);
    call["id"].as_str().map_or_else(|| name.to_owned(), |id| format!("{name} {id}"))
}

fn model(content: &Value, turn: &mut Turn, at: &str, violations: &mut Violations) -> Vec<Replayed> {
    let (mut replayed, mut whole_text) = (Vec::new(), String::new());
    let mut text = Replayed { at: at.to_owned(), anchors: Vec::new(), signatures: Vec::new() };
    for (index, part) in elements(&content["parts"]).iter().enumerate() {
        let at = format!("{at}.parts[{index}]");
        let signature =
            part["thoughtSignature"].as_str().map(|signature| (signature.to_owned(), None));
        match shape(part, &at, violations) {
            "functionCall" => {
                let call = &part["functionCall"];
                violations.known(call, &at, "id name args");
                tools::name(&call["name"], &at, violations);
                let args = call["args"].is_object() || call["args"].is_null();
                violations.demand(args, &at, "the args must be an object");
                turn.call(&identity(call));
                let anchors = vec![anchor(call)];
                replayed.push(Replayed {
                    at,
                    anchors,
                    signatures: signature.into_iter().collect(),
                });
            }
            "text" => {
                turn.speak();
                text.signatures.extend(signature);
                if part["thought"] != true {
                    whole_text.push_str(text_of(&part["text"]));
                }
            }
            other => violations.add(&at, &format!("the model says no `{other}`")),
        }
    }
    if replayed.is_empty() {
        text.anchors.push(Anchor::text(&whole_text));
    }
    replayed.push(text);
    replayed
}

fn anchor(call: &Value) -> Anchor {
    match call["id"].as_str() {
        Some(id) => Anchor::Call(id.to_owned()),
        None => Anchor::Bare(text_of(&call["name"]).to_owned(), call["args"].clone()),
    }
}
