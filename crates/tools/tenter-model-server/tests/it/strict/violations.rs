//! Every rule for requests, broken once.

use serde_json::{Value, json};
use tenter_testkit::model_server::{Format, ModelServer, Reply, Script};

use crate::client::{door, post, send};
use crate::speech::{ask, continue_with, conversation, hear};

/// A conversation with two calls and their results.
fn called(format: Format) -> Value {
    let calls = Reply::text("so")
        .call("bash", json!({"command": "ls"}))
        .call("bash", json!({"command": "pwd"}));
    let server = ModelServer::start(calls);
    let mut body = ask(format, "hello");
    let said = hear(format, &send(&server, format, &body));
    continue_with(format, &mut body, &said);
    body
}

/// Sends a conversation with two calls after `change`; `expected` must be among the violations.
fn finds(format: Format, expected: &str, change: impl FnOnce(&mut Value)) {
    let mut body = called(format);
    change(&mut body);
    let server = ModelServer::start(Script::new([Reply::text("unasked")]));
    let answer = send(&server, format, &body);
    let found = server.take_violations();
    assert!(
        found.iter().any(|found| found.contains(expected)),
        "{format:?}: {expected}: {found:?}"
    );
    assert!(answer.status == 400 && answer.json()["error"]["message"].is_string(), "{answer:?}");
    assert_eq!(server.left(), 1, "a request that is refused takes no reply");
}

/// The same for every format; the messages are passed to `change`.
fn finds_in_all(expected: &str, change: impl Fn(Format, &mut Vec<Value>)) {
    for format in Format::ALL {
        finds(format, expected, |body| change(format, conversation(format, body)));
    }
}

/// The messages or blocks with the results of the calls.
fn answers(format: Format, messages: &mut Vec<Value>) -> &mut Vec<Value> {
    let last = messages.len() - 1;
    match format {
        Format::Anthropic => messages[last]["content"].as_array_mut().unwrap(),
        Format::Gemini => messages[last]["parts"].as_array_mut().unwrap(),
        Format::Responses | Format::Chat => messages,
    }
}

/// The fields of the first tool, and the name of its schema.
fn tool(format: Format, body: &mut Value) -> (&mut Value, &'static str) {
    match format {
        Format::Anthropic => (&mut body["tools"][0], "input_schema"),
        Format::Responses => (&mut body["tools"][0], "parameters"),
        Format::Chat => (&mut body["tools"][0]["function"], "parameters"),
        Format::Gemini => {
            (&mut body["tools"][0]["functionDeclarations"][0], "parametersJsonSchema")
        }
    }
}

#[test]
fn valid_requests_are_accepted() {
    for format in Format::ALL {
        let server = ModelServer::start(Script::new([]));
        assert_eq!(send(&server, format, &called(format)).status, 200);
    }
}

#[test]
fn a_call_without_a_result() {
    finds_in_all("has no answer directly after it", |format, messages| {
        answers(format, messages).pop();
    });
}

#[test]
fn results_in_another_order_than_the_calls() {
    for format in Format::ALL {
        // In this version of the API, Gemini distinguishes calls by ids.
        finds(format, "not in the order of the calls", |body| {
            let list = answers(format, conversation(format, body));
            let last = list.len() - 1;
            list.swap(last - 1, last);
        });
    }
}

#[test]
fn a_call_with_two_results() {
    finds_in_all("is answered twice", |format, messages| {
        let list = answers(format, messages);
        list.push(list[list.len() - 1].clone());
    });
}

#[test]
fn a_result_without_a_call() {
    finds_in_all("answers no call directly before it", |format, messages| {
        let list = answers(format, messages);
        let last = list.len() - 1;
        let id = match format {
            Format::Anthropic => &mut list[last]["tool_use_id"],
            Format::Responses => &mut list[last]["call_id"],
            Format::Chat => &mut list[last]["tool_call_id"],
            Format::Gemini => &mut list[last]["functionResponse"]["id"],
        };
        *id = json!("unknown");
    });
}

#[test]
fn user_text_before_the_results() {
    let words = |format, mut ask: Value| conversation(format, &mut ask).pop().unwrap();
    finds_in_all("before anything else", |format, messages| {
        let mut word = words(format, ask(format, "wait"));
        match format {
            Format::Anthropic => answers(format, messages).insert(0, word["content"][0].take()),
            Format::Gemini => answers(format, messages).insert(0, word["parts"][0].take()),
            Format::Responses | Format::Chat => messages.insert(messages.len() - 2, word),
        }
    });
}

