//! What a request to Gemini has to be. A field that is `null` counts as left out, as it does there.

use serde_json::Value;

use super::super::ledger::{Anchor, Replayed};
use super::tools::Rules;
use super::turns::{Side, Turn};
use super::{Findings, Seen, elements, media, text_of, tools, turns};

const FIELDS: [&str; 9] = [
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "safetySettings",
    "generationConfig",
    "cachedContent",
    "serviceTier",
    "store",
];

const CONFIG: [&str; 17] = [
    "temperature",
    "topP",
    "topK",
    "candidateCount",
    "maxOutputTokens",
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseLogprobs",
    "logprobs",
    "thinkingConfig",
    "mediaResolution",
    "responseModalities",
];

const TOOL: [&str; 6] = [
    "functionDeclarations",
    "codeExecution",
    "googleSearch",
    "urlContext",
    "googleMaps",
    "fileSearch",
];

const DECLARATION: [&str; 7] = [
    "name",
    "description",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
    "behavior",
];

/// What a part is: exactly one of these.
const DATA: [&str; 5] = ["text", "inlineData", "fileData", "functionCall", "functionResponse"];

/// What a part may have besides.
const BESIDES: [&str; 4] = ["thought", "thoughtSignature", "videoMetadata", "mediaResolution"];

/// The pictures that Gemini reads; none of them is a GIF.
const IMAGES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

pub(super) fn check(seen: &Seen, findings: &mut Findings) -> Vec<Replayed> {
    let body = seen.body;
    findings.known(body, "body", &FIELDS);
    let config = &body["generationConfig"];
    findings.known_if_there(config, "generationConfig", &CONFIG);
    let thinking = ["includeThoughts", "thinkingBudget", "thinkingLevel"];
    findings.known_if_there(&config["thinkingConfig"], "thinkingConfig", &thinking);
    let system = &body["systemInstruction"];
    findings.known_if_there(system, "systemInstruction", &["role", "parts"]);
    for part in elements(&system["parts"]) {
        findings.demand(
            !text_of(&part["text"]).is_empty(),
            "systemInstruction",
            "has a part without text",
        );
    }
    offered(body, findings);
    contents(&body["contents"], findings)
}

fn offered(body: &Value, findings: &mut Findings) {
    let mut names = Vec::new();
    for tool in elements(&body["tools"]) {
        findings.known(tool, "tools", &TOOL);
        for (index, function) in elements(&tool["functionDeclarations"]).iter().enumerate() {
            let at = format!("functionDeclarations[{index}]");
            findings.known(function, &at, &DECLARATION);
            tools::name(&function["name"], &at, findings);
            schemas(function, &at, findings);
            names.push(&function["name"]);
        }
    }
    let config = &body["toolConfig"];
    findings.known_if_there(config, "toolConfig", &["functionCallingConfig"]);
    let fields = ["mode", "allowedFunctionNames", "allowed_function_names"];
    findings.known_if_there(&config["functionCallingConfig"], "functionCallingConfig", &fields);
    findings.demand(config.is_null() || !names.is_empty(), "toolConfig", "needs tools");
    tools::distinct(names.into_iter(), findings);
}

/// A function without parameters declares none.
fn schemas(function: &Value, at: &str, findings: &mut Findings) {
    let (own, plain) = (&function["parameters"], &function["parametersJsonSchema"]);
    findings.demand(own.is_null() || plain.is_null(), at, "has two schemas");
    if !own.is_null() {
        tools::schema(own, &format!("{at}.parameters"), Rules::Capitals, findings);
    }
    if !plain.is_null() {
        tools::schema(plain, &format!("{at}.parametersJsonSchema"), Rules::Plain, findings);
    }
}

