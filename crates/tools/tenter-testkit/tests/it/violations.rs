//! Every rule for requests that a client could get wrong, broken once.

use serde_json::{Value, json};
use tenter_testkit::api_client::{ask, continue_with, conversation, door, hear, post, send};
use tenter_testkit::model_server::Format::{self, Anthropic, Chat, Gemini, Responses};
use tenter_testkit::model_server::{ModelReply, ModelServer, Script};

/// Creates a conversation with two calls and their results.
fn with_calls(format: Format) -> Value {
    let calls = ModelReply::text("so")
        .call("bash", json!({"command": "ls"}))
        .call("bash", json!({"command": "pwd"}));
    let server = ModelServer::start(calls);
    let mut body = ask(format, "hello");
    let reply = hear(format, &send(&server, format, &body));
    continue_with(format, &mut body, &reply);
    body
}

/// Sends a conversation with two calls after `change`; `expected` must be among the violations.
fn violates(format: Format, expected: &str, change: impl FnOnce(&mut Value)) {
    let mut body = with_calls(format);
    change(&mut body);
    let server = ModelServer::start(Script::new([ModelReply::text("unused")]));
    let answer = send(&server, format, &body);
    let violations = server.take_violations().join("\n");
    assert!(violations.contains(expected), "{format:?}: {expected}: {violations}");
    assert!(answer.status == 400 && answer.json()["error"]["message"].is_string(), "{answer:?}");
    assert_eq!(server.unused_replies(), 1, "a rejected request uses no reply");
}

/// Changes the messages of a conversation in every format.
fn all_violate(expected: &str, change: impl Fn(Format, &mut Vec<Value>)) {
    for format in Format::ALL {
        violates(format, expected, |body| change(format, conversation(format, body)));
    }
}

/// Returns the messages or blocks with the results of the calls.
fn results(format: Format, messages: &mut Vec<Value>) -> &mut Vec<Value> {
    let last = messages.len() - 1;
    match format {
        Anthropic => messages[last]["content"].as_array_mut().unwrap(),
        Gemini => messages[last]["parts"].as_array_mut().unwrap(),
        Responses | Chat => messages,
    }
}

/// Sets the value at a pointer, whose last part may be a new field.
fn set(body: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = body.pointer_mut(parent).unwrap();
    match name.parse::<usize>() {
        Ok(index) => parent[index] = value,
        Err(_) => parent[name] = value,
    }
}

#[test]
fn valid_requests_are_accepted() {
    for format in Format::ALL {
        let server = ModelServer::start(Script::new([]));
        assert_eq!(send(&server, format, &with_calls(format)).status, 200);
    }
}

#[test]
fn every_call_has_one_result_in_order() {
    all_violate("has no answer directly after it", |format, messages| {
        results(format, messages).pop();
    });
    all_violate("not in the order of the calls", |format, messages| {
        let list = results(format, messages);
        let last = list.len() - 1;
        list.swap(last - 1, last);
    });
    all_violate("is answered twice", |format, messages| {
        let list = results(format, messages);
        list.push(list[list.len() - 1].clone());
    });
    all_violate("answers no call directly before it", |format, messages| {
        let result = results(format, messages).last_mut().unwrap();
        let id = match format {
            Anthropic => &mut result["tool_use_id"],
            Responses => &mut result["call_id"],
            Chat => &mut result["tool_call_id"],
            Gemini => &mut result["functionResponse"]["id"],
        };
        *id = json!("unknown");
    });
    all_violate("before anything else", |format, messages| {
        let mut message = conversation(format, &mut ask(format, "wait")).pop().unwrap();
        match format {
            Anthropic => results(format, messages).insert(0, message["content"][0].take()),
            Gemini => results(format, messages).insert(0, message["parts"][0].take()),
            Responses | Chat => messages.insert(messages.len() - 2, message),
        }
    });
}

#[test]
fn the_user_begins_and_ends_and_the_model_has_one_turn() {
    all_violate("there is no message", |_, messages| messages.clear());
    let is_models = |message: &Value| {
        message["role"] == "assistant"
            || message["role"] == "model"
            || message["type"] == "function_call"
    };
    all_violate("the first message must be the user's", |_, messages| {
        let first = messages.iter().position(is_models).unwrap();
        messages.drain(..first);
    });
    all_violate("the last message must be the user's", |_, messages| {
        let last = messages.iter().rposition(is_models).unwrap();
        messages.truncate(last + 1);
    });
    // In Responses a reply is a run of items, whose end is not marked.
    for format in [Anthropic, Chat, Gemini] {
        violates(format, "the model speaks twice in a row", |body| {
            let messages = conversation(format, body);
            let first = messages.iter().position(is_models).unwrap();
            messages.insert(first, messages[first].clone());
        });
    }
}

#[test]
fn tools_have_valid_names_and_schemas() {
    for format in Format::ALL {
        let (tool, schema) = match format {
            Anthropic => ("/tools/0", "input_schema"),
            Responses => ("/tools/0", "parameters"),
            Chat => ("/tools/0/function", "parameters"),
            Gemini => ("/tools/0/functionDeclarations/0", "parametersJsonSchema"),
        };
        for (field, value, expected) in [
            ("/name", json!("no name"), "is no tool's name"),
            ("/surprise", json!(1), "has no field `surprise`"),
            ("/SCHEMA", json!({"type": "string"}), "must be a schema of type object"),
            ("/SCHEMA/required", json!(["other"]), "which is no property"),
            ("/SCHEMA/properties/command/type", json!("strng"), "is no type"),
            ("/SCHEMA/properties/command", json!({"type": "array"}), "must say what it holds"),
        ] {
            let pointer = format!("{tool}{}", field.replace("SCHEMA", schema));
            violates(format, expected, |body| set(body, &pointer, value));
        }
        violates(format, "body: has no field `surprise`", |body| body["surprise"] = json!(1));
    }
}