#[test]
fn a_conversation_that_is_empty_or_begins_or_ends_with_the_model() {
    finds_in_all("there is no message", |_, messages| messages.clear());
    let model = |message: &Value| {
        message["role"] == "assistant"
            || message["role"] == "model"
            || message["type"] == "function_call"
    };
    finds_in_all("the first message must be the user's", |_, messages| {
        let first = messages.iter().position(model).unwrap();
        messages.drain(..first);
    });
    finds_in_all("the last message must be the user's", |_, messages| {
        let last = messages.iter().rposition(model).unwrap();
        messages.truncate(last + 1);
    });
}

#[test]
fn two_model_messages_in_a_row() {
    let words = |format| match format {
        Format::Gemini => json!({"role": "model", "parts": [{"text": "so"}]}),
        _ => json!({"role": "assistant", "content": "so"}),
    };
    // In Responses an answer is a run of items, and nothing says where one answer ends.
    for format in [Format::Anthropic, Format::Chat, Format::Gemini] {
        finds(format, "the model speaks twice in a row", |body| {
            let messages = conversation(format, body);
            let model =
                messages.iter().position(|message| message["role"] != "system").unwrap() + 1;
            messages.insert(model, words(format));
        });
    }
}

#[test]
fn unknown_fields() {
    for format in Format::ALL {
        finds(format, "body: has no field `surprise`", |body| body["surprise"] = json!(1));
        finds(format, "has no field `surprise`", |body| {
            conversation(format, body)[1]["surprise"] = json!(1);
        });
        finds(format, "has no field `surprise`", |body| {
            tool(format, body).0["surprise"] = json!(1);
        });
    }
    finds(Format::Anthropic, "messages[1].content[0]: has no field", |body| {
        body["messages"][1]["content"][0]["surprise"] = json!(1);
    });
    finds(Format::Gemini, "contents[1].parts[0]: has no field", |body| {
        body["contents"][1]["parts"][0]["surprise"] = json!(1);
    });
}

#[test]
fn tools_with_invalid_names_and_schemas() {
    for format in Format::ALL {
        let schema = |change: fn(&mut Value), expected: &str| {
            finds(format, expected, |body| {
                let (tool, field) = tool(format, body);
                change(&mut tool[field]);
            });
        };
        schema(|schema| *schema = json!({"type": "string"}), "must be a schema of type object");
        schema(|schema| schema["properties"] = json!([]), "`properties` must be an object");
        schema(|schema| schema["required"] = json!(["other"]), "which is no property");
        schema(|schema| schema["properties"]["command"]["type"] = json!("strng"), "is no type");
        schema(
            |schema| schema["properties"]["command"] = json!({"type": "array"}),
            "must say what it holds",
        );
        finds(format, "is no tool's name", |body| tool(format, body).0["name"] = json!("no name"));
    }
    finds(Format::Responses, "strict: must close", |body| body["tools"][0]["strict"] = json!(true));
}

#[test]
fn calls_with_invalid_arguments() {
    let expected = "must be the text of a JSON object";
    finds(Format::Responses, expected, |body| body["input"][2]["arguments"] = json!("{\"a"));
    finds(Format::Chat, expected, |body| {
        body["messages"][2]["tool_calls"][0]["function"]["arguments"] = json!("{\"a");
    });
    finds(Format::Anthropic, "must be an object", |body| {
        body["messages"][1]["content"][1]["input"] = json!("{\"a");
    });
    finds(Format::Gemini, "must be an object", |body| {
        body["contents"][1]["parts"][1]["functionCall"]["args"] = json!("{\"a");
    });
}

#[test]
fn images_that_the_provider_does_not_support() {
    let picture = |format, kind: &str, data: &str| match format {
        Format::Anthropic => {
            json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}})
        }
        Format::Responses => {
            json!({"type": "input_image", "image_url": format!("data:{kind};base64,{data}"), "detail": "auto"})
        }
        Format::Chat => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{kind};base64,{data}")}})
        }
        Format::Gemini => json!({"inlineData": {"mimeType": kind, "data": data}}),
    };
    for format in Format::ALL {
        let show = |kind: &str, data: &str| {
            let mut body = ask(format, "hello");
            let said = conversation(format, &mut body).last_mut().unwrap();
            let field = if format == Format::Gemini { "parts" } else { "content" };
            said[field] = json!([picture(format, kind, data)]);
            let server = ModelServer::start(Script::new([]));
            send(&server, format, &body);
            server.take_violations().join("\n")
        };
        assert_eq!(show("image/png", "iVBORw0KGgo="), "", "{format:?}");
        assert!(
            show("image/tiff", "iVBORw0KGgo=").contains("`image/tiff` is none of"),
            "{format:?}"
        );
        assert!(show("image/png", "no base64").contains("must be base64"), "{format:?}");
        assert_eq!(show("image/gif", "R0lGODlhAQ==").is_empty(), format != Format::Gemini);
    }
}

