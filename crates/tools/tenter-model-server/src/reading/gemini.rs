//! Reads requests of Google's Gemini, whose fields may be written in camel case and in snake case.

use serde_json::Value;

use super::{AnswerFormat, OfferedTool, ReadMessage, Reading, Role, elements, string, text_of};

pub(super) fn read(body: &Value) -> Reading {
    let settings = either(body, "generationConfig", "generation_config");
    let calling = &body["toolConfig"]["functionCallingConfig"];
    let mut reading = Reading {
        forced_tool: forced(calling),
        answer: answer(settings),
        tools: elements(&body["tools"]).iter().flat_map(tools).collect(),
        ..Reading::default()
    };
    let system = either(body, "systemInstruction", "system_instruction");
    reading.say(Role::System, text_of(&system["parts"]));
    for content in elements(&body["contents"]) {
        read_content(content, &mut reading);
    }
    reading
}

fn either<'v>(value: &'v Value, camel: &str, snake: &str) -> &'v Value {
    value.get(camel).unwrap_or(&value[snake])
}

fn tools(tool: &Value) -> impl Iterator<Item = OfferedTool> {
    let functions = elements(either(tool, "functionDeclarations", "function_declarations")).iter();
    functions.map(|function| OfferedTool {
        name: string(&function["name"]).to_owned(),
        schema: either(function, "parametersJsonSchema", "parameters").clone(),
        ..OfferedTool::default()
    })
}

fn forced(calling: &Value) -> Option<String> {
    match elements(&calling["allowedFunctionNames"]) {
        [name] if calling["mode"] == "ANY" => name.as_str().map(str::to_owned),
        _ => None,
    }
}

fn answer(settings: &Value) -> AnswerFormat {
    let schema = either(settings, "responseSchema", "responseJsonSchema");
    let is_json = settings["responseMimeType"] == "application/json";
    if is_json || !schema.is_null() {
        AnswerFormat::Json(schema.clone())
    } else {
        AnswerFormat::Text
    }
}

fn read_content(content: &Value, reading: &mut Reading) {
    let parts = elements(&content["parts"]);
    let text = text_of(&content["parts"]);
    if content["role"] == "model" {
        let calls = parts.iter().filter_map(|part| part["functionCall"]["id"].as_str());
        let calls = calls.map(str::to_owned).collect();
        reading.messages.push(ReadMessage { role: Role::Model, text, calls });
        return;
    }
    for response in parts.iter().filter_map(|part| part.get("functionResponse")) {
        reading.say(Role::Tool, strings(&response["response"]).join("\n"));
    }
    reading.say(Role::User, text);
}

/// Returns the strings in a result, which is an object with fields of the client's choice.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}
