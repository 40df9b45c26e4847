//! Reads requests of Anthropic's Messages.

use serde_json::Value;

use super::{AnswerFormat, OfferedTool, ReadMessage, Reading, Role, elements, string, text_of};

pub(super) fn read(body: &Value) -> Reading {
    let mut reading = Reading {
        tools: elements(&body["tools"]).iter().map(tool).collect(),
        forced_tool: body["tool_choice"]["name"].as_str().map(str::to_owned),
        answer: answer(body),
        ..Reading::default()
    };
    reading.say(Role::System, text_of(&body["system"]));
    for message in elements(&body["messages"]) {
        read_message(message, &mut reading);
    }
    reading
}

fn tool(tool: &Value) -> OfferedTool {
    OfferedTool {
        name: string(&tool["name"]).to_owned(),
        schema: tool["input_schema"].clone(),
        ..OfferedTool::default()
    }
}

fn answer(body: &Value) -> AnswerFormat {
    let formats = [&body["output_config"]["format"], &body["output_format"]];
    let format = formats.into_iter().find(|format| format.is_object());
    format.map_or(AnswerFormat::Text, |format| AnswerFormat::Json(format["schema"].clone()))
}

fn read_message(message: &Value, reading: &mut Reading) {
    let content = &message["content"];
    match string(&message["role"]) {
        "assistant" => {
            let calls = elements(content).iter().filter(|block| block["type"] == "tool_use");
            let calls = calls.map(|call| string(&call["id"]).to_owned()).collect();
            reading.messages.push(ReadMessage { role: Role::Model, text: text_of(content), calls });
        }
        "system" => reading.say(Role::System, text_of(content)),
        _ => {
            for block in elements(content).iter().filter(|block| block["type"] == "tool_result") {
                reading.say(Role::Tool, text_of(&block["content"]));
            }
            reading.say(Role::User, text_of(content));
        }
    }
}