#[test]
fn fields_have_valid_values() {
    let arguments = json!("{\"a");
    let thinking = json!({"type": "enabled", "budget_tokens": 4000});
    let image = json!([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]);
    let fields = [
        (Anthropic, "/messages/1/content/1/input", arguments.clone(), "must be an object"),
        (Anthropic, "/max_tokens", Value::Null, "max_tokens: must be a number"),
        (Anthropic, "/messages/2/content/0/is_error", json!("yes"), "must be true or false"),
        (Anthropic, "/messages/0/content/0/text", json!(" "), "the text is blank"),
        (Anthropic, "/messages/1/content/0/surprise", json!(1), "messages[1].content[0]: has no"),
        (Anthropic, "/thinking", thinking, "below max_tokens"),
        (Anthropic, "/tools", json!([]), "calls in the messages need tools"),
        (Responses, "/input/2/arguments", arguments.clone(), "must be the text of a JSON object"),
        (Responses, "/previous_response_id", json!("resp_1"), "has no field"),
        (Responses, "/input/2/id", json!("call_1"), "the id must begin with `fc`"),
        (Responses, "/input/1/content/0/type", json!("input_text"), "there is no part"),
        (Responses, "/tools/0/strict", json!(true), "strict: must close"),
        (
            Chat,
            "/messages/2/tool_calls/0/function/arguments",
            arguments.clone(),
            "must be the text of a JSON object",
        ),
        (Chat, "/messages/2/tool_calls", json!([]), "`tool_calls` must list calls"),
        (Chat, "/messages/3/content", image, "there is no part `image_url` here"),
        (Chat, "/stream", json!(false), "stream_options: needs a stream"),
        (Gemini, "/contents/1/parts/1/functionCall/args", arguments, "must be an object"),
        (Gemini, "/contents/1/parts/1/text", json!("and more"), "a part is one thing"),
        (
            Gemini,
            "/contents/2/parts/0/functionResponse/response",
            json!("fine"),
            "the response must be an object",
        ),
    ];
    for (format, pointer, value, expected) in fields {
        violates(format, expected, |body| set(body, pointer, value));
    }
}

#[test]
fn reasoning_and_cache_markers_have_their_place() {
    violates(Anthropic, "at most 4 places", |body| {
        let mark = json!({"type": "ephemeral"});
        body["tools"][0]["cache_control"] = mark.clone();
        for index in 0..3 {
            body["messages"][index]["content"][0]["cache_control"] = mark.clone();
        }
    });
    violates(Anthropic, "thinking comes before text and calls", |body| {
        let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
        body["messages"][1]["content"].as_array_mut().unwrap().push(thinking);
    });
    violates(Anthropic, "two calls have the id", |body| {
        let id = body["messages"][1]["content"][1]["id"].clone();
        body["messages"][1]["content"][2]["id"] = id;
    });
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    violates(Responses, "reasoning needs encrypted_content", |body| {
        body["input"].as_array_mut().unwrap().insert(1, reasoning.clone());
    });
    violates(Responses, "directly before the item that it belongs to", |body| {
        body["input"].as_array_mut().unwrap().push(reasoning.clone());
    });
}

#[test]
fn images_have_a_type_that_the_provider_supports() {
    let picture = |format, kind: &str, data: &str| match format {
        Anthropic => {
            json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}})
        }
        Responses => {
            json!({"type": "input_image", "image_url": format!("data:{kind};base64,{data}"), "detail": "auto"})
        }
        Chat => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{kind};base64,{data}")}})
        }
        Gemini => json!({"inlineData": {"mimeType": kind, "data": data}}),
    };
    for format in Format::ALL {
        let violations = |kind: &str, data: &str| {
            let mut body = ask(format, "hello");
            let message = conversation(format, &mut body).last_mut().unwrap();
            let field = if format == Gemini { "parts" } else { "content" };
            message[field] = json!([picture(format, kind, data)]);
            let server = ModelServer::start(Script::new([]));
            send(&server, format, &body);
            server.take_violations().join("\n")
        };
        assert_eq!(violations("image/png", "iVBORw0KGgo="), "", "{format:?}");
        assert!(violations("image/tiff", "iVBORw0KGgo=").contains("`image/tiff` is none of"));
        assert!(violations("image/png", "no base64").contains("must be base64"), "{format:?}");
        assert_eq!(violations("image/gif", "R0lGODlhAQ==").is_empty(), format != Gemini);
    }
}

#[test]
fn the_key_is_in_a_header_and_the_body_is_json() {
    let violations = |path: &str, headers: &[&str], body: &str| {
        let server = ModelServer::start(Script::new([]));
        post(&server, path, headers, body);
        server.take_violations().join("\n")
    };
    for format in Format::ALL {
        let (path, headers) = door(format, true);
        let body = ask(format, "hello").to_string();
        assert!(violations(path, &[], &body).contains("the key is missing"), "{format:?}");
        let sign = if path.contains('?') { '&' } else { '?' };
        let open = format!("{path}{sign}key=sk-test");
        assert!(violations(&open, headers, &body).contains("must not be in the address"));
        assert!(violations(path, headers, "hello").contains("body: must be a JSON object"));
    }
    let (path, headers) = door(Gemini, true);
    let path = path.replace("?alt=sse", "");
    let body = ask(Gemini, "hello").to_string();
    assert!(violations(&path, headers, &body).contains("alt=sse must be present exactly if"));
}
