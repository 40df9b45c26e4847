//! Reads requests of OpenAI's Responses.

use serde_json::Value;

use super::{AnswerFormat, OfferedTool, ReadMessage, Reading, Role, elements, string, text_of};

pub(super) fn read(body: &Value) -> Reading {
    let mut reading = Reading {
        forced_tool: body["tool_choice"]["name"].as_str().map(str::to_owned),
        answer: answer(&body["text"]["format"]),
        ..Reading::default()
    };
    offer(&body["tools"], None, &mut reading.tools);
    reading.say(Role::System, text_of(&body["instructions"]));
    if let Some(text) = body["input"].as_str() {
        reading.say(Role::User, text.to_owned());
    }
    for item in elements(&body["input"]) {
        read_item(item, &mut reading);
    }
    reading
}

fn read_item(item: &Value, reading: &mut Reading) {
    match string(&item["type"]) {
        // Codex offers the tools of some models in the conversation.
        "additional_tools" => offer(&item["tools"], None, &mut reading.tools),
        "message" | "" => {
            let text = text_of(&item["content"]);
            match string(&item["role"]) {
                "assistant" => reading.say(Role::Model, text),
                "system" | "developer" => reading.say(Role::System, text),
                _ => reading.say(Role::User, text),
            }
        }
        kind if kind.ends_with("_output") => reading.say(Role::Tool, text_of(&item["output"])),
        kind if kind.ends_with("_call") => {
            let calls = vec![string(&item["call_id"]).to_owned()];
            reading.messages.push(ReadMessage { role: Role::Model, text: String::new(), calls });
        }
        _ => {}
    }
}

/// Adds the tools that a client runs, with those in namespaces. Tools that the provider runs have no name.
fn offer(tools: &Value, namespace: Option<&str>, to: &mut Vec<OfferedTool>) {
    for tool in elements(tools) {
        let Some(name) = tool["name"].as_str() else { continue };
        if tool["type"] == "namespace" && namespace.is_none() {
            offer(&tool["tools"], Some(name), to);
            continue;
        }
        to.push(OfferedTool {
            name: name.to_owned(),
            schema: tool["parameters"].clone(),
            custom: tool["type"] == "custom",
            namespace: namespace.map(str::to_owned),
        });
    }
}

fn answer(format: &Value) -> AnswerFormat {
    match string(&format["type"]) {
        "json_schema" => AnswerFormat::Json(format["schema"].clone()),
        "json_object" => AnswerFormat::Json(Value::Null),
        _ => AnswerFormat::Text,
    }
}