#[test]
fn rules_of_anthropic_only() {
    let format = Format::Anthropic;
    finds(format, "max_tokens: must be a number", |body| body["max_tokens"] = Value::Null);
    finds(format, "`is_error` must be true or false", |body| {
        body["messages"][2]["content"][0]["is_error"] = json!("yes");
    });
    finds(format, "the text is blank", |body| {
        body["messages"][0]["content"][0]["text"] = json!(" ");
    });
    finds(format, "at most 4 places", |body| {
        let mark = json!({"type": "ephemeral"});
        body["tools"][0]["cache_control"] = mark.clone();
        for index in 0..3 {
            body["messages"][index]["content"][0]["cache_control"] = mark.clone();
        }
    });
    finds(format, "thinking comes before text and calls", |body| {
        let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
        body["messages"][1]["content"].as_array_mut().unwrap().push(thinking);
    });
    finds(format, "below max_tokens", |body| {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": 4000});
    });
    finds(format, "calls in the messages need tools", |body| {
        body.as_object_mut().unwrap().remove("tools");
    });
    finds(format, "two calls have the id", |body| {
        let id = body["messages"][1]["content"][1]["id"].clone();
        body["messages"][1]["content"][2]["id"] = id;
    });
}

#[test]
fn rules_of_responses_only() {
    let format = Format::Responses;
    finds(format, "has no field `previous_response_id`", |body| {
        body["previous_response_id"] = json!("resp_1");
    });
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    finds(format, "reasoning needs encrypted_content", |body| {
        body["input"].as_array_mut().unwrap().insert(1, reasoning.clone());
    });
    finds(format, "directly before the item that it belongs to", |body| {
        body["input"].as_array_mut().unwrap().push(reasoning.clone());
    });
    finds(format, "the id must begin with `fc`", |body| body["input"][2]["id"] = json!("call_1"));
    finds(format, "there is no part `input_text` here", |body| {
        body["input"][1]["content"][0]["type"] = json!("input_text");
    });
}

#[test]
fn rules_of_chat_only() {
    let format = Format::Chat;
    finds(format, "there is no part `image_url` here", |body| {
        let url = json!({"url": "https://example.com/a.png"});
        body["messages"][3]["content"] = json!([{"type": "image_url", "image_url": url}]);
    });
    finds(format, "`tool_calls` must list calls", |body| {
        body["messages"][2]["tool_calls"] = json!([]);
    });
    finds(format, "cannot be combined with", |body| {
        body["max_tokens"] = json!(5);
        body["max_completion_tokens"] = json!(5);
    });
    finds(format, "stream_options: needs a stream", |body| body["stream"] = json!(false));
}

#[test]
fn rules_of_gemini_only() {
    let format = Format::Gemini;
    finds(format, "a part is one thing", |body| {
        body["contents"][1]["parts"][1]["text"] = json!("and more");
    });
    finds(format, "has two schemas", |body| {
        let (tool, field) = tool(format, body);
        tool["parameters"] = tool[field].clone();
    });
    finds(format, "the response must be an object", |body| {
        body["contents"][2]["parts"][0]["functionResponse"]["response"] = json!("fine");
    });
}

#[test]
fn headers_without_key_or_type_and_keys_in_the_query() {
    for format in Format::ALL {
        let (path, headers) = door(format, true);
        let found = |path: &str, headers: &[&str]| {
            let server = ModelServer::start(Script::new([]));
            post(&server, path, headers, &ask(format, "hello").to_string());
            server.take_violations().join("\n")
        };
        assert!(found(path, &[]).contains("the key is missing"), "{format:?}");
        let sign = if path.contains('?') { '&' } else { '?' };
        let open = format!("{path}{sign}key=sk-test");
        assert!(found(&open, headers).contains("must not be in the address"), "{format:?}");
    }
    let server = ModelServer::start(Script::new([]));
    let (path, headers) = door(Format::Gemini, true);
    let path = path.replace("?alt=sse", "");
    post(&server, &path, headers, &ask(Format::Gemini, "hello").to_string());
    assert!(server.take_violations()[0].contains("alt=sse must be present exactly if"));
}

#[test]
fn a_body_that_is_not_json() {
    let server = ModelServer::start(Script::new([]));
    let (path, headers) = door(Format::Chat, true);
    let mut stream = crate::client::connect(&server);
    crate::client::write(
        &mut stream,
        path,
        &[headers, &["content-type: text/plain"]].concat(),
        "hello",
    );
    crate::client::read(&mut std::io::BufReader::new(stream));
    let found = server.take_violations().join("\n");
    assert!(found.contains("content-type: must be application/json"), "{found}");
    assert!(found.contains("body: must be a JSON object"), "{found}");
}
