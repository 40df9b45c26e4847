//! Reads requests of Chat Completions.

use serde_json::Value;

use super::{AnswerFormat, OfferedTool, ReadMessage, Reading, Role, elements, string, text_of};

pub(super) fn read(body: &Value) -> Reading {
    let mut reading = Reading {
        tools: elements(&body["tools"]).iter().map(tool).collect(),
        forced_tool: body["tool_choice"]["function"]["name"].as_str().map(str::to_owned),
        answer: answer(&body["response_format"]),
        ..Reading::default()
    };
    for message in elements(&body["messages"]) {
        let text = text_of(&message["content"]);
        match string(&message["role"]) {
            "assistant" => {
                let calls = elements(&message["tool_calls"]).iter();
                let calls = calls.map(|call| string(&call["id"]).to_owned()).collect();
                reading.messages.push(ReadMessage { role: Role::Model, text, calls });
            }
            "system" | "developer" => reading.say(Role::System, text),
            "tool" | "function" => reading.say(Role::Tool, text),
            _ => reading.say(Role::User, text),
        }
    }
    reading
}

fn tool(tool: &Value) -> OfferedTool {
    let function = &tool["function"];
    OfferedTool {
        name: string(&function["name"]).to_owned(),
        schema: function["parameters"].clone(),
        ..OfferedTool::default()
    }
}

fn answer(format: &Value) -> AnswerFormat {
    match string(&format["type"]) {
        "json_schema" => AnswerFormat::Json(format["json_schema"]["schema"].clone()),
        "json_object" => AnswerFormat::Json(Value::Null),
        _ => AnswerFormat::Text,
    }
}
