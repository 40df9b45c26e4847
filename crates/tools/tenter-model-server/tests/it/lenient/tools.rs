//! The tools that a reply calls, and the form of the calls.

use serde_json::{Value, json};
use tenter_model_server::{Format, LenientScript, ModelReply, ModelServer};

use tenter_testkit::api_client::{ask, conversation, send, send_whole, talk, ways};

fn server(reply: ModelReply) -> ModelServer {
    ModelServer::start(LenientScript::new([reply, ModelReply::text("Two.")])).unwrap()
}

#[test]
fn the_first_tool_that_the_request_offers_is_called() {
    for way in ways() {
        let arguments = json!({"command": "ls"});
        let reply = ModelReply::new()
            .call_any(&["Bash", "bash", "shell"], arguments.clone())
            .call_first([("shell", json!({"cmd": "no"})), ("bash", json!({"command": "yes"}))]);
        let speech = talk(&server(reply), way, &ask(way.0, "Please."));
        let calls: Vec<(String, Value)> = speech
            .calls
            .into_iter()
            .map(|(_, name, arguments)| (name, serde_json::from_str(&arguments).unwrap()))
            .collect();
        let expected =
            [("bash".to_owned(), arguments), ("bash".to_owned(), json!({"command": "yes"}))];
        assert_eq!(calls, expected, "{way:?}");
    }
}

#[test]
fn calls_whose_results_come_in_between_are_one_turn() {
    let reply = ModelReply::new().call("bash", json!({})).call("bash", json!({"command": "ls"}));
    for way in ways().filter(|way| matches!(way.0, Format::Responses | Format::Chat)) {
        let server = server(reply.clone());
        let mut body = ask(way.0, "Please.");
        let speech = talk(&server, way, &body);
        for (id, name, arguments) in &speech.calls {
            let messages = conversation(way.0, &mut body);
            if way.0 == Format::Responses {
                messages.push(json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}));
                messages
                    .push(json!({"type": "function_call_output", "call_id": id, "output": "fine"}));
            } else {
                let function = json!({"name": name, "arguments": arguments});
                let call = json!({"id": id, "type": "function", "function": function});
                messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": "fine"}));
            }
        }
        assert_eq!(talk(&server, way, &body).text, "Two.", "{way:?}");
    }
}

const PATCH: &str = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n";

/// Returns tools as Codex offers them: functions, custom ones, and namespaces, in the list or in the conversation.
fn codex(in_conversation: bool) -> Value {
    let tools = json!([
        {"type": "function", "name": "exec_command", "parameters": {"type": "object"}},
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
        {"type": "namespace", "name": "multi_agent_v1", "tools": [
            {"type": "function", "name": "spawn_agent", "parameters": {"type": "object"}},
        ]},
        {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]},
        {"type": "web_search"},
    ]);
    let mut body = ask(Format::Responses, "Please.");
    if in_conversation {
        body.as_object_mut().unwrap().remove("tools");
        let item = json!({"type": "additional_tools", "role": "developer", "tools": tools});
        conversation(Format::Responses, &mut body).insert(0, item);
    } else {
        body["tools"] = tools;
    }
    body
}

#[test]
fn custom_tools_and_namespaces_have_their_own_form() {
    let reply = ModelReply::new()
        .call_any(&["shell", "exec_command"], json!({"cmd": "ls"}))
        .call_any(&["apply_patch"], PATCH)
        .call("apply_patch", json!({"input": PATCH}))
        .call("spawn_agent", json!({"message": "go"}))
        .call("multi_agent_v1__spawn_agent", json!({"message": "go"}))
        .call_any(&["exec"], "text(1)");
    let expected = [
        ("function_call", "exec_command", Value::Null, r#"{"cmd":"ls"}"#),
        ("custom_tool_call", "apply_patch", Value::Null, PATCH),
        ("custom_tool_call", "apply_patch", Value::Null, PATCH),
        ("function_call", "spawn_agent", json!("multi_agent_v1"), r#"{"message":"go"}"#),
        ("function_call", "spawn_agent", json!("multi_agent_v1"), r#"{"message":"go"}"#),
        ("custom_tool_call", "exec", json!("functions"), "text(1)"),
    ];
    for in_conversation in [false, true] {
        let server = server(reply.clone());
        let whole = send_whole(&server, Format::Responses, &codex(in_conversation)).json();
        let stream = send(&server, Format::Responses, &codex(in_conversation)).data();
        let ends = stream.iter().filter(|event| event["type"] == "response.output_item.done");
        let ends: Vec<Value> = ends.map(|event| event["item"].clone()).collect();
        let last = stream.last().unwrap()["response"]["output"].clone();
        for items in [whole["output"].as_array().unwrap(), &ends, last.as_array().unwrap()] {
            for (item, (kind, name, namespace, input)) in items.iter().zip(&expected) {
                let field = if *kind == "function_call" { "arguments" } else { "input" };
                assert_eq!(item["type"], *kind, "{item}");
                assert_eq!(item["name"], *name, "{item}");
                assert_eq!(item["namespace"], *namespace, "{item}");
                assert_eq!(item[field], *input, "{item}");
            }
            assert_eq!(items.len(), expected.len());
        }
        let deltas = |kind: &str| -> String {
            let events = stream.iter().filter(|event| event["type"] == kind);
            events.map(|event| event["delta"].as_str().unwrap()).collect()
        };
        let text = deltas("response.custom_tool_call_input.delta");
        assert_eq!(text, format!("{PATCH}{PATCH}text(1)"));
    }
}