fn contents(contents: &Value, findings: &mut Findings) -> Vec<Replayed> {
    let (mut turns, mut replayed) = (Vec::new(), Vec::new());
    let mut results = false;
    for (index, content) in elements(contents).iter().enumerate() {
        let at = format!("contents[{index}]");
        findings.known(content, &at, &["role", "parts"]);
        findings.demand(!elements(&content["parts"]).is_empty(), &at, "has no parts");
        match text_of(&content["role"]) {
            // What a person says may follow what the tools said in a content of its own.
            "user" => {
                let turn = turns::turn(&mut turns, &at, Side::User, results);
                user(content, turn, &at, findings);
            }
            "model" => {
                let turn = turns::turn(&mut turns, &at, Side::Model, false);
                replayed.extend(model(content, turn, &at, findings));
            }
            other => findings.add(&at, &format!("there is no role `{other}`")),
        }
        results =
            elements(&content["parts"]).iter().any(|part| part.get("functionResponse").is_some());
    }
    turns::check(&turns, "contents", findings);
    replayed
}

fn user(content: &Value, turn: &mut Turn, at: &str, findings: &mut Findings) {
    for (index, part) in elements(&content["parts"]).iter().enumerate() {
        let at = format!("{at}.parts[{index}]");
        match shape(part, &at, findings) {
            "functionResponse" => {
                let response = &part["functionResponse"];
                findings.known(response, &at, &["id", "name", "response", "parts"]);
                findings.demand(
                    response["response"].is_object(),
                    &at,
                    "the response must be an object",
                );
                turn.answer(&identity(response));
            }
            "functionCall" => findings.add(&at, "the user calls no functions"),
            "text" => {
                turn.speak();
                findings.demand(!text_of(&part["text"]).is_empty(), &at, "the text is empty");
            }
            _ => {
                turn.speak();
                media(part, &at, findings);
            }
        }
    }
}

/// The one field that says what the part is; empty when it is not one.
fn shape<'p>(part: &'p Value, at: &str, findings: &mut Findings) -> &'p str {
    findings.known(part, at, &[DATA.as_slice(), BESIDES.as_slice()].concat());
    let there = part.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let data: Vec<&str> =
        there.map(|(name, _)| name.as_str()).filter(|name| DATA.contains(name)).collect();
    findings.demand(data.len() == 1, at, &format!("a part is one thing, this is {data:?}"));
    data.first().copied().unwrap_or_default()
}

fn media(part: &Value, at: &str, findings: &mut Findings) {
    let inline = &part["inlineData"];
    if inline.is_null() {
        findings.known(&part["fileData"], at, &["mimeType", "fileUri"]);
        return media::web(text_of(&part["fileData"]["fileUri"]), at, findings);
    }
    findings.known(inline, at, &["mimeType", "data"]);
    media::image(text_of(&inline["mimeType"]), text_of(&inline["data"]), &IMAGES, at, findings);
}

/// What a call is answered by: its id and its name. Calls of earlier models have no id.
fn identity(call: &Value) -> String {
    let name = text_of(&call["name"]);
    call["id"].as_str().map_or_else(|| name.to_owned(), |id| format!("{name} {id}"))
}

fn model(content: &Value, turn: &mut Turn, at: &str, findings: &mut Findings) -> Vec<Replayed> {
    let (mut replayed, mut said) = (Vec::new(), String::new());
    let mut text = Replayed { at: at.to_owned(), anchors: Vec::new(), signatures: Vec::new() };
    for (index, part) in elements(&content["parts"]).iter().enumerate() {
        let at = format!("{at}.parts[{index}]");
        let signature =
            part["thoughtSignature"].as_str().map(|signature| (signature.to_owned(), None));
        match shape(part, &at, findings) {
            "functionCall" => {
                let call = &part["functionCall"];
                findings.known(call, &at, &["id", "name", "args"]);
                tools::name(&call["name"], &at, findings);
                let args = call["args"].is_object() || call["args"].is_null();
                findings.demand(args, &at, "the args must be an object");
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
                    said.push_str(text_of(&part["text"]));
                }
            }
            other => findings.add(&at, &format!("the model says no `{other}`")),
        }
    }
    if replayed.is_empty() {
        text.anchors.push(Anchor::text(&said));
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
